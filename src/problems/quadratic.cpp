#include <duplex/problems/quadratic.hpp>

#include <duplex/core/memory.hpp>

#include <duplex/numerics/matrices.hpp>

#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace duplex {

template <class Scalar> Quadratic<Scalar>::Quadratic(Data data) : data_(std::make_shared<const Data>(std::move(data))) {
  const Index n = data_->cross.rows();
  const Index m = data_->cross.cols();
  const auto square = [](const Matrix &matrix, Index size) { return matrix.rows() == size && matrix.cols() == size; };
  if (n < 1 || m < 1 || !square(data_->upper_hessian, n + m) || data_->upper_linear.size() != n + m ||
      !square(data_->lower_hessian, m) || data_->lower_linear.size() != m) {
    throw InvalidInput("quadratic: sizes do not fit: C is " + std::to_string(n) + " by " + std::to_string(m) +
                       ", so G must have n + m and H must have m rows");
  }
  if (!data_->upper_hessian.isApprox(data_->upper_hessian.transpose()) ||
      !data_->lower_hessian.isApprox(data_->lower_hessian.transpose())) {
    throw InvalidInput("quadratic: G and H must be symmetric");
  }
  factor_ = dense::SymmetricFactor<Scalar>(data_->lower_hessian);
}

template <class Scalar> const typename Quadratic<Scalar>::Vector &Quadratic<Scalar>::Lower::hy() {
  return hy_.get([&](Vector &out) { out.noalias() = data_->lower_hessian * this->y(); });
}

template <class Scalar> double Quadratic<Scalar>::Lower::value() {
  linear_.noalias() = data_->cross.transpose() * this->x();
  linear_ += data_->lower_linear;
  return 0.5 * dot(this->y(), hy()) + dot(this->y(), linear_);
}

template <class Scalar> void Quadratic<Scalar>::Lower::grad_x(Vector &out) { out.noalias() = data_->cross * this->y(); }

template <class Scalar> void Quadratic<Scalar>::Lower::grad_y(Vector &out) {
  out = hy() + data_->lower_linear;
  out.noalias() += data_->cross.transpose() * this->x();
}

template <class Scalar> void Quadratic<Scalar>::Lower::hess_yy(const Vector &v, Vector &out) {
  out.noalias() = data_->lower_hessian * v;
}

template <class Scalar> void Quadratic<Scalar>::Lower::cross_xy(const Vector &v, Vector &out) {
  out.noalias() = data_->cross * v;
}

template <class Scalar> double Quadratic<Scalar>::Upper::value() {
  grad_x(gx_);
  grad_y(gy_);
  const auto &g = data_->upper_linear;
  return 0.5 * static_cast<double>(this->x().dot(gx_ + g.head(gx_.size())) + this->y().dot(gy_ + g.tail(gy_.size())));
}

template <class Scalar> void Quadratic<Scalar>::Upper::grad_x(Vector &out) {
  const Index n = this->x().size();
  out = data_->upper_linear.head(n);
  out.noalias() += data_->upper_hessian.topLeftCorner(n, n) * this->x();
  out.noalias() += data_->upper_hessian.topRightCorner(n, this->y().size()) * this->y();
}

template <class Scalar> void Quadratic<Scalar>::Upper::grad_y(Vector &out) {
  const Index m = this->y().size();
  out = data_->upper_linear.tail(m);
  out.noalias() += data_->upper_hessian.bottomLeftCorner(m, this->x().size()) * this->x();
  out.noalias() += data_->upper_hessian.bottomRightCorner(m, m) * this->y();
}

template <class Scalar> void Quadratic<Scalar>::Upper::hess_yy(const Vector &v, Vector &out) {
  out.noalias() = data_->upper_hessian.bottomRightCorner(v.size(), v.size()) * v;
}

template <class Scalar> void Quadratic<Scalar>::Upper::cross_xy(const Vector &v, Vector &out) {
  out.noalias() = data_->upper_hessian.topRightCorner(data_->cross.rows(), v.size()) * v;
}

template <class Scalar> std::optional<Answer<typename Quadratic<Scalar>::Vector>> Quadratic<Scalar>::answer() const {
  const Index n = x_size();
  const Index m = y_size();
  Matrix kkt = Matrix::Zero(n + 2 * m, n + 2 * m);
  kkt.topLeftCorner(n + m, n + m) = data_->upper_hessian;
  kkt.block(n + m, 0, m, n) = data_->cross.transpose();
  kkt.block(n + m, n, m, m) = data_->lower_hessian;
  kkt.topRightCorner(n + m, m) = -kkt.bottomLeftCorner(m, n + m).transpose();
  Vector right(n + 2 * m);
  right << -data_->upper_linear, -data_->lower_linear;
  const Vector z = dense::least_squares<Scalar>(kkt, right);
  const Scalar rounding = Scalar(1e3) * static_cast<Scalar>(n + 2 * m) * Eigen::NumTraits<Scalar>::epsilon();
  if (!((kkt * z - right).norm() <= rounding * (kkt.norm() * z.norm() + right.norm()))) {
    return std::nullopt; // the constraints contradict each other: H is flat where C does not reach
  }
  Answer<Vector> answer{z.head(n), z.segment(n, m), z.tail(m), 0.0};
  auto up = upper();
  up.at(answer.x, answer.y);
  answer.value = up.value();
  return answer;
}

template <class Scalar> bool Quadratic<Scalar>::respond(const Vector &x, Vector &y, Vector &v) const {
  if (!factor_.is_positive_definite()) {
    return false;
  }
  const Vector right = -data_->lower_linear - data_->cross.transpose() * x;
  factor_.solve(right, y);
  auto up = upper();
  up.at(x, y);
  Vector slope(y.size());
  up.grad_y(slope);
  factor_.solve(slope, v);
  return true;
}

template <class Scalar> ProblemConstants Quadratic<Scalar>::constants() const {
  const Index n = x_size();
  const Index m = y_size();
  Matrix full = Matrix::Zero(n + m, n + m);
  full.topRightCorner(n, m) = data_->cross;
  full.bottomLeftCorner(m, n) = data_->cross.transpose();
  full.bottomRightCorner(m, m) = data_->lower_hessian;
  const auto largest = [](const Matrix &matrix) {
    return static_cast<double>(dense::symmetric_spectrum<Scalar>(matrix).values.cwiseAbs().maxCoeff());
  };
  ProblemConstants constants;
  constants.sigma = static_cast<double>(dense::symmetric_spectrum<Scalar>(data_->lower_hessian).values[0]);
  constants.lower_lipschitz = largest(full);
  constants.upper_lipschitz = largest(data_->upper_hessian);
  return constants;
}

namespace {

template <class Scalar> dense::Matrix<Scalar> random_matrix(std::mt19937_64 &generator, Index rows, Index columns) {
  dense::Matrix<Scalar> out(rows, columns);
  dense::Vector<Scalar> column(rows);
  for (Index j = 0; j < columns; ++j) {
    fill_normal(generator, column);
    out.col(j) = column;
  }
  return out;
}

} // namespace

template <class Scalar> Quadratic<Scalar> QuadraticSettings::generate() const {
  if (null_space > m) {
    throw InvalidInput("quadratic: null-space = " + std::to_string(null_space) +
                       ", expected at most m = " + std::to_string(m));
  }
  require_memory(sizeof(Scalar) * numbers(),
                 "quadratic with n = " + std::to_string(n) + " and m = " + std::to_string(m));
  using Vector = typename Quadratic<Scalar>::Vector;
  using Matrix = typename Quadratic<Scalar>::Matrix;
  std::mt19937_64 generator(seed);
  const auto random_vector = [&](Index size) {
    Vector out(size);
    fill_normal(generator, out);
    return out;
  };
  typename Quadratic<Scalar>::Data data;
  data.upper_hessian = DenseSpd<Scalar>::with_spectrum(
                           log_spaced_spectrum<Scalar>(n + m, upper_condition, 1.0 / upper_condition), generator())
                           .entries();
  Vector spectrum = log_spaced_spectrum<Scalar>(m, condition, 1.0 / condition);
  const Matrix basis = dense::orthonormal_basis<Scalar>(random_matrix<Scalar>(generator, m, m));
  spectrum.head(null_space).setZero();
  data.lower_hessian = basis * spectrum.asDiagonal() * basis.transpose();
  data.lower_hessian = (Scalar(0.5) * (data.lower_hessian + data.lower_hessian.transpose())).eval();
  data.cross = random_matrix<Scalar>(generator, n, m);
  data.cross *= static_cast<Scalar>(coupling / (std::sqrt(static_cast<double>(n)) + std::sqrt(static_cast<double>(m))));
  data.upper_linear = random_vector(n + m);
  data.lower_linear = random_vector(m);
  return Quadratic<Scalar>(std::move(data));
}

template <class Scalar> Quadratic<Scalar> Quadratic<Scalar>::in_units(const Units &units) const {
  Data scaled = *data_;
  Vector shrink(x_size() + y_size()); // x = units.x·x̃, y = units.y·ỹ
  shrink << Vector::Constant(x_size(), static_cast<Scalar>(1.0 / units.x)),
      Vector::Constant(y_size(), static_cast<Scalar>(1.0 / units.y));
  const auto upper_unit = static_cast<Scalar>(units.upper);
  scaled.upper_hessian = (upper_unit * (shrink.asDiagonal() * scaled.upper_hessian * shrink.asDiagonal())).eval();
  scaled.upper_linear = (upper_unit * shrink.cwiseProduct(scaled.upper_linear)).eval();
  scaled.lower_hessian *= static_cast<Scalar>(units.lower / (units.y * units.y));
  scaled.cross *= static_cast<Scalar>(units.lower / (units.x * units.y));
  scaled.lower_linear *= static_cast<Scalar>(units.lower / units.y);
  return Quadratic(std::move(scaled));
}

template <class Scalar> AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> QuadraticSettings::make() const {
  return generate<Scalar>();
}

template class Quadratic<float>;
template class Quadratic<double>;
template Quadratic<float> QuadraticSettings::generate() const;
template Quadratic<double> QuadraticSettings::generate() const;
template AnyProblem<Eigen::VectorXf> QuadraticSettings::make<float>() const;
template AnyProblem<Eigen::VectorXd> QuadraticSettings::make<double>() const;

} // namespace duplex
