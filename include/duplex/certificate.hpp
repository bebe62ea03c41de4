#pragma once
// What a run's end is worth, by means that no method uses: ∇φ(x) by an exact solve of the lower level, the same by
// differences of φ along random directions, and the KKT blocks of (x, y, v).

#include <duplex/check.hpp>
#include <duplex/exact.hpp>
#include <duplex/residual.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace duplex {

struct CertificateOptions {
  int directions = 5;
  std::uint64_t seed = 0; ///< of the directions
};

struct Certificate {
  KktBlocks blocks;                          ///< at the x, y and v of the run
  std::string unavailable;                   ///< why ∇φ(x) does not exist or could not be had; the rest is zero then
  double value = 0.0;                        ///< φ(x)
  double hypergradient = 0.0;                ///< ‖∇φ(x)‖
  std::optional<double> first_hypergradient; ///< ‖∇φ(x₀)‖, where it exists
  double lower_error = 0.0;                  ///< ‖y − y*(x)‖
  double lower_length = 0.0;                 ///< ‖y*(x)‖
  double multiplier_error = 0.0;             ///< ‖v − v*(x)‖
  double multiplier_length = 0.0;            ///< ‖v*(x)‖
  int directions = 0;                        ///< along which φ was differenced
  double difference_error = 0.0;     ///< largest |difference − ∇φ·u|, u of length one, over `difference_scale`
  double difference_scale = 0.0;     ///< the larger of ‖∇φ(x)‖ and ‖∇φ(x₀)‖
  double difference_tolerance = 0.0; ///< what truncation and rounding may leave of that error

  [[nodiscard]] bool exists() const { return unavailable.empty(); }
  /// The exact hypergradient exists, and differences of φ agree with it.
  [[nodiscard]] bool holds() const { return exists() && difference_error <= difference_tolerance; }

  /// Lines for people.
  [[nodiscard]] std::string text() const {
    std::string lines = "certificate\n  KKT blocks            ‖∇xF − ∇²xy f·v‖ = " + short_number(blocks.stationarity) +
                        ", ‖∇yF − ∇²yy f·v‖ = " + short_number(blocks.multiplier) +
                        ", ‖∇y f‖ = " + short_number(blocks.feasibility) + "\n";
    if (!exists()) {
      return lines + "  ‖∇φ(x)‖               not available: " + unavailable + "\n";
    }
    lines += "  ‖∇φ(x)‖, exact        " + short_number(hypergradient) +
             (first_hypergradient ? ", and " + short_number(*first_hypergradient) + " at the start" : "") + "\n";
    lines += "  differences of φ      " + std::string(holds() ? "agree" : "DISAGREE") + " along " +
             std::to_string(directions) + " random directions to " + short_number(difference_error) +
             " of the larger of these (" + short_number(difference_tolerance) + " is allowed)\n";
    lines += "  φ(x) = F(x, y*(x))    " + short_number(value, 10) + "\n";
    lines += "  the run's y and v     ‖y − y*(x)‖ = " + short_number(lower_error) +
             " of ‖y*‖ = " + short_number(lower_length) + ", ‖v − v*(x)‖ = " + short_number(multiplier_error) +
             " of ‖v*‖ = " + short_number(multiplier_length) + "\n";
    return lines;
  }
};

namespace detail {

/// |difference of φ − claimed| along a direction of length one, and what of it truncation and rounding may be.
struct DifferenceError {
  double error = infinity;
  double tolerance = 0.0;

  [[nodiscard]] bool is_allowed() const { return error <= tolerance; }
};

/// NaN where φ does not exist at a point that is moved to.
template <VectorSpace V, class Phi>
[[nodiscard]] double difference_or_nan(const V &x, const V &direction, double step, const Phi &phi) {
  try {
    return central_difference(x, direction, step, phi);
  } catch (const NotAvailable &) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

/// The step of a difference is right for an x of about one; where φ bends within less than that, shorter ones are tried
/// as far as rounding lets them decide anything.
template <VectorSpace V, class Phi>
[[nodiscard]] DifferenceError difference_error(const V &x, const V &direction, double claimed, double value,
                                               double scale, const Phi &phi) {
  constexpr double decides = 1e-4;
  const double epsilon = precision(x);
  DifferenceError best;
  for (const double shorter : {1.0, 1e-2, 1e-4}) {
    const double step = shorter * difference_step(x);
    const double rounding = 10.0 * epsilon * std::abs(value) / (step * scale);
    const double error = std::abs(difference_or_nan(x, direction, step, phi) - claimed) / scale;
    const DifferenceError here{.error = std::isfinite(error) ? error : infinity,
                               .tolerance = usual_tolerance(epsilon) + rounding};
    if (shorter < 1.0 && here.tolerance > std::max(decides, usual_tolerance(epsilon) * 2.0)) {
      break;
    }
    if (shorter == 1.0 || here.error < best.error) {
      best = here;
    }
    if (best.is_allowed()) {
      break;
    }
  }
  return best;
}

} // namespace detail

/// Of a run from `start` to `end`. Solves the lower level some 2·directions times to rounding.
template <SecondOrderProblem P>
[[nodiscard]] Certificate certify(const P &problem, const State<VectorOf<P>> &start, const State<VectorOf<P>> &end,
                                  const CertificateOptions &options = {}) {
  using V = VectorOf<P>;
  if (options.directions < 1) {
    throw InvalidInput("certificate: directions = " + field_text(options.directions) + ", expected >= 1");
  }
  State<V> state = end;
  prepare_start(problem, state);
  const KktBlocks blocks = KktResidual<P>(problem).at(state.x, state.y, state.v);
  Certificate certificate;
  try {
    ExactSolver<P> exact(problem); // from the run's y: a lower level may have other minimizers far from it
    const ExactPoint<V> truth = exact.at(state.x, state.y);
    V scratch = zeros_like(state.y);
    certificate.value = truth.value;
    certificate.hypergradient = norm(truth.hypergradient);
    certificate.first_hypergradient = exact_slope(problem, start);
    certificate.lower_error = distance(state.y, truth.y, scratch);
    certificate.lower_length = norm(truth.y);
    certificate.multiplier_error = distance(state.v, truth.v, scratch);
    certificate.multiplier_length = norm(truth.v);
    certificate.directions = options.directions;
    certificate.difference_scale =
        std::max({certificate.hypergradient, certificate.first_hypergradient.value_or(0.0), 1e-300});
    std::mt19937_64 generator(options.seed);
    double worst = -1.0; // error over tolerance
    for (int i = 0; i < options.directions; ++i) {
      V direction = detail::normal_like(generator, state.x);
      scale(1.0 / std::max(norm(direction), 1e-300), direction);
      const auto found = detail::difference_error(state.x, direction, dot(truth.hypergradient, direction), truth.value,
                                                  certificate.difference_scale,
                                                  [&](const V &x) { return exact.at(x, truth.y).value; });
      const double ratio = found.error / found.tolerance;
      if (!std::isfinite(ratio) || ratio > worst) {
        worst = std::isfinite(ratio) ? ratio : infinity;
        certificate.difference_error = found.error;
        certificate.difference_tolerance = found.tolerance;
      }
    }
  } catch (const NotAvailable &reason) {
    certificate = Certificate{};
    certificate.unavailable = reason.what();
  }
  certificate.blocks = blocks;
  return certificate;
}

} // namespace duplex
