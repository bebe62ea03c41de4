#include <duplex/problems/counter_example.hpp>

#include <duplex/core/memory.hpp>
#include <duplex/numerics/matrix_file.hpp>

#include <utility>

namespace duplex {

namespace {

template <class Scalar, class Matrix> auto with_ones(Matrix a, double start) {
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const Index size = a.size();
  return AnyProblem<Vector>(CounterExample<Scalar, Matrix>(std::move(a), Vector::Ones(size), start));
}

} // namespace

template <class Scalar> AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> CounterExampleSettings::make() const {
  if (!matrix_file.empty()) {
    const auto entries = read_matrix_file(matrix_file);
    try {
      return with_ones<Scalar>(DenseSpd<Scalar>(entries.template cast<Scalar>()), start);
    } catch (const InvalidInput &reason) {
      throw InvalidInput(matrix_file + ": " + reason.what());
    }
  }
  require_memory(sizeof(Scalar) * numbers(), "counter-example with n = " + std::to_string(n));
  if (matrix == MatrixKind::identity) {
    return with_ones<Scalar>(IdentityMatrix(n), start);
  }
  const auto spectrum = log_spaced_spectrum<Scalar>(n, condition, smallest);
  if (matrix == MatrixKind::diagonal) {
    return with_ones<Scalar>(DiagonalSpd<Scalar>(spectrum), start);
  }
  return with_ones<Scalar>(DenseSpd<Scalar>::with_spectrum(spectrum, seed), start);
}

template AnyProblem<Eigen::VectorXf> CounterExampleSettings::make<float>() const;
template AnyProblem<Eigen::VectorXd> CounterExampleSettings::make<double>() const;

} // namespace duplex
