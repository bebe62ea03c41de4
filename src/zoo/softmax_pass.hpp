#pragma once
// Softmax regression at one point: y holds a column of weights for each of K classes, and
//
//   loss = (1/N) Σ_i (log Σ_k e^{s_ik} − s_i,t_i)  with scores S = AY.

#include "zoo/products.hpp"
#include "zoo/samples.hpp"

#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::zoo {

template <class T> class SoftmaxPass {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;
  using Weights = Eigen::Map<const Matrix>;

  /// Targets are the numbers of classes.
  void run(const Matrix &features, const Vector &targets, const Weights &weights) {
    multiply_columns(features, weights, probabilities_);
    loss_ = T(0);
    for (Index i = 0; i < probabilities_.rows(); ++i) {
      const T largest = probabilities_.row(i).maxCoeff();
      const T own = probabilities_(i, static_cast<Index>(targets[i]));
      probabilities_.row(i) = (probabilities_.row(i).array() - largest).exp();
      const T sum = probabilities_.row(i).sum();
      probabilities_.row(i) /= sum;
      loss_ += std::log(sum) + largest - own;
    }
    loss_ /= count();
  }

  [[nodiscard]] T count() const { return static_cast<T>(probabilities_.rows()); }
  [[nodiscard]] T loss() const { return loss_; }
  [[nodiscard]] const Matrix &probabilities() const { return probabilities_; }

  /// The slope of the loss in the scores: (P − E)/N, E being one where the target is.
  void slopes(const Vector &targets, Matrix &out) const {
    out = probabilities_;
    for (Index i = 0; i < out.rows(); ++i) {
      out(i, static_cast<Index>(targets[i])) -= T(1);
    }
    out /= count();
  }

  /// Row by row, (diag(p) − ppᵀ)u/N for the rows u of `scores`, in place.
  void bend(Matrix &scores) const {
    for (Index i = 0; i < scores.rows(); ++i) {
      const T mean = probabilities_.row(i).dot(scores.row(i));
      scores.row(i) = probabilities_.row(i).array() * (scores.row(i).array() - mean) / count();
    }
  }

  /// The loss's Hessian in y: block (k, l) is Aᵀ diag(p_k (δ_kl − p_l)/N) A.
  void hessian(const Matrix &features, Matrix &out) const {
    const Index width = features.cols();
    const Index classes = probabilities_.cols();
    Matrix block;
    out.resize(width * classes, width * classes);
    for (Index k = 0; k < classes; ++k) {
      for (Index l = 0; l <= k; ++l) {
        Vector weights = -probabilities_.col(k).cwiseProduct(probabilities_.col(l)) / count();
        if (k == l) {
          weights += probabilities_.col(k) / count();
        }
        weighted_gram(features, weights, block);
        out.block(k * width, l * width, width, width) = block;
        out.block(l * width, k * width, width, width) = block.transpose();
      }
    }
  }

private:
  Matrix probabilities_;
  T loss_ = T(0);
};

template <class T> struct SoftmaxHeldOut {
  Samples<T> samples;
  T prior = T(0); ///< ρ
};

/// F = softmax loss on held-out samples + (ρ/2)‖x‖².
template <class T> class SoftmaxHeldOutLoss : public Point<VectorOver<T>> {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  explicit SoftmaxHeldOutLoss(const SoftmaxHeldOut<T> &data) : data_(&data) {}

  void at(const Vector &x, const Vector &y) {
    Point<Vector>::at(x, y);
    pass_.forget();
  }
  [[nodiscard]] T value() { return pass().loss() + T(0.5) * data_->prior * this->x().squaredNorm(); }
  void grad_x(Vector &out) const { out = data_->prior * this->x(); }
  void grad_y(Vector &out) {
    pass().slopes(data_->samples.targets, rows_);
    write(out);
  }
  void hess_yy(const Vector &v, Vector &out) {
    multiply_columns(data_->samples.features, weights(v), rows_);
    pass().bend(rows_);
    write(out);
  }
  void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(this->x().size()); }

private:
  [[nodiscard]] typename SoftmaxPass<T>::Weights weights(const Vector &y) const {
    const Index width = data_->samples.features.cols();
    return {y.data(), width, y.size() / width};
  }
  const SoftmaxPass<T> &pass() {
    return pass_.get(
        [&](SoftmaxPass<T> &out) { out.run(data_->samples.features, data_->samples.targets, weights(this->y())); });
  }
  /// out = Aᵀ·rows, as a vector.
  void write(Vector &out) const {
    out.resize(data_->samples.features.cols() * rows_.cols());
    multiply_columns_transposed(data_->samples.features, rows_,
                                Eigen::Map<Matrix>(out.data(), data_->samples.features.cols(), rows_.cols()));
  }

  const SoftmaxHeldOut<T> *data_;
  Kept<SoftmaxPass<T>> pass_;
  Matrix rows_;
};

} // namespace duplex::zoo
