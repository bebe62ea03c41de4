#include <duplex/run/summary.hpp>

namespace duplex {

std::string Summary::brief() const {
  std::string text = solver + ": " + std::string(name_of(termination)) + " after " + std::to_string(iterations) +
                     (iterations == 1 ? " step, " : " steps, ") + duration_text(seconds);
  if (!failed()) {
    text += ", ‖d‖ = " + short_number(direction_norm);
  }
  text += ", " + std::to_string(counters.gradients) + " gradients, " + std::to_string(counters.hessian_products) +
          " Hessian and " + std::to_string(counters.cross_products) + " cross products";
  return message.empty() ? text : text + ": " + message;
}

} // namespace duplex
