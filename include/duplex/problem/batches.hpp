#pragma once
// Batches of a level that is a mean over samples (finite_sum.hpp): how it is cut into them, and the order in which they
// come.

#include <duplex/core/error.hpp>
#include <duplex/core/random.hpp>
#include <duplex/space/archive.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
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
  std::optional<Index> next_first =
      {}; ///< of the batch that the next step sees, where that is known: to ask memory for
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

  /// What next() will give, where that is in this order.
  [[nodiscard]] std::optional<Index> upcoming() const {
    return position_ < order_.size() ? std::optional(order_[position_]) : std::nullopt;
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

} // namespace duplex
