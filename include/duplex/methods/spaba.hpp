#pragma once
// SPABA (Chu, Xu, Yao and Zhang, 2024): SRBA whose directions are taken of the whole not every q steps but with a
// probability of 1/q at each (PAGE; Li, Bao, Zhang and Richtárik, 2021), q = period · (batches of f + batches of F).
//
// Cost of a step: on average that of SRBA. Memory: as SRBA.

#include <duplex/method.hpp>
#include <duplex/methods/joint/recursive_step.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

namespace duplex {

struct Spaba {
  static constexpr std::string_view name = "spaba";
  static constexpr std::string_view title = "SRBA that goes back to the whole by the toss of a coin";

  double alpha = 0.1;
  double beta = 0.2;
  double eta = 0.2;
  double period = 0.5;
  std::uint64_t coin_seed = 0;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_joint_step_fields(self, visit);
    visit_period_field(self, visit);
    visit("coin-seed", self.coin_seed, non_negative, "by which the coin is tossed");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper}; }

  template <BatchedProblem P> class Run;
};

template <BatchedProblem P> class Spaba::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Spaba &options, const P &problem, const State<V> &start)
      : options_(options), joint_(problem, start), generator_(options.coin_seed),
        probability_(1.0 / std::max(1.0, options.period * joint_.steps_of_pass())) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    const StepSizes steps{.alpha = options_.alpha, .beta = options_.beta, .eta = options_.eta};
    const bool has_begun = std::exchange(has_begun_, true);
    if (!has_begun || tosses_whole()) {
      joint_.begin_anew(s);
    } else {
      joint_.follow(s);
    }
    joint_.move(steps, s);
    return {.steps = steps};
  }

  [[nodiscard]] const V &direction() const override { return joint_.direction(); }
  template <class Archive> void archive(Archive &members) {
    members("joint", joint_);
    members("generator", generator_);
    members("has begun", has_begun_);
  }

private:
  [[nodiscard]] bool tosses_whole() {
    constexpr double two_to_the_53 = 9007199254740992.0;
    return static_cast<double>(generator_() >> 11U) < probability_ * two_to_the_53;
  }

  Spaba options_;
  RecursiveJointStep<P> joint_;
  std::mt19937_64 generator_;
  double probability_;
  bool has_begun_ = false;
};

} // namespace duplex
