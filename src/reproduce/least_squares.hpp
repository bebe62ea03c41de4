#pragma once
// Least squares on both levels. Where A is wide, or has rows that depend on others, the lower level has many
// minimizers.

#include <duplex/problem/problem.hpp>

#include <utility>

namespace duplex::reproduce {

/// f = ½‖Ay − Bx‖², F = ½‖y − c‖² + ‖x‖²/200, products as a user would write them.
class LeastSquares {
public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::MatrixXd;
  struct Data {
    Matrix a;
    Matrix b;
    Vector c;
  };
  static constexpr double weight = 0.01;

  explicit LeastSquares(Data data) : data_(std::move(data)) {}

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    [[nodiscard]] double value() const { return 0.5 * (data_->a * y() - data_->b * x()).squaredNorm(); }
    void grad_y(Vector &out) const { out = data_->a.transpose() * (data_->a * y() - data_->b * x()); }
    void hess_yy(const Vector &v, Vector &out) const { out = data_->a.transpose() * (data_->a * v); }
    void cross_xy(const Vector &v, Vector &out) const { out = -(data_->b.transpose() * (data_->a * v)); }

  private:
    const Data *data_;
  };
  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] double value() const {
      return 0.5 * (y() - data_->c).squaredNorm() + 0.5 * weight * x().squaredNorm();
    }
    void grad_x(Vector &out) const { out = weight * x(); }
    void grad_y(Vector &out) const { out = y() - data_->c; }
    void hess_yy(const Vector &v, Vector &out) const { out = v; }
    void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(); }

  private:
    const Data *data_;
  };

  [[nodiscard]] Lower lower() const { return Lower(data_); }
  [[nodiscard]] Upper upper() const { return Upper(data_); }
  [[nodiscard]] Index x_size() const { return data_.b.cols(); }
  [[nodiscard]] Index y_size() const { return data_.a.cols(); }
  [[nodiscard]] State<Vector> start() const {
    return {Vector::Zero(x_size()), Vector::Zero(y_size()), Vector::Zero(y_size())};
  }
  [[nodiscard]] const Data &data() const { return data_; }

private:
  Data data_;
};

} // namespace duplex::reproduce
