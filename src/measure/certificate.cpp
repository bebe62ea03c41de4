#include <duplex/measure/certificate.hpp>

namespace duplex {

std::string DirectionError::text() const {
  constexpr double matters = 0.1;
  std::string lines = "  the run's direction   its last d, by which x was moved, has the length " +
                      short_number(length) + ", and ∇φ there " + short_number(hypergradient) + ": d is wrong by " +
                      short_number(error) +
                      (hypergradient > 0.0 ? ", which is " + short_number(100.0 * part()) + " % of ∇φ\n" : "\n");
  const std::string indent(24, ' ');
  if (of_sample) {
    lines += indent + "it is that of one batch: the noise of batches is part of this\n";
  }
  if (without_second_derivatives) {
    lines += indent + (part() > matters
                           ? "that is the bias of a method without second derivatives: it comes to rest where its d "
                             "is zero, which is beside a solution; a larger penalty brings the two nearer\n"
                           : "the method has no second derivatives, and so a bias: here it is small beside what is "
                             "left to descend\n");
  }
  return lines;
}

std::string Certificate::text() const {
  std::string lines = "certificate\n  KKT blocks            ‖∇xF − ∇²xy f·v‖ = " + short_number(blocks.stationarity) +
                      ", ‖∇yF − ∇²yy f·v‖ = " + short_number(blocks.multiplier) +
                      ", ‖∇y f‖ = " + short_number(blocks.feasibility) + "\n";
  if (exists()) {
    lines += "  ‖∇φ(x)‖, exact        " + short_number(hypergradient) + " ± " + short_number(hypergradient_error, 1) +
             (first_hypergradient ? ", and " + short_number(*first_hypergradient) + " at the start" : "") + "\n";
    if (entries_at_bounds > 0) {
      lines += "  x at its bounds       " + std::to_string(entries_at_bounds) +
               " entries; what of ∇φ points out of the box there, and does not count, has the norm " +
               short_number(outward_hypergradient) + "\n";
    }
    lines += "  differences of φ      " +
             std::string(is_consistent()        ? "agree"
                         : differences_decide() ? "DISAGREE"
                         : has_differences()    ? "DECIDE NOTHING, rounding hides them"
                                                : "DECIDE NOTHING, φ is not available beside x") +
             " along " + std::to_string(directions) + " random directions to " + short_number(difference_error) +
             " of the larger of these (" + short_number(difference_tolerance) + " is allowed)\n";
    lines += "  φ(x) = F(x, y*(x))    " + short_number(value, 10) + "\n";
    lines += "  the run's y and v     ‖y − y*(x)‖ = " + short_number(lower_error) +
             " of ‖y*‖ = " + short_number(lower_length) + ", ‖v − v*(x)‖ = " + short_number(multiplier_error) +
             " of ‖v*‖ = " + short_number(multiplier_length) + "\n";
  } else {
    lines += "  ‖∇φ(x)‖               not available: " + unavailable + "\n";
  }
  if (direction) {
    lines += direction->text();
  }
  if (claims.any()) {
    lines +=
        "  what the run claims   " + (refuted.empty() ? std::string("is borne out") : "is REFUTED: " + refuted) + "\n";
  }
  return lines;
}

template class detail::Certifier<Eigen::VectorXf>;
template class detail::Certifier<Eigen::VectorXd>;

} // namespace duplex
