#pragma once
// The data of the families: drawn alike with every standard library, and held exactly by float, double and long double,
// so that all three see one and the same problem.

#include <duplex/space/space.hpp>

#include <cmath>
#include <cstdint>
#include <random>

namespace duplex::zoo {

template <class T> using VectorOver = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T> using MatrixOver = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// The nearest number with the 24 bits of a float, by Veltkamp's splitting. A cast to float and back would do, but g++
/// 12 leaves out pairs of such casts that it turns into vectors.
[[nodiscard]] inline double to_24_bits(double value) {
  const double far = value * 536870913.0; // 2²⁹ + 1
  return far - (far - value);
}

/// A number, a vector or a matrix to float's precision.
template <class T> [[nodiscard]] T rounded(double value) { return static_cast<T>(to_24_bits(value)); }
template <class T> [[nodiscard]] VectorOver<T> rounded(const Eigen::VectorXd &values) {
  return values.unaryExpr(&to_24_bits).cast<T>();
}
template <class T> [[nodiscard]] MatrixOver<T> rounded(const Eigen::MatrixXd &values) {
  return values.unaryExpr(&to_24_bits).cast<T>();
}

class Draws {
public:
  explicit Draws(std::uint64_t seed) : generator_(seed) {}

  /// A multiple of 2⁻²⁰ in [0, 1).
  [[nodiscard]] double uniform() { return static_cast<double>(generator_() >> 44U) / 1048576.0; }

  /// Twelve uniform numbers less six: of mean 0 and variance 1, normal to the eye, and without a library's logarithm.
  [[nodiscard]] double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
      sum += uniform();
    }
    return sum;
  }

  [[nodiscard]] Eigen::VectorXd normals(Index size) { return normals(size, 1); }
  [[nodiscard]] Eigen::MatrixXd normals(Index rows, Index columns) {
    return filled(rows, columns, [this] { return normal(); });
  }
  [[nodiscard]] Eigen::VectorXd uniforms(Index size) {
    return filled(size, 1, [this] { return uniform(); });
  }

  /// Whole numbers from −2 to 2, whose sums of products are exact: a matrix that is made of them has the rank that it
  /// is meant to have.
  [[nodiscard]] Eigen::MatrixXd small_integers(Index rows, Index columns) {
    return filled(rows, columns, [this] { return std::floor(5.0 * uniform()) - 2.0; });
  }

private:
  /// Column by column.
  template <class Draw> static Eigen::MatrixXd filled(Index rows, Index columns, const Draw &draw) {
    Eigen::MatrixXd out(rows, columns);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) {
        out(i, j) = draw();
      }
    }
    return out;
  }

  std::mt19937_64 generator_;
};

/// Of an upper level: the lower one has no gradient in x.
template <class Level, class Vector>
concept HasUpperSlope = requires(Level &level, Vector &out) {
  level.grad_x(out);
};

/// The k-th of ten starts: `first` itself, and then `first` moved by normal numbers of standard deviation `spread`.
template <class T> [[nodiscard]] VectorOver<T> start_near(const Eigen::VectorXd &first, double spread, int k) {
  if (k == 0) {
    return rounded<T>(first);
  }
  Draws draws(1000U + static_cast<std::uint64_t>(k));
  return rounded<T>(Eigen::VectorXd(first + spread * draws.normals(first.size())));
}

} // namespace duplex::zoo
