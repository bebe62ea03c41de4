#pragma once
// A noisy signal b is smoothed, and how much is learned from the clean signal c. With the rows d_r of a matrix of
// differences, each with the log-weight x_{g(r)},
//
//   f = ½‖y − b‖² + Σ_r e^{x_{g(r)}} ψ(d_r·y),   F = ½‖y − c‖² + (ρ/2)‖x‖²,
//
// where ψ(z) is z²/2, or √(z² + ε²) for signals with jumps (total variation, rounded off).

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <Eigen/SparseCore>

#include <cstdint>
#include <memory>
#include <vector>

namespace duplex::zoo {

enum class Roughness : std::uint8_t { square, variation };

struct DenoisingSettings {
  Index length = 100;
  Index orders = 2;   ///< differences of order 1, 2, …, each with a weight of its own
  bool local = false; ///< first differences alone, each with a weight of its own
  Roughness roughness = Roughness::square;
  double noise = 0.25;
  double prior = 0.0; ///< ρ
  double limit = 0.0; ///< |x_j| is at most this; 0: any
  std::uint64_t seed = 0;
};

/// The clean signal, the noisy one, the differences and the weight of each.
struct DenoisingData {
  Eigen::VectorXd clean;
  Eigen::VectorXd noisy;
  Eigen::SparseMatrix<double> differences;
  std::vector<Index> groups;
};
[[nodiscard]] DenoisingData draw_signal(const DenoisingSettings &settings);

template <class T> class Denoising {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Vector clean;
    Vector noisy;
    Eigen::SparseMatrix<T> differences;
    std::vector<Index> groups;
    Index x_size;
    Roughness roughness;
    T epsilon;
    T prior;
    T limit;
  };

  explicit Denoising(const DenoisingSettings &settings);

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y);
    [[nodiscard]] T value();
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);
    void hessian(Matrix &out);

  private:
    const Vector &weights();    ///< e^{x_{g(r)}}
    const Vector &steps();      ///< d_r·y
    const Vector &slopes();     ///< ψ'
    const Vector &curvatures(); ///< e^{x_{g(r)}} ψ''

    const Data *data_;
    Kept<Vector> weights_;
    Kept<Vector> steps_;
    Kept<Vector> slopes_;
    Kept<Vector> curvatures_;
    Vector rows_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] T value() const {
      return T(0.5) * (this->y() - data_->clean).squaredNorm() + T(0.5) * data_->prior * this->x().squaredNorm();
    }
    void grad_x(Vector &out) const { out = data_->prior * this->x(); }
    void grad_y(Vector &out) const { out = this->y() - data_->clean; }
    void hess_yy(const Vector &v, Vector &out) const { out = v; }
    void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(this->x().size()); }

  private:
    const Data *data_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return data_->x_size; }
  [[nodiscard]] Index y_size() const { return data_->noisy.size(); }
  /// Weights of one; y is the noisy signal.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const Vector x = start_near<T>(Eigen::VectorXd::Zero(x_size()), 1.0, k);
    return {x.cwiseMax(lower_bound()).cwiseMin(upper_bound()), data_->noisy, {}};
  }
  [[nodiscard]] Vector lower_bound() const { return Vector::Constant(x_size(), -data_->limit); }
  [[nodiscard]] Vector upper_bound() const { return Vector::Constant(x_size(), data_->limit); }

private:
  std::shared_ptr<const Data> data_;
};

extern template class Denoising<double>;
extern template class Denoising<long double>;

} // namespace duplex::zoo
