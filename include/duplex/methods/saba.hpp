#pragma once
// Stochastic Average Bilevel Algorithm (SABA; Dagréou, Ablin, Vaiter and Moreau, 2022): SOBA with constant steps whose
// directions are told by SAGA (joint/sample_means.hpp), each of the five pieces
//
//   ∇y f_i      ∇²yy f_i v      ∇²xy f_i v      ∇yF_j      ∇xF_j
//
// with a table of its own over the batches of its level. Its noise goes to zero, and where f is strongly convex it
// converges linearly. On a problem that is not drawn in batches (finite_sum.hpp) the one batch is all of it.
// Cost of a step: three gradients, one Hessian product, one cross product of a batch; of the first, those of all
// batches. Memory: for each batch of f two vectors like y and one like x, for each of F one of both; besides, six like
// y and four like x.

#include <duplex/core/memory.hpp>
#include <duplex/method.hpp>
#include <duplex/methods/joint/joint_step.hpp>
#include <duplex/methods/joint/sample_means.hpp>
#include <duplex/problem/finite_sum.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace duplex {

struct Saba {
  static constexpr std::string_view name = "saba";
  static constexpr std::string_view title = "SOBA without its noise: remembers what each batch said last";

  double alpha = 0.1;
  double beta = 0.2;
  double eta = 0.2;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_joint_step_fields(self, visit);
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper}; }

  template <BatchedProblem P> class Run;
};

template <BatchedProblem P> class Saba::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  /// Throws InvalidInput where the tables are larger than memory.
  Run(const Saba &options, const P &problem, const State<V> &start)
      : options_(options), problem_(problem), lower_(problem.lower()), upper_(problem.upper()),
        batches_(fitting(problem_.batches(), start)), lower_gradient_(batches_.lower_count, start.y),
        hessian_product_(batches_.lower_count, start.y), cross_product_(batches_.lower_count, start.x),
        upper_gradient_(batches_.upper_count, start.y), direct_slope_(batches_.upper_count, start.x),
        gradient_(zeros_like(start.y)), residual_(gradient_), upper_said_(gradient_), direction_(zeros_like(start.x)),
        cross_(direction_) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    if (!std::exchange(is_filled_, true)) {
      fill(s);
    }
    batches_ = problem_.batches();
    lower_.at(s.x, s.y);
    upper_.at(s.x, s.y);
    lower_.grad_y(gradient_);
    both_products(lower_, s.v, residual_, cross_);
    upper_.grad_y(upper_said_);
    upper_.grad_x(direction_);
    lower_gradient_.tell(batches_.lower.number, gradient_);
    hessian_product_.tell(batches_.lower.number, residual_);
    cross_product_.tell(batches_.lower.number, cross_);
    upper_gradient_.tell(batches_.upper.number, upper_said_);
    direct_slope_.tell(batches_.upper.number, direction_);
    axpy(-1.0, upper_said_, residual_); // ∇²yy f v − ∇yF
    axpy(-1.0, cross_, direction_);     // ∇xF − ∇²xy f v
    axpy(-options_.beta, gradient_, s.y);
    axpy(-options_.eta, residual_, s.v);
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta, .eta = options_.eta}};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  template <class Archive> void archive(Archive &members) {
    members("is filled", is_filled_);
    members("lower gradient", lower_gradient_);
    members("hessian product", hessian_product_);
    members("cross product", cross_product_);
    members("upper gradient", upper_gradient_);
    members("direct slope", direct_slope_);
  }

private:
  [[nodiscard]] static Batches fitting(const Batches &batches, const State<V> &start) {
    const auto y = static_cast<double>(size(start.y));
    const auto x = static_cast<double>(size(start.x));
    const double numbers =
        static_cast<double>(batches.lower_count) * (2.0 * y + x) + static_cast<double>(batches.upper_count) * (y + x);
    const double bytes = is_single_precision(precision(start.y)) ? sizeof(float) : sizeof(double);
    require_memory(bytes * numbers, "saba: tables of " + std::to_string(batches.lower_count) + " and " +
                                        std::to_string(batches.upper_count) +
                                        " batches (srba and spaba keep none; larger batches are fewer)");
    return batches;
  }

  /// By one evaluation of each level, which is moved from batch to batch.
  void fill(const State<V> &s) {
    Batch batch = problem_.lower_batch(0);
    LowerOf<P> of_lower = problem_.lower(batch);
    for (Index i = 0; i < batches_.lower_count; ++i) {
      batch = problem_.lower_batch(i);
      of_lower.at(s.x, s.y);
      of_lower.grad_y(lower_gradient_.of(i));
      both_products(of_lower, s.v, hessian_product_.of(i), cross_product_.of(i));
    }
    batch = problem_.upper_batch(0);
    UpperOf<P> of_upper = problem_.upper(batch);
    for (Index j = 0; j < batches_.upper_count; ++j) {
      batch = problem_.upper_batch(j);
      of_upper.at(s.x, s.y);
      of_upper.grad_y(upper_gradient_.of(j));
      of_upper.grad_x(direct_slope_.of(j));
    }
    lower_gradient_.take_mean();
    hessian_product_.take_mean();
    cross_product_.take_mean();
    upper_gradient_.take_mean();
    direct_slope_.take_mean();
    direct_slope_.forget_zeros(); // F often does not see x but by y
  }

  Saba options_;
  BatchView<P> problem_;
  LowerOf<P> lower_; ///< of the batches in hand
  UpperOf<P> upper_;
  Batches batches_;
  SampleMeans<V> lower_gradient_;
  SampleMeans<V> hessian_product_;
  SampleMeans<V> cross_product_;
  SampleMeans<V> upper_gradient_;
  SampleMeans<V> direct_slope_;
  bool is_filled_ = false;
  V gradient_;
  V residual_;
  V upper_said_;
  V direction_;
  V cross_;
};

} // namespace duplex
