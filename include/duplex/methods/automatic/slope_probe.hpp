#pragma once
// What φ does along a move p, by differences, beside what d says of it: why a run that improves nothing is where it is.
//
//   right = (φ(x + hp) − φ(x))/h,  left = (φ(x) − φ(x − hp))/h,  said = dᵀp
//
// for h from long to where rounding begins. For smooth φ and right derivatives all three become one number; at a
// kink right and left do not, and where a derivative is wrong they do, to another number than said.

#include <duplex/core/text.hpp>
#include <duplex/methods/automatic/current_point.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace duplex::automatic {

enum class SlopeFinding : std::uint8_t {
  agrees,
  hidden, ///< by rounding, at every h
  kink,
  wrong, ///< d is not the slope of φ
};

struct SlopeReport {
  SlopeFinding finding = SlopeFinding::hidden;
  double left = 0.0;
  double right = 0.0;
  double said = 0.0;

  /// A sentence that follows another, for people.
  [[nodiscard]] std::string text(double precision_of_numbers) const;
};

/// φ beside where a run is, along a path, with d there to an accuracy.
template <VectorSpace V> struct ValuesBeside {
  CurrentPoint<V> &current;
  const V &path;
  double accuracy;
  Estimate<V> &scratch;
  double noise; ///< of the values so far

  [[nodiscard]] double at(double t) {
    assign(current.estimate().at, scratch.at);
    axpy(t, path, scratch.at.x);
    current.box().project(scratch.at.x);
    const auto status = current.hypergradient().evaluate(scratch, accuracy);
    noise = status == LinearStatus::converged ? std::max(noise, scratch.value_noise) : infinity;
    return scratch.value;
  }
};

/// `longest` is the first h.
template <VectorSpace V>
[[nodiscard]] SlopeReport probe_slope(CurrentPoint<V> &current, const V &move, double longest, Estimate<V> &scratch) {
  constexpr double shortest = 1e-7;
  constexpr double share = 0.3;     // of a slope, by which others may miss it
  constexpr double of_noise = 20.0; // a slope is measured where it is so many times its noise
  const Estimate<V> &here = current.estimate();
  const double accuracy = rule::accuracy_of_difference * norm(here.d);
  (void)current.refresh(accuracy); // so that φ here is known as well as beside
  SlopeReport report{.said = dot(here.d, move)};
  const double length = norm(move);
  V path = move;
  V before = move;
  double gap_before = infinity;
  for (double h = longest; h > shortest && length > 0.0; h *= 0.1) {
    assign(move, path); // what of it stays within bounds on both sides
    scale(1.0 / length, path);
    current.box().keep_room(here.at.x, h * length, path);
    scale(length, path);
    const double said = dot(here.d, path);
    if (distance(path, before, scratch.d) > 0.0) { // more of it fits within bounds, and has a gap of its own
      gap_before = infinity;
      assign(path, before);
    }
    ValuesBeside<V> beside{current, path, accuracy, scratch, here.value_noise};
    const double right = (beside.at(h) - here.value) / h;
    const double left = (here.value - beside.at(-h)) / h;
    const double largest = std::max({std::abs(right), std::abs(left), std::abs(said)});
    if (!(largest > std::max(of_noise * beside.noise / h, std::numeric_limits<double>::min()))) {
      continue;
    }
    report.left = left;
    report.right = right;
    report.said = said;
    const double gap = std::abs(right - left);
    if (gap > share * largest && gap > 0.5 * gap_before) {
      report.finding = SlopeFinding::kink;
      return report;
    }
    gap_before = gap;
    if (gap > share * largest) { // φ bends more than it slopes, at this length
      continue;
    }
    const double middle = 0.5 * (right + left);
    const bool is_off = std::abs(middle - report.said) > share * std::max(std::abs(middle), std::abs(report.said));
    report.finding = is_off ? SlopeFinding::wrong : SlopeFinding::agrees;
  }
  return report;
}

} // namespace duplex::automatic
