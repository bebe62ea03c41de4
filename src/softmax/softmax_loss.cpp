#include "softmax/blocks.hpp"

#include <duplex/core/error.hpp>
#include <duplex/kernels/softmax_loss.hpp>

#include <omp.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace duplex {

using namespace softmax;

void require_samples(const LabelledSamples &samples, Index classes, const std::string &name) {
  const std::string who = name + ": ";
  if (classes < 2) {
    throw InvalidInput(who + std::to_string(classes) + " classes, expected at least 2");
  }
  if (!samples.features || !samples.labels || samples.features->rows() == 0) {
    throw InvalidInput(who + "no samples");
  }
  if (static_cast<Index>(samples.labels->size()) != samples.features->rows()) {
    throw InvalidInput(who + std::to_string(samples.labels->size()) + " labels for " +
                       std::to_string(samples.features->rows()) + " samples");
  }
  for (std::size_t i = 0; i < samples.labels->size(); ++i) {
    if (static_cast<Index>((*samples.labels)[i]) >= classes) {
      throw InvalidInput(who + "label " + std::to_string((*samples.labels)[i]) + " of sample " + std::to_string(i + 1) +
                         ", expected less than the number of classes, " + std::to_string(classes));
    }
  }
}

SoftmaxShares softmax_shares(const LabelledSamples &samples, Index classes, int wanted) {
  return softmax_shares(samples, samples.features->rows(), classes, wanted);
}

SoftmaxShares softmax_shares(const LabelledSamples &samples, Index rows, Index classes, int wanted) {
  constexpr double products_worth_a_share = 2e6; // some twenty microseconds
  constexpr double most_shares = 64.0;
  const double part = static_cast<double>(rows) / static_cast<double>(samples.features->rows());
  const auto entries = part * static_cast<double>(samples.features->entries());
  double products = entries * static_cast<double>(classes);
  if (samples.features->is_sparse()) { // a share has sums of its own, which must not cost more than its products
    products = std::min(products, products_worth_a_share * entries / static_cast<double>(samples.features->columns()));
  }
  const Index whole_blocks = rows / static_cast<Index>(block_rows);
  const auto blocks = static_cast<double>(whole_blocks + 1);
  const double worth = std::clamp(std::min(products / products_worth_a_share, blocks), 1.0, most_shares);
  const int count = 1 << std::ilogb(worth); // of which 2, 4, 8 … threads have equally many
  const int most = omp_in_parallel() != 0 ? 1 : wanted > 0 ? wanted : omp_get_max_threads();
  return {.count = count, .threads = std::min(count, std::max(most, 1))};
}

template <class T> struct SoftmaxLoss<T>::Impl {
  Impl(LabelledSamples given, Index most, Index classes, int threads)
      : samples(std::move(given)), rows(*samples.features, static_cast<std::size_t>(classes)), most_rows(most),
        shares_of_crew(softmax_shares(samples, most, classes, threads)) {
    rows.select(0, static_cast<std::size_t>(most));
  }

  /// Solvers hold evaluations that a fused step never asks: those take no memory.
  void prepare_for_use() {
    if (!crew) {
      crew.emplace(shape(), shares_of_crew);
      Shape largest = shape(); // what is selected now may be the last batch, which may be smaller
      largest.rows = static_cast<std::size_t>(most_rows);
      p = BlockArray<T>(largest);
      panel = Panel<T>(shape());
      losses = log_sums = Vector::Zero(most_rows);
    }
  }

  [[nodiscard]] const Shape &shape() const { return rows.shape(); }
  [[nodiscard]] const std::uint32_t *labels(std::size_t block) const {
    return samples.labels->data() + rows.first_row(block);
  }

  /// Weights of a block's samples, with nothing beyond the last.
  void copy_weights(const Vector &weights, std::size_t block, std::size_t count, T *out) const {
    std::copy_n(weights.data() + block * shape().height, count, out);
    std::fill(out + count, out + block_rows, T(0));
  }

  /// Scores of the labels, or their mean under the targets, with the bias.
  void score_labels(std::size_t block, std::size_t count, const T *scores, T *out) const {
    const std::size_t outputs = shape().outputs();
    if (!has_targets) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t label = labels(block)[i];
        out[i] = label == outputs ? T(0) : scores[label * block_rows + i] + panel.bias[label];
      }
      return;
    }
    std::fill_n(out, count, T(0));
    const T *q = targets.block(block);
    for (std::size_t c = 0; c < outputs; ++c) {
      for (std::size_t i = 0; i < count; ++i) {
        out[i] += q[c * block_rows + i] * (scores[c * block_rows + i] + panel.bias[c]);
      }
    }
  }

  void residuals(std::size_t block, std::size_t count, const T *weight, T *out) const {
    if (!has_targets) {
      weigh_residual(p.block(block), labels(block), count, weight, shape().outputs(), out);
      return;
    }
    const T *probability = p.block(block);
    const T *q = targets.block(block);
    for (std::size_t c = 0; c < shape().outputs(); ++c) {
      for (std::size_t i = c * block_rows; i < (c + 1) * block_rows; ++i) {
        out[i] = weight[i - c * block_rows] * (probability[i] - q[i]);
      }
    }
  }

  /// job(worker, block, rows) for every block, with the rows' scores along v in worker.scores, and the worker's sums
  /// cleared before its first.
  template <class Job> void along(const Vector &v, const Job &job) {
    panel.fold(rows, v);
    crew->run([&](Worker<T> &worker, const auto &share) {
      worker.sums->lower.clear();
      share(shape().blocks(), [&](std::size_t b) {
        const auto loaded = rows.load(b, worker.rows.data());
        multiply(rows, b, loaded, panel, worker.scores.data());
        job(worker, b, loaded);
      });
    });
  }
  void accumulate_curvature(const Vector &weights, std::size_t b, const BlockOfRows<T> &loaded, Worker<T> &worker) {
    const std::size_t count = shape().rows_in(b);
    copy_weights(weights, b, count, worker.weight.data());
    kernels::row_kernels<T>().curve(p.block(b), worker.scores.data(), panel.bias.data(), worker.weight.data(),
                                    shape().outputs(), worker.residual.data());
    accumulate(loaded, count, shape(), worker.residual.data(), worker.sums->lower);
  }
  void write_slopes(const Vector &factors, std::size_t b, Worker<T> &worker, Eigen::Ref<Vector> out) const {
    const std::size_t count = shape().rows_in(b);
    slope_along(p.block(b), labels(b), count, worker.scores.data(), panel.bias.data(), shape().outputs(),
                worker.slope.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = static_cast<Index>(b * shape().height + i);
      out[row] = factors[row] * worker.slope.data()[i];
    }
  }
  void require_a_number_per_row(Index numbers) const {
    if (numbers != static_cast<Index>(shape().rows)) {
      throw InvalidInput("softmax loss: slopes of " + std::to_string(shape().rows) + " samples for a vector of " +
                         std::to_string(numbers) + " numbers");
    }
  }

  LabelledSamples samples;
  RowBlocks<T> rows;
  Index most_rows; ///< that are selected at a time
  SoftmaxShares shares_of_crew;
  std::optional<Crew<T>> crew;
  BlockArray<T> p;
  BlockArray<T> targets;
  bool has_targets = false;
  Panel<T> panel;
  Vector losses;
  Vector log_sums; ///< of e^z over the classes, the last class's z being 0
};

template <class T>
SoftmaxLoss<T>::SoftmaxLoss(LabelledSamples samples, Index classes, int threads, std::optional<Index> most_rows) {
  require_samples(samples, classes, "softmax loss");
  const Index most = std::min(most_rows.value_or(samples.features->rows()), samples.features->rows());
  impl_ = std::make_unique<Impl>(std::move(samples), most, classes, threads);
}
template <class T> SoftmaxLoss<T>::SoftmaxLoss(SoftmaxLoss &&) noexcept = default;
template <class T> SoftmaxLoss<T> &SoftmaxLoss<T>::operator=(SoftmaxLoss &&) noexcept = default;
template <class T> SoftmaxLoss<T>::~SoftmaxLoss() = default;

template <class T> Index SoftmaxLoss<T>::rows() const { return static_cast<Index>(impl_->shape().rows); }
template <class T> void SoftmaxLoss<T>::select(Index first, Index count, std::optional<Index> next) {
  impl_->rows.select(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  impl_->rows.expect(next);
}
template <class T> Index SoftmaxLoss<T>::y_size() const {
  return static_cast<Index>(impl_->shape().classes * (impl_->shape().columns + 1));
}

template <class T> void SoftmaxLoss<T>::set_targets(const Matrix &targets) {
  Impl &self = *impl_;
  const Shape &shape = self.shape();
  if (!self.has_targets) {
    self.targets = BlockArray<T>(shape);
    self.has_targets = true;
  }
  for (std::size_t row = 0; row < shape.rows; ++row) {
    T *q = self.targets.block(row / shape.height) + row % shape.height;
    for (std::size_t c = 0; c < shape.outputs(); ++c) {
      q[c * block_rows] = targets(static_cast<Index>(row), static_cast<Index>(c));
    }
  }
}

template <class T> void SoftmaxLoss<T>::at(const Vector &y) {
  Impl &self = *impl_;
  const Shape &shape = self.shape();
  const auto kernel = kernels::row_kernels<T>();
  self.prepare_for_use();
  self.panel.fold(self.rows, y);
  self.crew->run([&](Worker<T> &worker, const auto &share) {
    share(shape.blocks(), [&](std::size_t b) {
      const std::size_t count = shape.rows_in(b);
      const auto rows = self.rows.load(b, worker.rows.data());
      T *p = self.p.block(b);
      multiply(self.rows, b, rows, self.panel, p, self.rows.ahead_of_first_pass(b));
      T *own = self.losses.data() + b * shape.height;
      self.score_labels(b, count, p, own); // before softmax takes the scores' place
      kernel.softmax(p, self.panel.bias.data(), shape.outputs(), worker.weight.data());
      for (std::size_t i = 0; i < count; ++i) {
        self.log_sums[static_cast<Index>(b * shape.height + i)] = worker.weight.data()[i];
        own[i] = worker.weight.data()[i] - own[i];
      }
    });
  });
}

template <class T> double SoftmaxLoss<T>::value(const Vector &weights) const {
  return (losses().template cast<double>().array() * weights.head(rows()).template cast<double>().array()).sum();
}

template <class T> typename SoftmaxLoss<T>::Losses SoftmaxLoss<T>::losses() const {
  return std::as_const(impl_->losses).head(rows());
}

template <class T> void SoftmaxLoss<T>::gradient(const Vector &weights, Vector &out) {
  Impl &self = *impl_;
  const Shape &shape = self.shape();
  self.crew->run([&](Worker<T> &worker, const auto &share) {
    worker.sums->lower.clear();
    share(shape.blocks(), [&](std::size_t b) {
      const std::size_t count = shape.rows_in(b);
      const auto rows = self.rows.load(b, worker.rows.data());
      self.copy_weights(weights, b, count, worker.weight.data());
      self.residuals(b, count, worker.weight.data(), worker.residual.data());
      accumulate(rows, count, shape, worker.residual.data(), worker.sums->lower);
    });
  });
  self.crew->sum(&Sums<T>::lower).unfold(self.rows, T(1), out);
}

template <class T> void SoftmaxLoss<T>::hessian(const Vector &weights, const Vector &v, Vector &out) {
  Impl &self = *impl_;
  self.along(v, [&](Worker<T> &worker, std::size_t b, const BlockOfRows<T> &rows) {
    self.accumulate_curvature(weights, b, rows, worker);
  });
  self.crew->sum(&Sums<T>::lower).unfold(self.rows, T(1), out);
}

template <class T> void SoftmaxLoss<T>::slopes(const Vector &factors, const Vector &v, Eigen::Ref<Vector> out) {
  Impl &self = *impl_;
  self.require_a_number_per_row(out.size());
  self.along(v, [&](Worker<T> &worker, std::size_t b, const BlockOfRows<T> & /*rows*/) {
    self.write_slopes(factors, b, worker, out);
  });
}

template <class T>
void SoftmaxLoss<T>::hessian_and_slopes(const Vector &weights, const Vector &factors, const Vector &v, Vector &out,
                                        Eigen::Ref<Vector> slopes) {
  Impl &self = *impl_;
  self.require_a_number_per_row(slopes.size());
  self.along(v, [&](Worker<T> &worker, std::size_t b, const BlockOfRows<T> &rows) {
    self.write_slopes(factors, b, worker, slopes);
    self.accumulate_curvature(weights, b, rows, worker);
  });
  self.crew->sum(&Sums<T>::lower).unfold(self.rows, T(1), out);
}

template <class T> typename SoftmaxLoss<T>::Matrix SoftmaxLoss<T>::probabilities() const {
  const Shape &shape = impl_->shape();
  Matrix out(static_cast<Index>(shape.rows), static_cast<Index>(shape.classes));
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const T *p = impl_->p.block(row / shape.height) + row % shape.height;
    for (std::size_t c = 0; c < shape.outputs(); ++c) {
      out(static_cast<Index>(row), static_cast<Index>(c)) = p[c * block_rows];
    }
    out(static_cast<Index>(row), static_cast<Index>(shape.outputs())) =
        std::exp(-impl_->log_sums[static_cast<Index>(row)]);
  }
  return out;
}

template class SoftmaxLoss<float>;
template class SoftmaxLoss<double>;

} // namespace duplex
