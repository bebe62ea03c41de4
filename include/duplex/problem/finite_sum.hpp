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

#include <duplex/core/error.hpp>
#include <duplex/core/random.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/problem/stochastic.hpp>
#include <duplex/space/archive.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace duplex {

/// Consecutive samples of a level.
struct Batch {
  Index number = 0; ///< of all batches of the level
  Index first = 0;
  Index count = 0;
  Index most = 0;      ///< that a batch of the level has: the last may have fewer
  double weight = 0.0; ///< of a sample: batches / samples
};

/// All samples of a level as a batch.
[[nodiscard]] inline Batch whole_batch(Index samples) {
  return {.count = samples, .most = samples, .weight = 1.0 / static_cast<double>(samples)};
}

/// The batches that a step sees.
struct Batches {
  Batch lower;
  Batch upper;
  Index lower_count = 1; ///< batches that the level has in all
  Index upper_count = 1;
};

template <class P>
concept FiniteSumProblem = SecondOrderProblem<P> && requires(const P &problem, const Batch &batch) {
  { problem.lower_samples() } -> std::convertible_to<Index>;
  { problem.upper_samples() } -> std::convertible_to<Index>;
  { problem.lower(batch) } -> Evaluation<VectorOf<P>>;
  { problem.upper(batch) } -> Evaluation<VectorOf<P>>;
};

/// How a level is cut into batches.
class BatchCut {
public:
  /// Throws InvalidInput where a batch would be larger than the level.
  BatchCut(Index samples, Index size, const char *level) : samples_(samples), size_(size) {
    if (size < 1 || size > samples) {
      throw InvalidInput("batches of " + std::to_string(size) + " samples, expected from 1 to the " +
                         std::to_string(samples) + " of the " + level + " level");
    }
  }

  [[nodiscard]] Index size() const { return size_; } ///< of a batch
  [[nodiscard]] Index count() const { return (samples_ + size_ - 1) / size_; }
  [[nodiscard]] Batch operator[](Index number) const {
    const Index first = number * size_;
    return {.number = number,
            .first = first,
            .count = std::min(size_, samples_ - first),
            .most = size_,
            .weight = static_cast<double>(count()) / static_cast<double>(samples_)};
  }

private:
  Index samples_;
  Index size_;
};

/// Numbers of batches in a random order, each once before any comes again.
class BatchOrder {
public:
  [[nodiscard]] bool has_begun() const { return !order_.empty(); }
  void begin(Index batches, std::uint64_t seed) {
    order_.resize(static_cast<std::size_t>(batches));
    generator_.seed(seed);
    shuffle();
  }
  [[nodiscard]] Index next() {
    if (position_ == order_.size()) {
      shuffle();
    }
    return order_[position_++];
  }

  /// Where it stands; read back into one that has begun with as many batches.
  template <class Archive> void archive(Archive &members) {
    members("generator", before_);
    members("position", position_);
    if constexpr (!std::same_as<Archive, StateWriter>) {
      const std::size_t position = position_;
      if (position > order_.size()) {
        throw InvalidInput("the saved state has drawn " + std::to_string(position) + " batches of a level that has " +
                           std::to_string(order_.size()));
      }
      generator_ = before_;
      shuffle();
      position_ = position;
    }
  }

private:
  void shuffle() {
    before_ = generator_;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      order_[i] = static_cast<Index>(i);
    }
    for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
      std::swap(order_[i], order_[i + uniform_below(generator_, order_.size() - i)]);
    }
    position_ = 0;
  }

  std::vector<Index> order_;
  std::size_t position_ = 0;
  std::mt19937_64 generator_;
  std::mt19937_64 before_; ///< the generator as this order was drawn from it
};

/// How many samples a step sees of each level.
struct BatchSizes {
  Index lower = 64;
  Index upper = 64;
  bool operator==(const BatchSizes &) const = default;
};

/// The batches in hand, and where their orders stand.
struct DrawnBatches {
  Batches batches;
  BatchSizes sizes;
  BatchOrder lower_order;
  BatchOrder upper_order;

  /// Read back into one that has begun. Throws InvalidInput where batches of other sizes were written: the same numbers
  /// would stand for other samples.
  template <class Archive> void archive(Archive &members) {
    BatchSizes saved = sizes;
    members("lower batch size", saved.lower);
    members("upper batch size", saved.upper);
    if (saved != sizes) {
      throw InvalidInput("the saved state has batches of " + text(saved) + ", and this run has batches of " +
                         text(sizes) + ": expected the same");
    }
    members("lower batches", lower_order);
    members("upper batches", upper_order);
  }

private:
  [[nodiscard]] static std::string text(const BatchSizes &sizes) {
    return std::to_string(sizes.lower) + " lower and " + std::to_string(sizes.upper) + " upper samples";
  }
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
    draw.batches = {.lower = lower_cut_[draw.lower_order.next()],
                    .upper = upper_cut_[draw.upper_order.next()],
                    .lower_count = lower_cut_.count(),
                    .upper_count = upper_cut_.count()};
  }
  [[nodiscard]] const Batches &batches(const Draw &draw) const { return draw.batches; }
  [[nodiscard]] Batch lower_batch(Index number) const { return lower_cut_[number]; }
  [[nodiscard]] Batch upper_batch(Index number) const { return upper_cut_[number]; }

  [[nodiscard]] auto lower(const Batch &batch) const { return problem_->lower(batch); }
  [[nodiscard]] auto upper(const Batch &batch) const { return problem_->upper(batch); }
  [[nodiscard]] auto lower(const Draw &draw) const { return problem_->lower(draw.batches.lower); }
  [[nodiscard]] auto upper(const Draw &draw) const { return problem_->upper(draw.batches.upper); }
  [[nodiscard]] auto lower() const { return problem_->lower(); }
  [[nodiscard]] auto upper() const { return problem_->upper(); }

  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }
  [[nodiscard]] Box<Vector> box() const { return box_of(*problem_); }
  [[nodiscard]] double upper_scale() const { return duplex::upper_scale(*problem_); }
  [[nodiscard]] bool offers_aggregation() const { return duplex::offers_aggregation(*problem_); }
  [[nodiscard]] State<Vector> start() const requires StartedProblem<P> { return problem_->start(); }

private:
  const P *problem_;
  BatchCut lower_cut_;
  BatchCut upper_cut_;
};

/// The problem drawn in batches; it must outlive what is returned. Throws InvalidInput where a batch is larger than its
/// level. With one size for both levels, one that is no sum is its one batch.
template <FiniteSumProblem P> [[nodiscard]] InBatches<P> in_batches(const P &problem, BatchSizes sizes) {
  return {problem, sizes};
}
template <FiniteSumProblem P> [[nodiscard]] InBatches<P> in_batches(const P &problem, Index size) {
  return {problem,
          {.lower = problem.lower_samples() == 1 ? 1 : size, .upper = problem.upper_samples() == 1 ? 1 : size}};
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
