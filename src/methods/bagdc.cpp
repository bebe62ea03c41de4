#include <duplex/methods/bagdc.hpp>

#include <string>

namespace duplex {

void Bagdc::refuse_contradictions() const {
  const std::string_view missing = alpha == 0.0 && beta == 0.0 ? "alpha and beta are"
                                   : alpha == 0.0              ? "alpha is"
                                   : beta == 0.0               ? "beta is"
                                                               : "";
  if (!missing.empty()) {
    throw InvalidInput("bagdc: " + std::string(missing) +
                       " not given, expected alpha (the step of x) and beta (that of y), both > 0, and eta (that of v) "
                       "where dual = constant; the method automatic needs no steps");
  }
  if (schedule == Schedule::theorem && mu == 0.0) {
    throw InvalidInput("bagdc: schedule = theorem with mu = 0, expected mu > 0 (its steps are powers of mu)");
  }
  if (schedule == Schedule::theorem && dual != DualStep::constant) {
    throw InvalidInput("bagdc: schedule = theorem with dual = " + field_text(dual) +
                       ", expected dual = constant (the schedule gives eta)");
  }
  const Bagdc usual;
  if (mu == 0.0 && mu_decay != usual.mu_decay) {
    refuse_ignored(name, "mu-decay", mu_decay, "mu > 0");
  }
  if (mu == 0.0 && lambda != usual.lambda) {
    refuse_ignored(name, "lambda", lambda, "mu > 0");
  }
  if (mixing > 0 && dual == DualStep::polak_ribiere) {
    throw InvalidInput("bagdc: mixing = " + field_text(mixing) +
                       " with dual = polak-ribiere, expected one of the other duals (both choose v's direction)");
  }
}

} // namespace duplex
