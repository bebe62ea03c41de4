#pragma once
// Softmax regression with a penalty for the weights of each class, tuned on held-out samples:
//
//   f = softmax loss + ½ Σ_k e^{x_k} ‖y_k‖²

#include "zoo/softmax_pass.hpp"

#include <memory>

namespace duplex::zoo {

struct SoftmaxClassesSettings {
  Index features = 12;
  Index classes = 4;
  Index training = 60;
  Index validation = 80;
  double noise = 1.5;
  double prior = 0.0;
  std::uint64_t seed = 0;
};

/// Samples around one centre for each class.
[[nodiscard]] inline Samples<double> draw_clusters(Draws &draws, const Eigen::MatrixXd &centres, Index count,
                                                   double noise) {
  Samples<double> samples{noise * draws.normals(count, centres.cols()), Eigen::VectorXd(count)};
  for (Index i = 0; i < count; ++i) {
    const Index kind = i % centres.rows();
    samples.features.row(i) += centres.row(kind);
    samples.targets[i] = static_cast<double>(kind);
  }
  return samples;
}

template <class T> class SoftmaxClasses {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Samples<T> training;
    SoftmaxHeldOut<T> held_out;
    Index classes;
  };

  explicit SoftmaxClasses(const SoftmaxClassesSettings &settings) {
    Draws draws(settings.seed);
    const Eigen::MatrixXd centres = draws.normals(settings.classes, settings.features);
    const auto training = draw_clusters(draws, centres, settings.training, settings.noise);
    const auto validation = draw_clusters(draws, centres, settings.validation, settings.noise);
    data_ = std::make_shared<const Data>(
        Data{rounded<T>(training), {rounded<T>(validation), rounded<T>(settings.prior)}, settings.classes});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      pass_.forget();
    }
    [[nodiscard]] T value() {
      const auto squares = weights(this->y()).colwise().squaredNorm().transpose().eval();
      return pass().loss() + T(0.5) * penalties().dot(squares);
    }
    void grad_y(Vector &out) {
      pass().slopes(data_->training.targets, rows_);
      write(this->y(), out);
    }
    void hess_yy(const Vector &v, Vector &out) {
      multiply_columns(data_->training.features, weights(v), rows_);
      pass().bend(rows_);
      write(v, out);
    }
    void cross_xy(const Vector &v, Vector &out) {
      out = penalties().cwiseProduct(weights(this->y()).cwiseProduct(weights(v)).colwise().sum().transpose());
    }
    void hessian(Matrix &out) {
      pass().hessian(data_->training.features, out);
      const Index width = data_->training.features.cols();
      for (Index k = 0; k < data_->classes; ++k) {
        out.diagonal().segment(k * width, width).array() += penalties()[k];
      }
    }

  private:
    [[nodiscard]] Vector penalties() const { return this->x().array().exp(); }
    [[nodiscard]] typename SoftmaxPass<T>::Weights weights(const Vector &y) const {
      return {y.data(), data_->training.features.cols(), data_->classes};
    }
    const SoftmaxPass<T> &pass() {
      return pass_.get(
          [&](SoftmaxPass<T> &out) { out.run(data_->training.features, data_->training.targets, weights(this->y())); });
    }
    /// out = Aᵀ·rows + V·diag(eˣ), as a vector.
    void write(const Vector &v, Vector &out) const {
      out.resize(v.size());
      Eigen::Map<Matrix> columns(out.data(), data_->training.features.cols(), data_->classes);
      multiply_columns_transposed(data_->training.features, rows_, columns);
      columns += weights(v) * penalties().asDiagonal();
    }

    const Data *data_;
    Kept<SoftmaxPass<T>> pass_;
    Matrix rows_;
  };

  using Upper = SoftmaxHeldOutLoss<T>;

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(data_->held_out); }
  [[nodiscard]] Index x_size() const { return data_->classes; }
  [[nodiscard]] Index y_size() const { return data_->training.features.cols() * data_->classes; }
  [[nodiscard]] State<Vector> start(int k = 0) const {
    return {start_near<T>(Eigen::VectorXd::Constant(x_size(), -2.0), 1.0, k), Vector::Zero(y_size()), {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
