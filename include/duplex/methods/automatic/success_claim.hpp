#pragma once
// When a run claims success: where ‖d‖ with its error is below the tolerance times the reference, which is ‖∇φ‖ where
// the run began. The loop verifies a claim by other means; one that is refuted tells what the reference really is.

#include <duplex/measure/verification.hpp>
#include <duplex/methods/automatic/rules.hpp>

#include <algorithm>
#include <utility>

namespace duplex::automatic {

class SuccessClaim {
public:
  explicit SuccessClaim(double tolerance) : asked_(tolerance), tolerance_(tolerance) {}

  [[nodiscard]] double tolerance() const { return tolerance_; }
  [[nodiscard]] double reference() const { return reference_; }

  /// Takes ‖d‖ where the run begins for the reference. A lower level that takes the place of another begins near a
  /// solution, where its own ‖d‖ says nothing: the larger one counts.
  void begin(double length) { reference_ = std::max(reference_, length); }
  /// Forgets the reference, since the lower level was not what it seemed.
  void forget_reference() {
    reference_ = reference_error_ = 0.0;
    sharp_ = false;
  }
  /// Whether the reference is still a rough one. Asked once: it is to be made sharp then.
  [[nodiscard]] bool needs_sharp_reference() { return !std::exchange(sharp_, true); }
  /// ‖d‖ where the run began, once more and accurately.
  void remeasure(double length) { reference_ = length; }
  void set_error_of_reference(double error) { reference_error_ = std::min(error, 0.5 * reference_); }

  /// Whether ‖d‖ as it is carried along is so small that it is worth computing it accurately.
  [[nodiscard]] bool is_near(double length) const { return length <= rule::nearly * tolerance_ * reference_; }
  /// What ‖d‖ with its error may be at most.
  [[nodiscard]] double goal() const { return rule::nearly * tolerance_ * (reference_ - reference_error_); }

  void make() { made_ = true; }
  [[nodiscard]] bool is_made() const { return made_; }
  /// The tolerance that the last step claims to have met; zero where it claims nothing.
  [[nodiscard]] double claimed_tolerance() const { return made_ ? tolerance_ : 0.0; }
  /// Before a step: a run that goes on beyond a claim that was not refuted is to be more accurate.
  void go_on() {
    if (std::exchange(made_, false)) {
      tolerance_ *= rule::tighter;
    }
  }
  void withdraw() { made_ = false; }

  /// Learns the reference from a verification that refutes the claim. False where more claims lead nowhere.
  [[nodiscard]] bool learn(const Verdict &verdict) {
    if (verdict.hidden_by_rounding() || ++refutations_ > rule::most_refutations) {
      return false;
    }
    reference_ = verdict.first.norm;
    reference_error_ = verdict.first.error;
    sharp_ = true;
    return true;
  }

  template <class Archive> void archive(Archive &members) {
    members("tolerance", tolerance_);
    members("made", made_);
    members("refutations", refutations_);
    members("reference", reference_);
    members("reference error", reference_error_);
    members("sharp", sharp_);
    double asked_before = asked_;
    members("asked", asked_before);
    if (asked_ != asked_before) { // a run that goes on is asked for more, or for less
      tolerance_ = asked_;
      made_ = false;
    }
  }

private:
  double asked_;     ///< the caller's tolerance
  double tolerance_; ///< as it is now, smaller where a run goes on beyond its first claim
  bool made_ = false;
  int refutations_ = 0;
  double reference_ = 0.0;
  double reference_error_ = 0.0;
  bool sharp_ = false; ///< the reference is accurate
};

} // namespace duplex::automatic
