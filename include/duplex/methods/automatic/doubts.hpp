#pragma once
// Whether d is the slope of φ at all. A step that disagrees with d (trust_region.hpp) is nothing unusual; where many
// do, and before success is claimed in spite of one, differences of φ are asked (slope_probe.hpp).

#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/slope_probe.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace duplex::automatic {

template <VectorSpace V> class Doubts {
public:
  explicit Doubts(const V &x) : origin_(zeros_like(x)), path_(zeros_like(x)) { assign(x, origin_); }

  /// Is told of a trial that was rejected because φ is not what d says.
  void disagree(double length) {
    ++disagreements_;
    last_length_ = last_length_ > 0.0 ? last_length_ : length;
  }
  void move(double length) { last_length_ = length; }

  /// Whether there are many disagreements: true once, and again when there are twice as many.
  [[nodiscard]] bool grow() {
    const bool grown = disagreements_ >= suspicious_at_;
    suspicious_at_ *= grown ? 2 : 1;
    return grown;
  }

  /// What differences say along the last move, which a search in vain may have shortened since, and, where they find
  /// nothing, along −d: a run may well move along a kink.
  [[nodiscard]] SlopeReport of_last_move(CurrentPoint<V> &current, const V &move, Estimate<V> &scratch) {
    assign(move, path_);
    const auto along_move = along_path(current, scratch);
    if (along_move.finding == SlopeFinding::kink || along_move.finding == SlopeFinding::wrong) {
      return along_move;
    }
    current.free_direction(path_);
    scale(-1.0, path_);
    return along_path(current, scratch);
  }

  /// Whether success, where steps have disagreed, is denied by differences along the way from where the run began: by
  /// more than a share of the slope there.
  [[nodiscard]] bool deny(CurrentPoint<V> &current, double first_slope, Estimate<V> &scratch, SlopeReport &report) {
    if (disagreements_ == 0) {
      return false;
    }
    assign(current.state().x, path_);
    axpy(-1.0, origin_, path_);
    const double matters = rule::slope_that_matters * first_slope * norm(path_);
    if (is_borne_out(current, 0.1 * matters, scratch)) {
      return false;
    }
    constexpr double part_of_way = 0.1;
    report = probe_slope(current, path_, part_of_way, scratch);
    const double missed = std::abs(0.5 * (report.left + report.right) - report.said);
    return report.finding == SlopeFinding::wrong && missed > matters;
  }

  template <class Archive> void archive(Archive &members) {
    members("origin", origin_);
    members("last length", last_length_);
    members("disagreements", disagreements_);
    members("suspicious at", suspicious_at_);
  }

private:
  /// Whether one central difference along path_ agrees with d: that is cheap, and mostly enough.
  [[nodiscard]] bool is_borne_out(CurrentPoint<V> &current, double allowed, Estimate<V> &scratch) {
    constexpr double h = 1e-2;
    const double length = norm(path_);
    if (current.box().exists() || !(length > 0.0)) { // where a difference may be one of a part alone
      return false;
    }
    ValuesBeside<V> beside{current, path_, 0.01 * allowed / length, scratch, 0.0};
    const double right = beside.at(h);
    const double slope = (right - beside.at(-h)) / (2.0 * h);
    return std::abs(slope - dot(current.d(), path_)) + beside.noise / h <= allowed;
  }

  /// Along path_, made as long as the last move; where a run stands still that is short.
  [[nodiscard]] SlopeReport along_path(CurrentPoint<V> &current, Estimate<V> &scratch) {
    constexpr double longer = 1e4;
    const double length = norm(path_);
    scale(length > 0.0 ? last_length_ / length : 0.0, path_);
    return probe_slope(current, path_, longer, scratch);
  }

  V origin_; ///< x where the run began
  V path_;
  double last_length_ = 0.0; ///< of the last move that was taken, or of the first that was not
  std::int64_t disagreements_ = 0;
  std::int64_t suspicious_at_ = rule::disagreements_that_doubt_d;
};

} // namespace duplex::automatic
