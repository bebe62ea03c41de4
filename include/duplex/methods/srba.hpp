#pragma once
// Stochastic Recursive Bilevel Algorithm (SRBA; Dagréou, Moreau, Vaiter and Ablin, 2024): SOBA with constant steps
// whose three directions are recursive estimates (joint/recursive_step.hpp), taken of the whole every q steps,
//
//   q = period · (batches of f + batches of F).
//
// On a problem that is not drawn in batches (finite_sum.hpp) it is gradient descent on all three blocks.
// Cost of a step: six gradients, two Hessian products, two cross products of a batch; of every q-th, half as many of
// the whole. Memory: ten vectors like y, seven like x.

#include <duplex/method.hpp>
#include <duplex/methods/joint/recursive_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace duplex {

struct Srba {
  static constexpr std::string_view name = "srba";
  static constexpr std::string_view title = "SOBA without its noise: follows the whole from batch to batch";

  double alpha = 0.1;
  double beta = 0.2;
  double eta = 0.2;
  double period = 0.5;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_joint_step_fields(self, visit);
    visit_period_field(self, visit);
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper}; }

  template <BatchedProblem P> class Run;
};

template <BatchedProblem P> class Srba::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Srba &options, const P &problem, const State<V> &start)
      : options_(options), joint_(problem, start),
        steps_of_period_(std::max<std::int64_t>(1, std::llround(options.period * joint_.steps_of_pass()))) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    const StepSizes steps{.alpha = options_.alpha, .beta = options_.beta, .eta = options_.eta};
    if (since_whole_ == 0) {
      joint_.begin_anew(s);
    } else {
      joint_.follow(s);
    }
    since_whole_ = (since_whole_ + 1) % steps_of_period_;
    joint_.move(steps, s);
    return {.steps = steps};
  }

  [[nodiscard]] const V &direction() const override { return joint_.direction(); }
  template <class Archive> void archive(Archive &members) {
    members("joint", joint_);
    members("since whole", since_whole_);
  }

private:
  Srba options_;
  RecursiveJointStep<P> joint_;
  std::int64_t steps_of_period_;
  std::int64_t since_whole_ = 0; ///< steps since directions were those of the whole
};

} // namespace duplex
