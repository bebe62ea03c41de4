#include "fewshot/settings.hpp"

#include "data/double_mnist.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace duplex::fewshot {

Settings Settings::completed() const {
  validate(*this, "few-shot");
  Settings chosen = *this;
  constexpr std::int64_t ways_in_all = 40;
  constexpr std::int64_t many_ways = 10;
  const auto require_ways = [&](std::string_view classes, std::size_t there) {
    if (shape.ways > static_cast<std::int64_t>(there)) {
      throw InvalidInput(
          fmt::format("few-shot: ways = {}, but only {} classes are kept for the {}", shape.ways, there, classes));
    }
  };
  require_ways("test", data::double_mnist_test.size());
  if (chosen.meta_batch == 0) {
    chosen.meta_batch = std::max<std::int64_t>(1, ways_in_all / shape.ways);
  }
  if (chosen.alpha == 0.0) {
    chosen.alpha = shape.ways > many_ways ? 3e-3 : 5e-3;
  }
  if (chosen.look_on == LookOn::automatic) {
    const bool enough = shape.ways <= static_cast<std::int64_t>(data::double_mnist_validation.size());
    chosen.look_on = enough ? LookOn::validation : LookOn::test;
  }
  if (chosen.look_on == LookOn::validation) {
    require_ways("validation", data::double_mnist_validation.size());
  }
  if (chosen.pool > 0 && chosen.pool < chosen.meta_batch) {
    throw InvalidInput(fmt::format("few-shot: pool = {}, expected 0 or at least the {} tasks of a step", chosen.pool,
                                   chosen.meta_batch));
  }
  if (shape.queries > images_per_class - shape.shots) {
    throw InvalidInput(fmt::format("few-shot: {} shots and {} queries of each class, but only {} images", shape.shots,
                                   shape.queries, images_per_class));
  }
  return chosen;
}

} // namespace duplex::fewshot
