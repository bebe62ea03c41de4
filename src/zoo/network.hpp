#pragma once
// A small network, with the logarithms of the two layers' weight decays tuned on held-out samples. With the inputs a
// and hidden units tanh(z_h), z_h = W_h·a + b_h, the output is o = Σ_h u_h tanh(z_h) + c, and
//
//   f = 1/(2N) Σ_i (o(a_i) − t_i)² + ½ e^{x₁}(‖W‖² + ‖b‖²) + ½ e^{x₂}(‖u‖² + c²)
//
// which is not convex in y = (W, b, u, c). F is the loss on the held-out samples.

#include "zoo/samples.hpp"

#include <duplex/problem/problem.hpp>

#include <memory>

namespace duplex::zoo {

struct NetworkSettings {
  Index inputs = 3;
  Index hidden = 6;
  Index training = 40;
  Index validation = 40;
  double noise = 0.3;
  std::uint64_t seed = 0;
};

/// The network at one point: what the derivatives of its outputs are made of.
template <class T> class NetworkPass {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;
  using Weights = Eigen::Map<const Matrix>;

  /// Inputs have a last column of ones, so that b is a column of W and c an entry of u.
  void run(const Samples<T> &samples, const Vector &y, Index hidden);
  /// Σ_i (o_i − t_i)²/(2N)
  [[nodiscard]] T loss() const { return T(0.5) * misfit_.squaredNorm() / count(); }
  void slope(Vector &out) const;
  /// The loss's Hessian in y times v: Jᵀ(Jv)/N + Σ_i (o_i − t_i) ∇²o_i·v/N.
  void bend(const Vector &v, Vector &out) const;
  /// The same as a matrix, from the rows of J and the second derivatives of the outputs.
  void hessian(Matrix &out) const;

private:
  [[nodiscard]] T count() const { return static_cast<T>(misfit_.size()); }
  /// out = Σ_i of the derivatives in W weighted by `hidden`, a column for each unit, and in u by `output`.
  void gather(const Matrix &hidden, const Vector &output, Vector &out) const;

  const Matrix *inputs_ = nullptr;
  Vector heads_;     ///< u and c
  Matrix active_;    ///< tanh(z), a row for each sample and a last column of ones
  Matrix steepness_; ///< tanh'(z) = 1 − tanh²(z)
  Vector misfit_;    ///< o − t
};

template <class T> class Network {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Samples<T> training;
    Samples<T> validation;
    Index hidden;
    std::uint64_t seed;

    [[nodiscard]] Index first_layer() const { return hidden * training.features.cols(); }
  };

  explicit Network(const NetworkSettings &settings);

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      pass_.forget();
    }
    [[nodiscard]] T value();
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);
    void hessian(Matrix &out);

  private:
    const NetworkPass<T> &pass() {
      return pass_.get([&](NetworkPass<T> &out) { out.run(data_->training, this->y(), data_->hidden); });
    }
    /// out += e^{x₁}v and e^{x₂}v in the two layers.
    void add_decay(const Vector &v, Vector &out) const;

    const Data *data_;
    Kept<NetworkPass<T>> pass_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      pass_.forget();
    }
    [[nodiscard]] T value() { return pass().loss(); }
    void grad_x(Vector &out) const { out.setZero(2); }
    void grad_y(Vector &out) { pass().slope(out); }
    void hess_yy(const Vector &v, Vector &out) { pass().bend(v, out); }
    void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(2); }

  private:
    const NetworkPass<T> &pass() {
      return pass_.get([&](NetworkPass<T> &out) { out.run(data_->validation, this->y(), data_->hidden); });
    }

    const Data *data_;
    Kept<NetworkPass<T>> pass_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return data_->first_layer() + data_->hidden + 1; }
  /// Random weights, as networks start from.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    Draws draws(data_->seed + 2000U + static_cast<std::uint64_t>(k));
    return {start_near<T>(Eigen::Vector2d(-4.0, -4.0), 0.5, k),
            rounded<T>(Eigen::VectorXd(0.5 * draws.normals(y_size()))),
            {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

extern template class Network<double>;
extern template class Network<long double>;

} // namespace duplex::zoo
