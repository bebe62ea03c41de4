#pragma once
// The softmax loss of a level on samples, or of a batch of it (finite_sum.hpp), at a point.

#include <duplex/kernels/softmax_loss.hpp>
#include <duplex/problem/batches.hpp>
#include <duplex/problem/problem.hpp>

namespace duplex {

/// Computed when it is first asked for.
template <class Scalar> class LossAtPoint : public Point<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  void at(const Vector &x, const Vector &y) {
    Point<Vector>::at(x, y);
    loss_.select(batch().first, batch().count, batch().next_first);
    known_ = false;
  }

protected:
  /// Of all samples where there is no batch.
  LossAtPoint(const LabelledSamples &samples, Index classes, int threads, const Batch *batch)
      : all_(whole_batch(samples.features->rows())), batch_(batch),
        loss_(samples, classes, threads, this->batch().most) {}

  [[nodiscard]] const Batch &batch() const { return batch_ != nullptr ? *batch_ : all_; }
  /// weights(): the point as the kernels have it.
  template <class Weights> [[nodiscard]] SoftmaxLoss<Scalar> &loss_at(const Weights &weights) {
    if (!known_) {
      loss_.at(weights());
      known_ = true;
    }
    return loss_;
  }

private:
  Batch all_;
  const Batch *batch_;
  SoftmaxLoss<Scalar> loss_;
  bool known_ = false;
};

} // namespace duplex
