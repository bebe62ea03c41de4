#pragma once
// What a run's end is worth, by means that no method uses: ∇φ(x) by an exact solve of the lower level, the same by
// differences of φ along random directions, and the KKT blocks of (x, y, v).

#include <duplex/check.hpp>
#include <duplex/exact.hpp>
#include <duplex/residual.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace duplex {

struct CertificateOptions {
  int directions = 5;
  std::uint64_t seed = 0; ///< of the directions
};

struct Certificate {
  KktBlocks blocks;                 ///< at the x, y and v of the run
  std::string unavailable;          ///< why ∇φ(x) does not exist or could not be had; the rest is zero then
  double value = 0.0;               ///< φ(x)
  double hypergradient = 0.0;       ///< ‖∇φ(x)‖
  double first_hypergradient = 0.0; ///< ‖∇φ(x₀)‖
  double lower_error = 0.0;         ///< ‖y − y*(x)‖
  double lower_length = 0.0;        ///< ‖y*(x)‖
  double multiplier_error = 0.0;    ///< ‖v − v*(x)‖
  double multiplier_length = 0.0;   ///< ‖v*(x)‖
  int directions = 0;               ///< along which φ was differenced
  double difference_error = 0.0; ///< largest |difference − ∇φ·u|/‖u‖ over the larger of the two gradients' lengths
  double difference_tolerance = 0.0; ///< what truncation and rounding may leave of that

  [[nodiscard]] bool exists() const { return unavailable.empty(); }
  /// The exact hypergradient exists, and differences of φ agree with it.
  [[nodiscard]] bool holds() const { return exists() && difference_error <= difference_tolerance; }
  /// ‖∇φ(x)‖ / ‖∇φ(x₀)‖; zero where both vanish.
  [[nodiscard]] double reduction() const { return hypergradient == 0.0 ? 0.0 : hypergradient / first_hypergradient; }

  /// Lines for people.
  [[nodiscard]] std::string text() const {
    std::string lines = "certificate\n  KKT blocks            ‖∇xF − ∇²xy f·v‖ = " + short_number(blocks.stationarity) +
                        ", ‖∇yF − ∇²yy f·v‖ = " + short_number(blocks.multiplier) +
                        ", ‖∇y f‖ = " + short_number(blocks.feasibility) + "\n";
    if (!exists()) {
      return lines + "  ‖∇φ(x)‖               not available: " + unavailable + "\n";
    }
    lines += "  ‖∇φ(x)‖, exact        " + short_number(hypergradient) + ", " + short_number(reduction()) +
             " of that at the start\n";
    lines += "  differences of φ      " + std::string(holds() ? "agree" : "DISAGREE") + " along " +
             std::to_string(directions) + " random directions: " + short_number(difference_error) +
             " of the gradient's length, up to " + short_number(difference_tolerance) + " allowed\n";
    lines += "  φ(x) = F(x, y*(x))    " + short_number(value, 10) + "\n";
    lines += "  the run's y and v     ‖y − y*(x)‖ = " + short_number(lower_error) +
             " of ‖y*‖ = " + short_number(lower_length) + ", ‖v − v*(x)‖ = " + short_number(multiplier_error) +
             " of ‖v*‖ = " + short_number(multiplier_length) + "\n";
    return lines;
  }
};

/// Of a run from `start` to `end`. Solves the lower level 2·directions + 2 times to rounding.
template <SecondOrderProblem P>
[[nodiscard]] Certificate certify(const P &problem, const State<VectorOf<P>> &start, const State<VectorOf<P>> &end,
                                  const CertificateOptions &options = {}) {
  using V = VectorOf<P>;
  if (options.directions < 1) {
    throw InvalidInput("certificate: directions = " + field_text(options.directions) + ", expected >= 1");
  }
  State<V> state = end;
  prepare_start(problem, state);
  Certificate certificate;
  certificate.blocks = KktResidual<P>(problem).at(state.x, state.y, state.v);
  try {
    ExactSolver<P> exact(problem);
    certificate.first_hypergradient = norm(exact.at(start.x, start.y).hypergradient);
    const ExactPoint<V> truth = exact.at(state.x, state.y);
    V scratch = zeros_like(state.y);
    certificate.value = truth.value;
    certificate.hypergradient = norm(truth.hypergradient);
    certificate.lower_error = distance(state.y, truth.y, scratch);
    certificate.lower_length = norm(truth.y);
    certificate.multiplier_error = distance(state.v, truth.v, scratch);
    certificate.multiplier_length = norm(truth.v);
    certificate.directions = options.directions;
    const double length = std::max({certificate.hypergradient, certificate.first_hypergradient, 1e-300});
    std::mt19937_64 generator(options.seed);
    for (int i = 0; i < options.directions; ++i) {
      V direction = detail::normal_like(generator, state.x);
      scale(1.0 / std::max(norm(direction), 1e-300), direction);
      const double measured =
          detail::central_difference(state.x, direction, [&](const V &x) { return exact.at(x, truth.y).value; });
      const double error = std::abs(measured - dot(truth.hypergradient, direction)) / length;
      certificate.difference_error = std::isfinite(error) ? std::max(certificate.difference_error, error) : infinity;
    }
    const double epsilon = precision(state.x);
    const double step = detail::difference_step(state.x);
    certificate.difference_tolerance =
        detail::usual_tolerance(epsilon) + 10.0 * epsilon * std::abs(truth.value) / (step * length);
  } catch (const NotAvailable &reason) {
    Certificate without;
    without.blocks = certificate.blocks;
    without.unavailable = reason.what();
    return without;
  }
  return certificate;
}

} // namespace duplex
