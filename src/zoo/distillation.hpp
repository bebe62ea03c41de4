#pragma once
// Dataset distillation: x holds the features of a few samples with given classes, and the weights y that are fitted to
// them should do well on many real ones,
//
//   f = softmax loss of y on the samples x + (λ/2)‖y‖²,   F = softmax loss of y on real samples.

#include "zoo/softmax_pass.hpp"

#include <memory>

namespace duplex::zoo {

struct DistillationSettings {
  Samples<double> real;
  Index classes = 10;
  Index copies = 1;   ///< distilled samples of each class
  double ridge = 1.0; ///< λ
  std::uint64_t seed = 0;
};

template <class T> class Distillation {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    SoftmaxHeldOut<T> real;
    Index classes;
    Vector targets; ///< of the distilled samples
    T ridge;
    Eigen::MatrixXd first; ///< a real sample for each distilled one
  };

  explicit Distillation(const DistillationSettings &settings) {
    const Index count = settings.classes * settings.copies;
    Vector targets(count);
    for (Index i = 0; i < count; ++i) {
      targets[i] = static_cast<T>(i % settings.classes);
    }
    data_ = std::make_shared<const Data>(Data{{.samples = rounded<T>(settings.real)},
                                              settings.classes,
                                              targets,
                                              rounded<T>(settings.ridge),
                                              settings.real.features.topRows(count)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      features_.forget();
      pass_.forget();
    }
    [[nodiscard]] T value() { return pass().loss() + T(0.5) * data_->ridge * this->y().squaredNorm(); }
    void grad_y(Vector &out) {
      pass().slopes(data_->targets, rows_);
      write(this->y(), out);
    }
    void hess_yy(const Vector &v, Vector &out) {
      multiply_columns(features(), weights(v), rows_);
      pass().bend(rows_);
      write(v, out);
    }
    /// ∇y f·v = Σ_i a_iᵀVr_i + λy·v with the slopes r_i in the scores, so that the rows are r_iVᵀ + (J_i Vᵀa_i)ᵀYᵀ with
    /// J_i = (diag(p_i) − p_ip_iᵀ)/N.
    void cross_xy(const Vector &v, Vector &out) {
      out.resize(this->x().size());
      Eigen::Map<Matrix> rows(out.data(), data_->targets.size(), features().cols());
      pass().slopes(data_->targets, rows_);
      rows.noalias() = rows_ * weights(v).transpose();
      multiply_columns(features(), weights(v), rows_);
      pass().bend(rows_);
      rows.noalias() += rows_ * weights(this->y()).transpose();
    }
    void hessian(Matrix &out) {
      pass().hessian(features(), out);
      out.diagonal().array() += data_->ridge;
    }

  private:
    [[nodiscard]] typename SoftmaxPass<T>::Weights weights(const Vector &y) const {
      return {y.data(), y.size() / data_->classes, data_->classes};
    }
    const Matrix &features() {
      return features_.get([&](Matrix &out) {
        const Index count = data_->targets.size();
        out = Eigen::Map<const Matrix>(this->x().data(), count, this->x().size() / count);
      });
    }
    const SoftmaxPass<T> &pass() {
      return pass_.get([&](SoftmaxPass<T> &out) { out.run(features(), data_->targets, weights(this->y())); });
    }
    /// out = Aᵀ·rows + λv, as a vector.
    void write(const Vector &v, Vector &out) {
      out.resize(v.size());
      multiply_columns_transposed(features(), rows_, Eigen::Map<Matrix>(out.data(), features().cols(), data_->classes));
      out += data_->ridge * v;
    }

    const Data *data_;
    Kept<Matrix> features_;
    Kept<SoftmaxPass<T>> pass_;
    Matrix rows_;
  };

  using Upper = SoftmaxHeldOutLoss<T>;

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(data_->real); }
  [[nodiscard]] Index x_size() const { return data_->first.size(); }
  [[nodiscard]] Index y_size() const { return data_->first.cols() * data_->classes; }
  /// A real sample of each class, or one with noise.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    return {start_near<T>(data_->first.reshaped(), 0.25, k), Vector::Zero(y_size()), {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
