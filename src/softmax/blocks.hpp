#pragma once
// What passes over samples share: weights and gradients in the kernels' layout, numbers per
// sample and class in blocks, and threads that each take a share of the blocks.

#include "kernels/row_products.hpp"
#include "kernels/team.hpp"
#include "softmax/sparse_products.hpp"

#include <duplex/kernels/softmax_loss.hpp>

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace duplex::softmax {

using kernels::block_rows;
using kernels::padded;
using kernels::panel_place;

template <class T> using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Memory that begins on a cache line, zero at first.
template <class T> class Aligned {
public:
  Aligned() = default;
  explicit Aligned(std::size_t size) : values_(hwy::AllocateAligned<T>(std::max<std::size_t>(size, 1))), size_(size) {
    if (!values_) {
      throw std::bad_alloc();
    }
    clear();
  }
  void clear() { std::fill_n(values_.get(), size_, T(0)); }
  [[nodiscard]] T *data() { return values_.get(); }
  [[nodiscard]] const T *data() const { return values_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  hwy::AlignedFreeUniquePtr<T[]> values_; // NOLINT(*-avoid-c-arrays)
  std::size_t size_ = 0;
};

/// Sizes of one set of samples. The last class's scores are the zero of all scores, so that
/// outputs = K − 1 columns are computed: softmax does not see the difference, and its
/// residuals sum to zero over the classes.
struct Shape {
  std::size_t rows;
  std::size_t columns;
  std::size_t classes;
  bool sparse = false;
  std::size_t height = block_rows; ///< rows of a block, at most block_rows
  [[nodiscard]] std::size_t outputs() const { return classes - 1; }
  [[nodiscard]] std::size_t width() const { return padded(columns); }
  /// Numbers of a panel: dense rows want groups of features, sparse ones all outputs of a feature together.
  [[nodiscard]] std::size_t panel_size() const {
    return sparse ? columns * sparse_stride(outputs()) : width() * outputs();
  }
  [[nodiscard]] std::size_t blocks() const { return (rows + height - 1) / height; }
  [[nodiscard]] std::size_t rows_in(std::size_t block) const { return std::min(height, rows - block * height); }
};

/// The rows of a block: for the kernels, or where they are in a sparse table.
template <class T> struct BlockOfRows {
  kernels::Rows<T> dense = {};
  const FeatureTable *sparse = nullptr;
  Index first = 0;
};

/// The features as blocks of rows for the kernels.
template <class T> class RowBlocks {
public:
  RowBlocks(const FeatureTable &features, std::size_t classes)
      : features_(&features), shape_{static_cast<std::size_t>(features.rows()),
                                     static_cast<std::size_t>(features.columns()), classes, features.is_sparse()} {}

  [[nodiscard]] const Shape &shape() const { return shape_; }

  /// From now on of these rows of the table alone, in blocks of that height.
  void select(std::size_t first, std::size_t count, std::size_t height = block_rows) {
    first_ = first;
    shape_.rows = count;
    shape_.height = height;
  }
  /// Of the table.
  [[nodiscard]] std::size_t first_row(std::size_t block) const { return first_ + block * shape_.height; }

  /// In place where they are stored as the kernels want them, else decoded into scratch.
  [[nodiscard]] BlockOfRows<T> load(std::size_t block, T *scratch) const {
    if (shape_.sparse) {
      return {.sparse = features_, .first = static_cast<Index>(first_row(block))};
    }
    const std::byte *stored = features_->data() + first_row(block) * row_bytes();
    if constexpr (std::same_as<T, float>) {
      const bool unpadded = shape_.width() == shape_.columns;
      if (features_->storage() == Storage::float32 && unpadded) {
        return {.dense = {.values = reinterpret_cast<const float *>(stored)}};
      }
      if (features_->storage() == Storage::byte && unpadded && kernels::row_kernels<T>().reads_bytes) {
        return {.dense = {.bytes = reinterpret_cast<const std::uint8_t *>(stored)}};
      }
    }
    kernels::row_kernels<T>().decode(stored, features_->storage(), shape_.rows_in(block), shape_.columns, scratch,
                                     shape_.width());
    return {.dense = {.values = scratch}};
  }

  /// The rows that will be selected next, where that is known. These were asked of memory then, as those are now.
  void expect(std::optional<Index> first) { next_ = first; }

  /// What a pass over a block asks of memory: the next block.
  [[nodiscard]] kernels::Ahead after(std::size_t block) const {
    if (shape_.sparse || next_ || block + 1 == shape_.blocks()) {
      return {};
    }
    return {features_->data() + first_row(block + 1) * row_bytes(), shape_.rows_in(block + 1) * row_bytes()};
  }
  /// The same of the first pass over these rows: as many of those that are expected, where these are.
  [[nodiscard]] kernels::Ahead ahead_of_first_pass(std::size_t block) const {
    if (shape_.sparse || !next_) {
      return after(block);
    }
    const std::size_t all = static_cast<std::size_t>(features_->rows());
    const std::size_t first = std::min(all, static_cast<std::size_t>(*next_) + block * shape_.height);
    return {features_->data() + first * row_bytes(), std::min(shape_.rows_in(block), all - first) * row_bytes()};
  }

  [[nodiscard]] const std::vector<float> &scale() const { return features_->scale(); }
  [[nodiscard]] const std::vector<float> &shift() const { return features_->shift(); }

private:
  [[nodiscard]] std::size_t row_bytes() const { return bytes_of(features_->storage()) * shape_.columns; }

  const FeatureTable *features_;
  Shape shape_;
  std::size_t first_ = 0;
  std::optional<Index> next_;
};

/// A weight for each output and feature, and a bias for each output.
template <class T> struct Panel {
  Aligned<T> weights;
  std::vector<T> bias;

  Panel() = default;
  explicit Panel(const Shape &shape) : weights(shape.panel_size()), bias(shape.outputs()) {}

  void clear() {
    weights.clear();
    std::fill(bias.begin(), bias.end(), T(0));
  }
  void add(const Panel &other) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights.data()[i] += other.weights.data()[i];
    }
    for (std::size_t c = 0; c < bias.size(); ++c) {
      bias[c] += other.bias[c];
    }
  }

  /// From y, relative to the last class and with the features' scaling folded in:
  /// Σ_j (shift_j + scale_j q_j) y_j + b = Σ_j q_j (scale_j y_j) + (b + Σ_j shift_j y_j).
  void fold(const RowBlocks<T> &rows, const Vector<T> &y);
  /// The other way for a gradient: out_k = factor (scale ∘ weights_k + shift bias_k), the last class minus the sum.
  void unfold(const RowBlocks<T> &rows, T factor, Vector<T> &out) const;

private:
  void fold_sparse(const Shape &shape, const Vector<T> &y);
  void unfold_sparse(const Shape &shape, T factor, Vector<T> &out) const;
};

/// Numbers per sample and output, [block][output][row in block].
template <class T> class BlockArray {
public:
  BlockArray() = default;
  explicit BlockArray(const Shape &shape)
      : stride_(shape.outputs() * block_rows), values_(stride_ * std::max<std::size_t>(shape.blocks(), 1)) {}
  [[nodiscard]] T *block(std::size_t b) { return values_.data() + b * stride_; }
  [[nodiscard]] const T *block(std::size_t b) const { return values_.data() + b * stride_; }
  [[nodiscard]] std::span<T> all() { return {values_.data(), values_.size()}; }

private:
  std::size_t stride_ = 0;
  Aligned<T> values_;
};

/// What the samples of one share add up to.
template <class T> struct Sums {
  Panel<T> lower;
  Panel<T> upper;

  explicit Sums(const Shape &shape) : lower(shape), upper(shape) {}
};

/// What one thread works with.
template <class T> struct Worker {
  Aligned<T> rows;
  Aligned<T> scores;   ///< [output][block_rows]
  Aligned<T> residual; ///< [output][block_rows]
  Aligned<T> weight;   ///< [block_rows]
  Aligned<T> slope;    ///< [block_rows]
  Sums<T> *sums = nullptr;

  explicit Worker(const Shape &shape)
      : rows(shape.sparse ? 0 : block_rows * shape.width()), scores(shape.outputs() * block_rows),
        residual(shape.outputs() * block_rows), weight(block_rows), slope(block_rows) {}
};

/// Threads with their workers. The blocks are cut into shares whose number depends on the samples alone, and the sums
/// of the shares are added in their order: the same bits on any number of threads.
template <class T> class Crew {
public:
  Crew(const Shape &shape, SoftmaxShares shares) {
    sums_.reserve(static_cast<std::size_t>(shares.count));
    for (int s = 0; s < shares.count; ++s) {
      sums_.emplace_back(shape);
    }
    workers_.reserve(static_cast<std::size_t>(shares.threads));
    for (int t = 0; t < shares.threads; ++t) {
      workers_.emplace_back(shape);
    }
  }

  /// job(worker, share) for every share, where share(blocks, work) does work(block) for the share's own.
  template <class Job> void run(const Job &job) {
    const auto shares = sums_.size();
    const auto of_share = [&](Worker<T> &worker, std::size_t number) {
      worker.sums = &sums_[number];
      job(worker, [&](std::size_t blocks, const auto &work) {
        for (std::size_t b = blocks * number / shares; b < blocks * (number + 1) / shares; ++b) {
          work(b);
        }
      });
    };
    const auto of_thread = [&](std::size_t thread, std::size_t threads) {
      for (std::size_t number = shares * thread / threads; number < shares * (thread + 1) / threads; ++number) {
        of_share(workers_[thread], number);
      }
    };
    if (workers_.size() == 1) {
      of_thread(0, 1);
      return;
    }
    kernels::Team &team = kernels::team_of(static_cast<int>(workers_.size()));
    const std::size_t started = std::min(static_cast<std::size_t>(team.threads()), workers_.size());
    team.run([&](int thread) {
      if (static_cast<std::size_t>(thread) < started) { // the team may be larger
        of_thread(static_cast<std::size_t>(thread), started);
      }
    });
  }

  /// The shares' panels summed, in the first one's.
  [[nodiscard]] const Panel<T> &sum(Panel<T> Sums<T>::*panel) {
    for (std::size_t s = 1; s < sums_.size(); ++s) {
      (sums_[0].*panel).add(sums_[s].*panel);
    }
    return sums_[0].*panel;
  }

private:
  std::vector<Sums<T>> sums_;
  std::vector<Worker<T>> workers_;
};

/// out[c][i] = Σ_j rows[i][j] weights[c][j], without the bias.
template <class T>
void multiply(const RowBlocks<T> &from, std::size_t block, const BlockOfRows<T> &rows, const Panel<T> &panel, T *out,
              kernels::Ahead ahead) {
  const Shape &shape = from.shape();
  if (rows.sparse != nullptr) {
    sparse_forward(*rows.sparse, rows.first, shape.rows_in(block), panel.weights.data(), shape.outputs(), out);
    return;
  }
  kernels::row_kernels<T>().forward(rows.dense, shape.rows_in(block), shape.width(), panel.weights.data(),
                                    shape.outputs(), out, ahead);
}
template <class T>
void multiply(const RowBlocks<T> &from, std::size_t block, const BlockOfRows<T> &rows, const Panel<T> &panel, T *out) {
  multiply(from, block, rows, panel, out, from.after(block));
}

/// gradient += residualᵀ rows, and the residuals' sums.
template <class T>
void accumulate(const BlockOfRows<T> &rows, std::size_t count, const Shape &shape, const T *residual,
                Panel<T> &gradient) {
  if (rows.sparse != nullptr) {
    sparse_backward(*rows.sparse, rows.first, count, residual, shape.outputs(), gradient.weights.data());
  } else {
    kernels::row_kernels<T>().backward(rows.dense, count, shape.width(), residual, shape.outputs(),
                                       gradient.weights.data());
  }
  for (std::size_t c = 0; c < shape.outputs(); ++c) {
    T sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += residual[c * block_rows + i];
    }
    gradient.bias[c] += sum;
  }
}

/// residual_c = weight (p_c − [label = c])
template <class T>
void weigh_residual(const T *p, const std::uint32_t *labels, std::size_t count, const T *weight, std::size_t outputs,
                    T *residual) {
  for (std::size_t c = 0; c < outputs; ++c) {
    for (std::size_t i = 0; i < block_rows; ++i) {
      residual[c * block_rows + i] = weight[i] * p[c * block_rows + i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (labels[i] < outputs) {
      residual[labels[i] * block_rows + i] -= weight[i];
    }
  }
}

/// out_i = Σ_c (p_c − [label = c]) (s_c + bias_c): the slope of a sample's loss along s.
template <class T>
void slope_along(const T *p, const std::uint32_t *labels, std::size_t count, const T *s, const T *bias,
                 std::size_t outputs, T *out) {
  std::fill_n(out, block_rows, T(0));
  for (std::size_t c = 0; c < outputs; ++c) {
    for (std::size_t i = 0; i < block_rows; ++i) {
      out[i] += p[c * block_rows + i] * (s[c * block_rows + i] + bias[c]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (labels[i] < outputs) {
      out[i] -= s[labels[i] * block_rows + i] + bias[labels[i]];
    }
  }
}

} // namespace duplex::softmax
