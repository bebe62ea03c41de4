#pragma once
// Where a run is, with d there as accurate as a step of x needs: its error is to be a share of ‖d‖. A step carries d
// along without computing it; how far that was off, once d is computed anew, makes the share smaller or larger. Where x
// has bounds, what counts of d is its free part (box.hpp).

#include <duplex/measure/measured_slope.hpp>
#include <duplex/methods/automatic/hypergradient.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/texts.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/space/box.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace duplex::automatic {

template <VectorSpace V> class CurrentPoint {
public:
  /// `directions`: so many are recycled between inner solves.
  CurrentPoint(const ProblemView<V> &problem, const State<V> &start, std::size_t directions)
      : box_(problem.box()), hypergradient_(problem, start, directions), estimate_(estimate_at(start)), before_(start),
        carried_(zeros_like(start.x)), free_(zeros_like(start.x)) {}

  [[nodiscard]] Estimate<V> &estimate() { return estimate_; }
  [[nodiscard]] State<V> &state() { return estimate_.at; }
  [[nodiscard]] const V &d() const { return estimate_.d; }
  /// The free part of d.
  void free_direction(V &out) const { box_.free_part(estimate_.at.x, estimate_.d, out); }
  [[nodiscard]] double slope() const { return box_.free_norm(estimate_.at.x, estimate_.d, free_); }
  [[nodiscard]] const Box<V> &box() const { return box_; }
  [[nodiscard]] double error() const { return hypergradient_.error(estimate_); }
  [[nodiscard]] Hypergradient<ProblemView<V>> &hypergradient() { return hypergradient_; }
  [[nodiscard]] double mu() const { return hypergradient_.mu(); }
  /// The error that d may have where it is now `length` long.
  [[nodiscard]] double allowed_error(double length) const { return share_ * length; }
  [[nodiscard]] double share() const { return share_; }
  /// ‖x − from‖.
  [[nodiscard]] double distance_from(const V &from) { return distance(estimate_.at.x, from, carried_); }

  /// d for the first time: y and v to a per cent of their moves, as nothing is known of how much d feels them.
  [[nodiscard]] LinearStatus begin() {
    const bool is_exact = std::exchange(begins_exactly_, false);
    const auto status = is_exact ? hypergradient_.evaluate_exact(estimate_) : hypergradient_.evaluate(estimate_, 0.0);
    hypergradient_.gains().learn(estimate_);
    return status;
  }
  /// y and v where the run begins were measured by other means, and need not be solved for.
  void begin_at(const SlopeMeter<V> &truth) {
    take(truth);
    begins_exactly_ = truth.is_exact() && !truth.has_chosen();
    if (begins_exactly_ && truth.has_unlike_curvatures()) {
      hypergradient_.assemble_next();
    }
  }

  /// Takes ψ = μF + (1 − μ)f for the lower level. begin() is to follow.
  void aggregate(double mu) {
    hypergradient_.aggregate(mu);
    share_ = rule::first_share;
    since_refresh_ = blurred_ = 0;
  }

  /// d anew at x, to an error of at most `level`.
  [[nodiscard]] LinearStatus refresh(double level) {
    assign(estimate_.d, carried_);
    assign(estimate_.at, before_);
    const auto status = hypergradient_.evaluate(estimate_, level);
    if (status != LinearStatus::converged) { // what was good stays
      assign(before_, estimate_.at);
      assign(carried_, estimate_.d);
    }
    axpy(-1.0, estimate_.d, carried_);
    mismatch_ = norm(carried_);
    since_refresh_ = 0;
    ++refreshes_;
    return status;
  }

  /// d anew to an error of at most a share of ‖d‖, again where ‖d‖ turns out to be far smaller than it seemed.
  [[nodiscard]] LinearStatus refresh_to_share(double share) {
    constexpr int most_times = 10;
    auto status = LinearStatus::converged;
    double before = infinity;
    for (int n = 0; n < most_times && status == LinearStatus::converged && slope() < 0.5 * before; ++n) {
      before = slope();
      status = refresh(share * before);
    }
    return status;
  }

  /// After a step: d anew where it was carried along for long, or where its error has grown.
  [[nodiscard]] LinearStatus refresh_if_due() {
    auto status = LinearStatus::converged;
    if (++since_refresh_ >= rule::most_steps_without_refresh || is_inaccurate()) {
      status = refresh(allowed_error(slope()));
      adapt_share();
    }
    blurred_ = is_inaccurate() ? blurred_ + 1 : 0;
    return status;
  }
  /// Whether d's error has been too large for many steps although y and v were solved anew: rounding is in the way.
  [[nodiscard]] bool is_blurred() const { return blurred_ > rule::most_blurred_steps; }

  /// Solves more tightly from now on.
  void tighten(double factor = rule::poor_match) { share_ = std::max(factor * share_, rule::smallest_share); }

  /// y, v and d at x as they were measured by other means.
  void take(const SlopeMeter<V> &truth) {
    assign(truth.y(), estimate_.at.y);
    assign(truth.v(), estimate_.at.v);
    assign(truth.hypergradient(), estimate_.d);
  }

  void report(Findings &found) const {
    hypergradient_.report(found);
    found.share = share_;
    found.refreshes = refreshes_;
  }

  template <class Archive> void archive(Archive &members) {
    members("hypergradient", hypergradient_);
    members("estimate", estimate_);
    members("share", share_);
    members("mismatch", mismatch_);
    members("since refresh", since_refresh_);
    members("blurred", blurred_);
    members("refreshes", refreshes_);
  }

private:
  [[nodiscard]] bool is_inaccurate() const { return error() > rule::poor_match * slope(); }

  void adapt_share() {
    const double length = slope();
    if (mismatch_ > rule::poor_match * length) {
      tighten(0.5);
    } else if (mismatch_ < rule::good_match * length) {
      share_ = std::min(1.2 * share_, rule::largest_share);
    }
  }

  Box<V> box_; ///< where x may be
  Hypergradient<ProblemView<V>> hypergradient_;
  Estimate<V> estimate_;
  State<V> before_; ///< where d is computed anew, with y and v as they were
  V carried_;       ///< d as it was
  mutable V free_;  ///< scratch
  double share_ = rule::first_share;
  double mismatch_ = 0.0; ///< of d as carried along and as computed anew
  int since_refresh_ = 0; ///< steps
  int blurred_ = 0;       ///< steps in a row after which d's error was too large although y and v were solved anew
  std::int64_t refreshes_ = 0;
  bool begins_exactly_ = false; ///< with y and v that need not be solved for
};

} // namespace duplex::automatic
