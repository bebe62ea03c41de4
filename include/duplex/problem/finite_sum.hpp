#pragma once
// Levels that are means over samples, f = (1/n) Σ_i f_i and F = (1/m) Σ_j F_j, of which a step sees a batch each.
//
//   struct MyProblem {
//     using Vector = Eigen::VectorXd;
//     Index lower_samples() const;                 // n
//     Index upper_samples() const;                 // m; 1 where that level is no sum
//     Lower lower(const Batch &batch) const;       // evaluations that read the batch at each at(x, y)
//     Upper upper(const Batch &batch) const;
//     Lower lower() const;                         // the whole levels, for methods that need them now and then,
//     Upper upper() const;                         // and for all that is measured
//     ...
//   };
//
// An evaluation reads the batch where it lies, at each at(x, y): while a run goes on another one comes to lie there. It
// stands for batch.weight · Σ of the losses of its samples, and for what is no sum, such as a penalty, as it is: then
// the mean over all batches is the level. in_batches(problem, 64) draws batches, each level's in a random order of its
// own, each once before any comes again; any method with steps then runs on it.

#include <duplex/problem/batches.hpp>
#include <duplex/problem/offered.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/problem/stochastic.hpp>

#include <concepts>
#include <optional>
#include <random>

namespace duplex {

template <class P>
concept FiniteSumProblem = SecondOrderProblem<P> && requires(const P &problem, const Batch &batch) {
  { problem.lower_samples() } -> std::convertible_to<Index>;
  { problem.upper_samples() } -> std::convertible_to<Index>;
  { problem.lower(batch) } -> Evaluation<VectorOf<P>>;
  { problem.upper(batch) } -> Evaluation<VectorOf<P>>;
};

/// A finite sum that is drawn in batches. It lies elsewhere, and must outlive this.
template <FiniteSumProblem P> class InBatches {
public:
  using Vector = VectorOf<P>;
  using Draw = DrawnBatches;

  /// Throws InvalidInput where a batch is larger than its level.
  InBatches(const P &problem, BatchSizes sizes)
      : problem_(&problem), lower_cut_(problem.lower_samples(), sizes.lower, "lower"),
        upper_cut_(problem.upper_samples(), sizes.upper, "upper") {}

  void draw(std::mt19937_64 &generator, Draw &draw) const {
    if (!draw.lower_order.has_begun()) {
      draw.sizes = {.lower = lower_cut_.size(), .upper = upper_cut_.size()};
      draw.lower_order.begin(lower_cut_.count(), generator());
      draw.upper_order.begin(upper_cut_.count(), generator());
    }
    draw.batches = {.lower = next_of(lower_cut_, draw.lower_order),
                    .upper = next_of(upper_cut_, draw.upper_order),
                    .lower_count = lower_cut_.count(),
                    .upper_count = upper_cut_.count()};
  }
  [[nodiscard]] const Batches &batches(const Draw &draw) const { return draw.batches; }
  [[nodiscard]] Batch lower_batch(Index number) const { return lower_cut_[number]; }
  [[nodiscard]] Batch upper_batch(Index number) const { return upper_cut_[number]; }

  [[nodiscard]] auto lower(const Batch &batch) const { return problem_->lower(batch); }
  void lower(Batch &&) const = delete; // the batch is borrowed, so a temporary would dangle
  [[nodiscard]] auto upper(const Batch &batch) const { return problem_->upper(batch); }
  void upper(Batch &&) const = delete;
  [[nodiscard]] auto lower(const Draw &draw) const { return problem_->lower(draw.batches.lower); }
  [[nodiscard]] auto upper(const Draw &draw) const { return problem_->upper(draw.batches.upper); }
  [[nodiscard]] auto lower() const { return problem_->lower(); }
  [[nodiscard]] auto upper() const { return problem_->upper(); }

  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }
  [[nodiscard]] Box<Vector> box() const { return box_of(*problem_); }
  [[nodiscard]] double upper_scale() const { return duplex::upper_scale(*problem_); }
  [[nodiscard]] bool offers_aggregation() const { return duplex::offers_aggregation(*problem_); }
  [[nodiscard]] Vector x_scale() const { return duplex::x_scale(*problem_); }
  [[nodiscard]] Vector y_scale() const { return duplex::y_scale(*problem_); }
  [[nodiscard]] State<Vector> start() const requires StartedProblem<P> { return problem_->start(); }
  void check_start(const State<Vector> &state) const requires requires(const P &p) { p.check_start(state); }
  { problem_->check_start(state); }

  // What is known of the whole.
  [[nodiscard]] std::optional<Answer<Vector>> answer() const requires AnsweredProblem<P> { return problem_->answer(); }
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const requires HeldOutProblem<P> {
    return problem_->held_out(x, y);
  }
  bool respond(const Vector &x, Vector &y, Vector &v) const requires ClosedFormLower<P> {
    return problem_->respond(x, y, v);
  }

private:
  [[nodiscard]] static Batch next_of(const BatchCut &cut, BatchOrder &order) {
    Batch batch = cut[order.next()];
    if (const auto upcoming = order.upcoming()) {
      batch.next_first = cut[*upcoming].first;
    }
    return batch;
  }

  const P *problem_;
  BatchCut lower_cut_;
  BatchCut upper_cut_;
};

/// One size for both levels, of which one that is no sum is its one batch.
template <FiniteSumProblem P> [[nodiscard]] BatchSizes batch_sizes(const P &problem, Index size) {
  return {.lower = problem.lower_samples() == 1 ? 1 : size, .upper = problem.upper_samples() == 1 ? 1 : size};
}

/// The problem drawn in batches; it must outlive what is returned. Throws InvalidInput where a batch is larger than its
/// level.
template <FiniteSumProblem P> [[nodiscard]] InBatches<P> in_batches(const P &problem, BatchSizes sizes) {
  return {problem, sizes};
}
template <FiniteSumProblem P> [[nodiscard]] InBatches<P> in_batches(const P &problem, Index size) {
  return {problem, batch_sizes(problem, size)};
}

/// A problem as a run sees it whose batches a method may ask for again: one that is drawn in batches, or one that is
/// the same at every step, as a single batch.
template <class P>
concept BatchedProblem = SecondOrderProblem<P> && !(requires { requires P::forgets_samples; });

/// A problem of a run, batch by batch.
template <BatchedProblem P> class BatchView {
public:
  explicit BatchView(const P &problem) : problem_(&problem) {}

  /// In hand.
  [[nodiscard]] Batches batches() const {
    if constexpr (has_batches) {
      return problem_->batches();
    } else {
      return {};
    }
  }
  [[nodiscard]] Batch lower_batch(Index number) const {
    if constexpr (has_batches) {
      return problem_->lower_batch(number);
    } else {
      return {};
    }
  }
  [[nodiscard]] Batch upper_batch(Index number) const {
    if constexpr (has_batches) {
      return problem_->upper_batch(number);
    } else {
      return {};
    }
  }
  [[nodiscard]] LowerOf<P> lower(const Batch &batch) const {
    if constexpr (has_batches) {
      return problem_->lower(batch);
    } else {
      return problem_->lower();
    }
  }
  [[nodiscard]] UpperOf<P> upper(const Batch &batch) const {
    if constexpr (has_batches) {
      return problem_->upper(batch);
    } else {
      return problem_->upper();
    }
  }
  [[nodiscard]] auto whole_lower() const {
    if constexpr (has_batches) {
      return problem_->whole_lower();
    } else {
      return problem_->lower();
    }
  }
  [[nodiscard]] auto whole_upper() const {
    if constexpr (has_batches) {
      return problem_->whole_upper();
    } else {
      return problem_->upper();
    }
  }

private:
  static constexpr bool has_batches = requires(const P &problem) {
    { problem.batches() } -> std::convertible_to<Batches>;
  };

  const P *problem_;
};

} // namespace duplex
