#pragma once
// BAGDC (bagdc.hpp, μ = 0) on samples: Algorithm 1's order, each variable at the newest point of those before it,
//
//   y⁺ = y − β g        g of ∇y f(x, y)
//   v⁺ = v − η r        r of ∇²yy f(x, y⁺) v − ∇yF(x, y⁺)
//   x⁺ = x − α d        d of ∇xF(x, y⁺) − ∇²xy f(x, y⁺) v⁺
//
// with g, r and d from the batch in hand and steps that shrink as (k + 1)^−decay; or, with `reduced`, as recursive
// estimates (joint/recursive_step.hpp) with constant steps, taken of the whole every `period` passes over the batches.
// Where nothing is drawn both, with decay = 0, are BAGDC with a constant multiplier step but for ∇²xy f, which that
// takes at y.
// Cost of a step: three gradients, one Hessian product, one cross product of a batch; reduced, twice as much, and those
// of the whole at every q-th. Memory: ten vectors; reduced, twenty-two.

#include <duplex/method.hpp>
#include <duplex/methods/joint/alternating_levels.hpp>
#include <duplex/methods/joint/joint_step.hpp>
#include <duplex/methods/joint/recursive_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace duplex {

struct Sbagdc {
  static constexpr std::string_view name = "sbagdc";
  static constexpr std::string_view title = "BAGDC on samples, by steps that shrink or with its noise reduced";

  double alpha = 0.1;
  double beta = 0.2;
  double eta = 0.2;
  double decay = 0.5;
  bool reduced = false;
  double period = 0.5;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_joint_step_fields(self, visit);
    visit_decay_field(self, visit);
    visit("reduced", self.reduced, any_number, "recursive estimates, and steps that do not shrink");
    visit_period_field(self, visit);
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper}; }

  template <BatchedProblem P> class Run;
};

template <BatchedProblem P> class Sbagdc::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Sbagdc &options, const P &problem, const State<V> &start)
      : options_(options), problem_(problem), here_(problem.lower(), problem.upper(), start), gradient_(start.y),
        residual_(start.y), direction_(start.x), of_y_(zeros_like(start.y)), of_x_(zeros_like(start.x)) {
    if (options.reduced) {
      const Batches batches = problem_.batches();
      const auto all = static_cast<double>(batches.lower_count + batches.upper_count);
      steps_of_period_ = std::max<std::int64_t>(1, std::llround(options.period * all));
      reduction_.emplace(problem_, problem, start);
    }
  }

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> & /*upper*/) override {
    StepSizes steps{.alpha = options_.alpha, .beta = options_.beta, .eta = options_.eta};
    if (reduction_) {
      reduced_step(steps, s);
    } else {
      steps = joint_steps_at(options_, k);
      anew(here_, steps, s);
    }
    return {.steps = steps};
  }

  [[nodiscard]] const V &direction() const override { return direction_.value(); }
  template <class Archive> void archive(Archive &members) {
    members("gradient", gradient_);
    members("residual", residual_);
    members("direction", direction_);
    members("since whole", since_whole_);
    if (reduction_) {
      members("previous", reduction_->previous);
      members("next", reduction_->next);
    }
  }

private:
  template <class Lower, class Upper> using Levels = AlternatingLevels<Lower, Upper, V>;
  using WholeLower = decltype(std::declval<const BatchView<P> &>().whole_lower());
  using WholeUpper = decltype(std::declval<const BatchView<P> &>().whole_upper());

  /// What is kept for recursive estimates.
  struct Reduction {
    Reduction(const BatchView<P> &view, const P &problem, const State<V> &start)
        : whole(view.whole_lower(), view.whole_upper(), start), before(problem.lower(), problem.upper(), start),
          previous(start), next(start), of_y(zeros_like(start.y)), of_x(zeros_like(start.x)) {}

    Levels<WholeLower, WholeUpper> whole;
    Levels<LowerOf<P>, UpperOf<P>> before; ///< the batch in hand, at the point before
    State<V> previous;                     ///< where the step before began
    State<V> next;                         ///< where this one did
    V of_y;
    V of_x;
  };

  /// By what the levels say alone.
  template <class L> void anew(L &levels, const StepSizes &steps, State<V> &s) {
    levels.lower_direction(s.x, s.y, of_y_);
    gradient_.begin_anew(of_y_);
    axpy(-steps.beta, gradient_.value(), s.y);
    levels.at(s.x, s.y);
    levels.multiplier_direction(s.v, of_y_);
    residual_.begin_anew(of_y_);
    axpy(-steps.eta, residual_.value(), s.v);
    levels.upper_direction(s.v, of_x_);
    direction_.begin_anew(of_x_);
  }

  void reduced_step(const StepSizes &steps, State<V> &s) {
    Reduction &kept = *reduction_;
    assign(s, kept.next);
    if (since_whole_ == 0) {
      anew(kept.whole, steps, s);
    } else {
      follow(kept, steps, s);
    }
    since_whole_ = (since_whole_ + 1) % steps_of_period_;
    std::swap(kept.previous, kept.next);
  }

  /// The step before began at `previous`, and its y⁺ and v⁺ are where this one begins.
  void follow(Reduction &kept, const StepSizes &steps, State<V> &s) {
    const State<V> &last = kept.previous;
    here_.lower_direction(s.x, s.y, of_y_);
    kept.before.lower_direction(last.x, last.y, kept.of_y);
    gradient_.follow(of_y_, kept.of_y);
    axpy(-steps.beta, gradient_.value(), s.y);

    here_.at(s.x, s.y);
    here_.multiplier_direction(s.v, of_y_);
    kept.before.at(last.x, kept.next.y);
    kept.before.multiplier_direction(last.v, kept.of_y);
    residual_.follow(of_y_, kept.of_y);
    axpy(-steps.eta, residual_.value(), s.v);

    here_.upper_direction(s.v, of_x_);
    kept.before.upper_direction(kept.next.v, kept.of_x);
    direction_.follow(of_x_, kept.of_x);
  }

  Sbagdc options_;
  BatchView<P> problem_;
  Levels<LowerOf<P>, UpperOf<P>> here_; ///< the batch in hand
  std::optional<Reduction> reduction_;
  RecursiveEstimate<V> gradient_;
  RecursiveEstimate<V> residual_;
  RecursiveEstimate<V> direction_;
  std::int64_t steps_of_period_ = 1;
  std::int64_t since_whole_ = 0; ///< steps since directions were those of the whole
  V of_y_;
  V of_x_;
};

} // namespace duplex
