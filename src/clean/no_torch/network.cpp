#include "clean/network.hpp"

#include <duplex/core/error.hpp>

namespace duplex::clean {

namespace {

constexpr const char *why_no_network = "a network needs LibTorch, and this Duplex was built without it";

} // namespace

void require_network_device(const std::string & /*name*/) { throw NotAvailable(why_no_network); }

std::unique_ptr<Classifier> make_network(const NetworkSettings & /*settings*/) { throw NotAvailable(why_no_network); }

} // namespace duplex::clean
