#pragma once
// What a run's end is worth, by means that no method uses: ∇φ(x) by a solve of the lower level with its error, the same
// by differences of φ along random directions, and the KKT blocks of (x, y, v); and whether that bears out what the run
// says of itself. Beside the direction that the run took for ∇φ at its last step it sets the exact one. Where x has
// bounds, ‖∇φ‖ is that of the free part (box.hpp), and φ is differenced within the box: to both sides along entries
// that have room for that, and from the bound inward along the others.

#include <duplex/measure/differences.hpp>
#include <duplex/measure/exact.hpp>
#include <duplex/measure/last_direction.hpp>
#include <duplex/measure/residual.hpp>
#include <duplex/measure/verification.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace duplex {

/// What a run says of its end. Zero: it does not.
struct RunClaims {
  double relative_slope = 0.0; ///< ‖∇φ(x)‖ ≤ this · ‖∇φ(x₀)‖
  double slope = 0.0;          ///< ‖∇φ(x)‖ ≤ this
  double kkt = 0.0;            ///< ‖∇L(x, y, v)‖ ≤ this

  [[nodiscard]] bool any() const { return relative_slope > 0.0 || slope > 0.0 || kkt > 0.0; }
};

struct CertificateOptions {
  int directions = 5;
  std::uint64_t seed = 0; ///< of the directions
  RunClaims claims = {};
};

/// The d of a run's last step beside ∇φ at the x where it was computed.
struct DirectionError {
  double length = 0.0;                     ///< ‖d‖
  double hypergradient = 0.0;              ///< ‖∇φ‖
  double error = 0.0;                      ///< ‖d − ∇φ‖, of all entries, whatever bounds x has
  bool without_second_derivatives = false; ///< as in LastDirection, and so is the next
  bool of_sample = false;

  /// Of the length of ∇φ.
  [[nodiscard]] double part() const { return error > 0.0 ? error / hypergradient : 0.0; }
  [[nodiscard]] std::string text() const;
};

struct Certificate {
  KktBlocks blocks;                          ///< at the x, y and v of the run
  std::string unavailable;                   ///< why ∇φ(x) does not exist or could not be had; the rest is zero then
  double value = 0.0;                        ///< φ(x)
  double hypergradient = 0.0;                ///< ‖∇φ(x)‖, of the free part
  double hypergradient_error = 0.0;          ///< by which it may be wrong
  std::optional<double> first_hypergradient; ///< ‖∇φ(x₀)‖, where it exists
  Index entries_at_bounds = 0;               ///< of x
  double outward_hypergradient = 0.0;        ///< ‖∇φ(x)‖ of the rest, which points out of the box
  double lower_error = 0.0;                  ///< ‖y − y*(x)‖
  double lower_length = 0.0;                 ///< ‖y*(x)‖
  double multiplier_error = 0.0;             ///< ‖v − v*(x)‖
  double multiplier_length = 0.0;            ///< ‖v*(x)‖
  int directions = 0;                        ///< along which φ was differenced
  double difference_error = 0.0; ///< largest |difference − ∇φ·u|, u of length one, over `difference_scale`
  double difference_scale = 0.0; ///< the larger of ‖∇φ(x)‖ and ‖∇φ(x₀)‖; from a bound inward, of all of ∇φ(x)
  double difference_tolerance = 0.0;       ///< what truncation and rounding may leave of that error
  std::optional<DirectionError> direction; ///< where the run's last one was given, and ∇φ exists there
  RunClaims claims;
  std::string refuted; ///< what the run claims and is not borne out, with the numbers; empty where there is nothing

  [[nodiscard]] bool exists() const { return unavailable.empty(); }
  /// Whether φ could be differenced at all.
  [[nodiscard]] bool has_differences() const { return std::isfinite(difference_error); }
  /// Whether rounding leaves enough of the differences to tell anything.
  [[nodiscard]] bool differences_decide() const {
    constexpr double most = 0.1;
    return exists() && has_differences() && difference_tolerance <= most;
  }
  /// Differences of φ agree with the hypergradient.
  [[nodiscard]] bool is_consistent() const { return differences_decide() && difference_error <= difference_tolerance; }
  /// The hypergradient exists, differences of φ agree with it, and all that the run claims is borne out.
  [[nodiscard]] bool holds() const { return is_consistent() && refuted.empty(); }

  /// Lines for people.
  [[nodiscard]] std::string text() const;
};

namespace detail {

/// A direction of length one along which φ is differenced, what ∇φ says of it, and beside what that counts.
template <class V> struct DifferencedAlong {
  V direction;
  double claimed = 0.0;
  double scale = 0.0;
  bool to_both_sides = true;
};

/// |difference of φ − claimed| along a direction of length one, and what of it truncation and rounding may be.
struct DifferenceError {
  double error = infinity;
  double tolerance = 0.0;

  [[nodiscard]] bool is_allowed() const { return error <= tolerance; }
};

/// Compiled once for Eigen's vectors.
template <VectorSpace V> class Certifier {
public:
  explicit Certifier(const ProblemView<V> &problem)
      : problem_(problem), upper_(problem.upper()), box_(problem.box()), exact_(problem), meter_(problem) {}

  [[nodiscard]] Certificate certify(const State<V> &start, const State<V> &end, const CertificateOptions &options,
                                    const std::optional<LastDirection<V>> &last);

private:
  [[nodiscard]] static std::string refuted(const Certificate &certificate, double goal) {
    const auto &claims = certificate.claims;
    if (claims.kkt > 0.0 && !(certificate.blocks.residual() <= claims.kkt)) {
      return "‖∇L‖ = " + short_number(certificate.blocks.residual()) + ", and the run says at most " +
             short_number(claims.kkt);
    }
    if (!(claims.slope > 0.0) && !(claims.relative_slope > 0.0)) {
      return {};
    }
    if (claims.relative_slope > 0.0 && !certificate.first_hypergradient) {
      return "‖∇φ‖ is not available at the start, beside which the run says that it is small";
    }
    if (certificate.exists() && certificate.hypergradient + certificate.hypergradient_error <= goal) {
      return {};
    }
    return (certificate.exists() ? "‖∇φ(x)‖ = " + short_number(certificate.hypergradient) + " ± " +
                                       short_number(certificate.hypergradient_error, 1)
                                 : std::string("‖∇φ(x)‖ is not available")) +
           ", and the run says at most " + short_number(goal) +
           (claims.relative_slope > 0.0 ? ", which is " + short_number(claims.relative_slope) + " of that at the start"
                                        : std::string());
  }

  void compare_state(const State<V> &end, Certificate &certificate) {
    V scratch = zeros_like(end.y);
    certificate.lower_error = distance(end.y, meter_.y(), scratch);
    certificate.lower_length = norm(meter_.y());
    certificate.multiplier_error = distance(end.v, meter_.v(), scratch);
    certificate.multiplier_length = norm(meter_.v());
  }

  [[nodiscard]] std::optional<DirectionError> direction_error(const LastDirection<V> &last, const V &y) {
    if (!meter_.at(last.x, y, {.exactly = true}).known()) {
      return std::nullopt;
    }
    V scratch = zeros_like(last.x);
    return DirectionError{.length = norm(last.direction),
                          .hypergradient = norm(meter_.hypergradient()),
                          .error = distance(last.direction, meter_.hypergradient(), scratch),
                          .without_second_derivatives = last.without_second_derivatives,
                          .of_sample = last.of_sample};
  }

  void difference(const V &x, const CertificateOptions &options, Certificate &certificate) {
    const V slope = meter_.hypergradient();
    const V y = meter_.y();
    V outward = slope;
    box_.keep_free(x, outward);
    axpy(-1.0, slope, outward);
    certificate.value = phi(x, y);
    certificate.directions = options.directions;
    certificate.entries_at_bounds = box_.entries_at_bounds(x);
    certificate.outward_hypergradient = norm(outward);
    noise_ = noise_of_phi(x, y, certificate.value);
    certificate.difference_scale =
        std::max({certificate.hypergradient, certificate.first_hypergradient.value_or(0.0), 1e-300});
    const double reach = 2.0 * difference_step(x);
    std::mt19937_64 generator(options.seed);
    double worst = -1.0; // error over tolerance
    const auto judge = [&](V direction, double scale_of_slope, bool to_both_sides) {
      const double length = norm(direction);
      if (!(length > 0.0)) { // no entry of that kind
        return;
      }
      scale(1.0 / length, direction);
      const double claimed = dot(slope, direction);
      const auto found =
          difference_error(x, y, {std::move(direction), claimed, scale_of_slope, to_both_sides}, certificate.value);
      const double ratio = found.error / found.tolerance;
      if (!std::isfinite(ratio) || ratio > worst) {
        worst = std::isfinite(ratio) ? ratio : infinity;
        certificate.difference_error = found.error;
        certificate.difference_tolerance = found.tolerance;
      }
    };
    for (int i = 0; i < options.directions; ++i) {
      V direction = normal_like(generator, x);
      V inward = direction;
      box_.keep_room(x, reach, direction);
      box_.turn_inward(x, reach, inward);
      judge(std::move(direction), certificate.difference_scale, true);
      judge(std::move(inward), std::max(certificate.difference_scale, norm(slope)), false);
    }
  }

  /// The step of a difference is right for an x of about one; where φ bends within less than that, shorter ones are
  /// tried as far as rounding lets them decide anything.
  [[nodiscard]] DifferenceError difference_error(const V &x, const V &y, const DifferencedAlong<V> &along,
                                                 double value) {
    constexpr double decides = 1e-4;
    const double epsilon = precision(x);
    const double of_rounding = along.to_both_sides ? 10.0 : 40.0; // by the sum of the weights of the values
    const double noise = of_rounding * std::max(epsilon * std::abs(value), noise_);
    const auto phi_at = [&](const V &moved) { return phi(moved, y); };
    DifferenceError best;
    for (const double shorter : {1.0, 1e-2, 1e-4}) {
      const double step = shorter * difference_step(x);
      const double rounding = noise / (step * along.scale);
      const double found = along.to_both_sides ? central_difference(x, along.direction, step, phi_at)
                                               : forward_difference(x, value, along.direction, step, phi_at);
      const double error = std::abs(found - along.claimed) / along.scale;
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

  /// By how much φ changes where x changes in its last bits: what rounding makes of y*(x), too.
  [[nodiscard]] double noise_of_phi(const V &x, const V &y, double value) {
    constexpr int samples = 3;
    SplitMix64 generator(11);
    V moved = zeros_like(x);
    double largest = 0.0;
    for (int i = 0; i < samples; ++i) {
      change_last_bits(x, generator, moved);
      box_.project(moved);
      const double change = std::abs(phi(moved, y) - value);
      largest = std::isfinite(change) ? std::max(largest, change) : largest;
    }
    return largest;
  }

  /// φ(x); NaN where it does not exist. By a closed form where there is one; where the lower level has many minimizers
  /// with that which F prefers.
  [[nodiscard]] double phi(const V &x, const V &guess) {
    try {
      return exact_.at(x, guess).value;
    } catch (const NotAvailable &) {
      if (!meter_.at(x, guess, {}).known()) {
        return std::numeric_limits<double>::quiet_NaN();
      }
      upper_.at(x, meter_.y());
      return upper_.value();
    }
  }

  ProblemView<V> problem_;
  AnyUpper<V> upper_;
  Box<V> box_;
  ExactResponse<V> exact_;
  SlopeMeter<V> meter_;
  double noise_ = 0.0; ///< of φ at the end of the run
};

// Outside of the class, where it would be inline, and be compiled by every program that calls it.
template <VectorSpace V>
Certificate Certifier<V>::certify(const State<V> &start, const State<V> &end, const CertificateOptions &options,
                                  const std::optional<LastDirection<V>> &last) {
  Certificate certificate;
  certificate.claims = options.claims;
  certificate.blocks = KktResidual<ProblemView<V>>(problem_).at(end.x, end.y, end.v);
  Verification<V> verification(problem_, start);
  const auto &first = verification.first_or_from(end.y);
  if (first.known()) {
    certificate.first_hypergradient = first.norm;
  }
  const auto &claims = options.claims;
  const double goal =
      claims.relative_slope > 0.0 ? claims.relative_slope * std::max(0.0, first.norm - first.error) : claims.slope;
  const auto slope =
      meter_.at(end.x, end.y, {.absolute = 0.05 * goal, .exactly = true}); // from the run's y: f may have others
  if (slope.known()) {
    certificate.hypergradient = slope.norm;
    certificate.hypergradient_error = slope.error;
    compare_state(end, certificate);
    difference(end.x, options, certificate);
  }
  certificate.unavailable = slope.unavailable;
  certificate.refuted = refuted(certificate, goal);
  if (last && certificate.exists()) {
    certificate.direction = direction_error(*last, end.y);
  }
  return certificate;
}

extern template class Certifier<Eigen::VectorXf>;
extern template class Certifier<Eigen::VectorXd>;

} // namespace detail

/// Of a run from `start` to `end`, with what it took for ∇φ `last` where that is known (run/kept_direction.hpp). Solves
/// the lower level some 2·directions times to rounding.
template <SecondOrderProblem P>
[[nodiscard]] Certificate certify(const P &problem, const State<VectorOf<P>> &start, const State<VectorOf<P>> &end,
                                  const CertificateOptions &options = {},
                                  const std::optional<LastDirection<VectorOf<P>>> &last = {}) {
  if (options.directions < 1) {
    throw InvalidInput("certificate: directions = " + field_text(options.directions) + ", expected >= 1");
  }
  if (last && (size(last->x) != problem.x_size() || size(last->direction) != problem.x_size())) {
    throw InvalidInput("certificate: a last direction of " + std::to_string(size(last->direction)) +
                       " entries at an x of " + std::to_string(size(last->x)) + ", the problem's x has " +
                       std::to_string(problem.x_size()));
  }
  auto state = end;
  prepare_start(problem, state);
  return detail::Certifier<VectorOf<P>>(ProblemView<VectorOf<P>>(problem)).certify(start, state, options, last);
}

} // namespace duplex
