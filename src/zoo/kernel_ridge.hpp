#pragma once
// Kernel ridge regression: x holds the logarithms of the kernel's width and of the penalty, y a coefficient for each
// training sample,
//
//   f = ½ yᵀ(K + e^{x₂}I)y − t·y,   F = 1/(2N') ‖K'y − t'‖²,   K_ij = exp(−½ e^{−2x₁} ‖a_i − a_j‖²),
//
// with K' between the held-out and the training samples.

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <memory>

namespace duplex::zoo {

struct KernelRidgeSettings {
  Index training = 40;
  Index validation = 40;
  double noise = 0.3;
  std::uint64_t seed = 0;
};

/// K and its derivative in x₁, kept while x stays the same.
template <class T> class KernelMatrix {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  explicit KernelMatrix(const Matrix &square_distances) : distances_(&square_distances) {}

  void at(T log_width) {
    if (values_.size() > 0 && log_width == log_width_) {
      return;
    }
    log_width_ = log_width;
    const T factor = std::exp(T(-2) * log_width);
    values_ = (T(-0.5) * factor * distances_->array()).exp();
    slopes_ = values_.array() * factor * distances_->array();
  }
  [[nodiscard]] const Matrix &values() const { return values_; }
  [[nodiscard]] const Matrix &slopes() const { return slopes_; }

private:
  const Matrix *distances_;
  T log_width_ = T(0);
  Matrix values_;
  Matrix slopes_;
};

template <class T> class KernelRidge {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Matrix training_distances;
    Vector training_targets;
    Matrix validation_distances; ///< from held-out samples (rows) to training samples
    Vector validation_targets;
  };

  explicit KernelRidge(const KernelRidgeSettings &settings) {
    Draws draws(settings.seed);
    const Eigen::MatrixXd training = 2.0 * draws.normals(settings.training, 2);
    const Eigen::MatrixXd validation = 2.0 * draws.normals(settings.validation, 2);
    const auto targets = [&](const Eigen::MatrixXd &points) {
      return Eigen::VectorXd((points.col(0).array().sin() + (0.5 * points.col(1).array()).cos()).matrix() +
                             settings.noise * draws.normals(points.rows()));
    };
    const auto distances = [&](const Eigen::MatrixXd &from) {
      Eigen::MatrixXd out(from.rows(), training.rows());
      for (Index i = 0; i < from.rows(); ++i) {
        out.row(i) = (training.rowwise() - from.row(i)).rowwise().squaredNorm().transpose();
      }
      return out;
    };
    const Eigen::VectorXd training_targets = targets(training);
    const Eigen::VectorXd validation_targets = targets(validation);
    data_ = std::make_shared<const Data>(Data{rounded<T>(distances(training)), rounded<T>(training_targets),
                                              rounded<T>(distances(validation)), rounded<T>(validation_targets)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data), kernel_(data.training_distances) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      kernel_.at(x[0]);
    }
    [[nodiscard]] T value() const {
      const auto &y = this->y();
      return T(0.5) * (y.dot(kernel_.values() * y) + penalty() * y.squaredNorm()) - data_->training_targets.dot(y);
    }
    void grad_y(Vector &out) const {
      hess_yy(this->y(), out);
      out -= data_->training_targets;
    }
    void hess_yy(const Vector &v, Vector &out) const {
      out.noalias() = kernel_.values() * v;
      out += penalty() * v;
    }
    void cross_xy(const Vector &v, Vector &out) const {
      out.resize(2);
      out[0] = v.dot(kernel_.slopes() * this->y());
      out[1] = penalty() * v.dot(this->y());
    }
    void hessian(Matrix &out) const {
      out = kernel_.values();
      out.diagonal().array() += penalty();
    }

  private:
    [[nodiscard]] T penalty() const { return std::exp(this->x()[1]); }

    const Data *data_;
    KernelMatrix<T> kernel_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data), kernel_(data.validation_distances) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      kernel_.at(x[0]);
      misfit_.forget();
    }
    [[nodiscard]] T value() { return T(0.5) * misfit().squaredNorm() / count(); }
    void grad_x(Vector &out) {
      out.setZero(2);
      out[0] = misfit().dot(kernel_.slopes() * this->y()) / count();
    }
    void grad_y(Vector &out) {
      out.noalias() = kernel_.values().transpose() * misfit();
      out /= count();
    }
    void hess_yy(const Vector &v, Vector &out) {
      out.noalias() = kernel_.values().transpose() * (kernel_.values() * v);
      out /= count();
    }
    /// Of ∇yF·v = (K'v)·(K'y − t')/N' in x₁: both factors change.
    void cross_xy(const Vector &v, Vector &out) {
      out.setZero(2);
      out[0] =
          ((kernel_.slopes() * v).dot(misfit()) + (kernel_.values() * v).dot(kernel_.slopes() * this->y())) / count();
    }

  private:
    [[nodiscard]] T count() const { return static_cast<T>(data_->validation_targets.size()); }
    const Vector &misfit() {
      return misfit_.get([&](Vector &out) { out = kernel_.values() * this->y() - data_->validation_targets; });
    }

    const Data *data_;
    KernelMatrix<T> kernel_;
    Kept<Vector> misfit_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return data_->training_targets.size(); }
  [[nodiscard]] State<Vector> start(int k = 0) const {
    return {start_near<T>(Eigen::Vector2d(0.0, -1.0), 0.5, k), Vector::Zero(y_size()), {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
