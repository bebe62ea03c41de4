#include "fewshot/training.hpp"

#include <duplex/core/error.hpp>

namespace duplex::fewshot {

namespace {

constexpr const char *reason = "few-shot learning needs LibTorch, and this Duplex was built without it";

} // namespace

Outcome train(const Settings & /*settings*/, const Hooks & /*hooks*/, const SavedState * /*from*/) {
  throw NotAvailable(reason);
}

bool runs_on_gpu(const std::string & /*device*/) { throw NotAvailable(reason); }

} // namespace duplex::fewshot
