#pragma once
// Weighted softmax regression on a table of samples,
//
//   Σ_i w_i CE_i(y),   CE_i = log Σ_k e^{z_ik} − z_{i,label(i)},   z_ik = y_k · (a_i, 1),
//
// and its derivatives, by kernels that are dispatched at run time and threads of their own. y
// holds the weights class after class, the bias last: K × (D + 1). The same bits for any number
// of threads. Where a sample's class is known by probabilities q only, its loss is
// Σ_k q_k CE with label k.

#include <duplex/kernels/feature_table.hpp>
#include <duplex/space/space.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace duplex {

struct LabelledSamples {
  std::shared_ptr<const FeatureTable> features;
  std::shared_ptr<const std::vector<std::uint32_t>> labels; ///< each below the number of classes
};

/// Throws InvalidInput unless there are samples, each with a label below `classes`, and at least two classes.
void require_samples(const LabelledSamples &samples, Index classes, const std::string &name);

struct SoftmaxShares {
  int count = 1;   ///< depends on the samples alone, so that what is summed over them has the same bits on any machine
  int threads = 1; ///< at most one for each share
};

/// Into how many shares samples are cut, and how many threads they are worth, at most `wanted`; 0 wants as many as
/// OpenMP would take.
[[nodiscard]] SoftmaxShares softmax_shares(const LabelledSamples &samples, Index classes, int wanted);
/// The same of some rows of them at a time.
[[nodiscard]] SoftmaxShares softmax_shares(const LabelledSamples &samples, Index rows, Index classes, int wanted);

template <class T> class SoftmaxLoss {
public:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// A sample's loss each, as long as it stays selected.
  using Losses = Eigen::VectorBlock<const Vector>;

  /// Keeps a share of the samples. threads: as softmax_shares() takes them. most_rows: of the samples that are selected
  /// at a time, all of them where it is not given.
  SoftmaxLoss(LabelledSamples samples, Index classes, int threads = 0, std::optional<Index> most_rows = {});
  SoftmaxLoss(SoftmaxLoss &&) noexcept;
  SoftmaxLoss &operator=(SoftmaxLoss &&) noexcept;
  SoftmaxLoss(const SoftmaxLoss &) = delete;
  SoftmaxLoss &operator=(const SoftmaxLoss &) = delete;
  ~SoftmaxLoss();

  /// From now on of `count` samples from the `first` on, at most as many as were asked for; those from `next` on are
  /// asked of memory meanwhile. Allocates nothing.
  void select(Index first, Index count, std::optional<Index> next = {});
  [[nodiscard]] Index rows() const;   ///< samples that are selected
  [[nodiscard]] Index y_size() const; ///< K (D + 1)

  /// Probabilities of the classes, samples by classes, in the labels' place.
  void set_targets(const Matrix &targets);

  /// Computes probabilities and losses at y. All that follows is about that point, and weights
  /// have one number per selected sample, or more.
  void at(const Vector &y);

  [[nodiscard]] double value(const Vector &weights) const;
  /// CE_i(y).
  [[nodiscard]] Losses losses() const;
  void gradient(const Vector &weights, Vector &out);
  /// Hessian times v.
  void hessian(const Vector &weights, const Vector &v, Vector &out);
  /// out_i = factors_i ⟨∇CE_i, v⟩, by the labels
  void slopes(const Vector &factors, const Vector &v, Eigen::Ref<Vector> out);
  /// Both, for one product with the samples less.
  void hessian_and_slopes(const Vector &weights, const Vector &factors, const Vector &v, Vector &out,
                          Eigen::Ref<Vector> slopes);
  /// Samples by classes.
  [[nodiscard]] Matrix probabilities() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class SoftmaxLoss<float>;
extern template class SoftmaxLoss<double>;

} // namespace duplex
