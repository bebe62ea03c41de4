#pragma once
// Moving-Average SOBA (MA-SOBA; Chen, Xiao and Balasubramanian, 2023): SOBA whose x follows an average of the
// directions so far, so that the noise of a sample does not move x at once:
//
//   y⁺ = y − β ∇y f(x, y)     v⁺ = v − η (∇²yy f v − ∇yF)(x, y)     h⁺ = (1 − θ) h + θ (∇xF − ∇²xy f v)(x, y)
//   x⁺ = x − α h⁺
//
// with steps that shrink as (k + 1)^−p. d is h⁺. h begins with the first direction, not with zero as in the paper, so
// that its length says from the first step on how far x is from a solution; and θ is constant. Cost of a step: three
// gradients, one Hessian product, one cross product. Memory: five vectors.

#include <duplex/method.hpp>
#include <duplex/methods/joint/joint_step.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace duplex {

struct MaSoba {
  static constexpr std::string_view name = "ma-soba";
  static constexpr std::string_view title = "SOBA whose x follows a moving average of its directions";

  double alpha = 0.1;
  double beta = 0.2;
  double eta = 0.2;
  double decay = 0.5;
  double averaging = 0.1;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_joint_step_fields(self, visit);
    visit_decay_field(self, visit);
    visit("averaging", self.averaging, Bound{.low = 0.0, .high = 1.0, .low_open = true},
          "theta, the weight of a direction in the average");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class MaSoba::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const MaSoba &options, const P &problem, const State<V> &start)
      : options_(options), joint_(problem, start), of_sample_(zeros_like(start.x)), average_(zeros_like(start.x)) {}

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> & /*upper*/) override {
    const StepSizes steps = joint_steps_at(options_, k);
    joint_.measure(s, of_sample_);
    joint_.move(steps, s);
    const double weight = std::exchange(has_begun_, true) ? options_.averaging : 1.0;
    scale(1.0 - weight, average_);
    axpy(weight, of_sample_, average_);
    return {.steps = steps};
  }

  [[nodiscard]] const V &direction() const override { return average_; }
  template <class Archive> void archive(Archive &members) {
    members("average", average_);
    members("has begun", has_begun_);
  }

private:
  MaSoba options_;
  JointStep<P> joint_;
  V of_sample_;
  V average_; ///< h
  bool has_begun_ = false;
};

} // namespace duplex
