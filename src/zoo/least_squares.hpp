#pragma once
// Least squares with many solutions, of which the upper level wants the best:
//
//   f = ½‖Ay − Bx‖²,   F = ½‖y − c‖² + (ρ/2)‖x‖²,   ρ = 1/100.
//
// A is wide, or tall with dependent columns and Bx out of its reach. Its rank is exact: it is made of small integers.
// y is a minimizer where AᵀAy = AᵀBx, and with a multiplier v of that equation the answer solves the linear system
//
//   ρx − BᵀAv = 0,   y − c + AᵀAv = 0,   AᵀAy − AᵀBx = 0.

#include "zoo/products.hpp"

#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <memory>

namespace duplex::zoo {

struct LeastSquaresSettings {
  Index rows = 15;
  Index columns = 40;
  Index rank = 15;
  Index x_size = 10;
  std::uint64_t seed = 0;
};

/// The shortest solution of a system that may be singular, by a decomposition that is compiled once.
template <class T> [[nodiscard]] VectorOver<T> solve_singular(const MatrixOver<T> &system, const VectorOver<T> &right);
template <> VectorOver<double> solve_singular(const MatrixOver<double> &system, const VectorOver<double> &right);
template <>
VectorOver<long double> solve_singular(const MatrixOver<long double> &system, const VectorOver<long double> &right);

template <class T> class LeastSquares {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Matrix a;
    Matrix b;
    Vector wanted; ///< c
    T prior;       ///< ρ
  };

  explicit LeastSquares(const LeastSquaresSettings &settings) {
    Draws draws(settings.seed);
    Eigen::MatrixXd a = draws.small_integers(settings.rows, settings.columns);
    if (settings.rank < std::min(settings.rows, settings.columns)) {
      a = draws.small_integers(settings.rows, settings.rank) * draws.small_integers(settings.rank, settings.columns);
    }
    const Eigen::MatrixXd b = draws.normals(settings.rows, settings.x_size);
    const Eigen::VectorXd wanted = draws.normals(settings.columns);
    data_ = std::make_shared<const Data>(Data{rounded<T>(a), rounded<T>(b), rounded<T>(wanted), rounded<T>(0.01)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      misfit_.forget();
    }
    [[nodiscard]] T value() { return T(0.5) * misfit().squaredNorm(); }
    void grad_y(Vector &out) { multiply_transposed(data_->a, misfit(), out); }
    void hess_yy(const Vector &v, Vector &out) {
      multiply(data_->a, v, image_);
      multiply_transposed(data_->a, image_, out);
    }
    void cross_xy(const Vector &v, Vector &out) {
      multiply(data_->a, v, image_);
      multiply_transposed(data_->b, image_, out);
      out = -out;
    }
    void hessian(Matrix &out) const { gram(data_->a, out); }

  private:
    const Vector &misfit() {
      return misfit_.get([&](Vector &out) {
        multiply(data_->a, this->y(), out);
        multiply(data_->b, this->x(), image_);
        out -= image_;
      });
    }

    const Data *data_;
    Kept<Vector> misfit_;
    Vector image_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] T value() const {
      return T(0.5) * (this->y() - data_->wanted).squaredNorm() + T(0.5) * data_->prior * this->x().squaredNorm();
    }
    void grad_x(Vector &out) const { out = data_->prior * this->x(); }
    void grad_y(Vector &out) const { out = this->y() - data_->wanted; }
    void hess_yy(const Vector &v, Vector &out) const { out = v; }
    void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(this->x().size()); }

  private:
    const Data *data_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return data_->b.cols(); }
  [[nodiscard]] Index y_size() const { return data_->a.cols(); }
  [[nodiscard]] State<Vector> start(int k = 0) const {
    return {start_near<T>(Eigen::VectorXd::Zero(x_size()), 1.0, k), Vector::Zero(y_size()), {}};
  }

  /// x and y of the system above. It is singular, since v is free where A vanishes, and consistent; a decomposition
  /// with pivoting finds its rank.
  [[nodiscard]] State<Vector> direct_answer() const {
    const Index n = y_size();
    const Index m = x_size();
    Matrix normal;
    gram(data_->a, normal);
    Matrix tilt(n, m);
    multiply_columns_transposed(data_->a, data_->b, tilt);
    Matrix system = Matrix::Zero(m + 2 * n, m + 2 * n);
    system.topLeftCorner(m, m).diagonal().setConstant(data_->prior);
    system.topRightCorner(m, n) = -tilt.transpose();
    system.block(m, m, n, n).setIdentity();
    system.block(m, m + n, n, n) = normal;
    system.block(m + n, 0, n, m) = -tilt;
    system.block(m + n, m, n, n) = normal;
    Vector right = Vector::Zero(m + 2 * n);
    right.segment(m, n) = data_->wanted;
    const Vector solution = solve_singular<T>(system, right);
    return {solution.head(m), solution.segment(m, n), solution.tail(n)};
  }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
