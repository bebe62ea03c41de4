#include "zoo/products.hpp"

namespace duplex::zoo {

template <class T> void multiply(const MatrixOver<T> &matrix, const VectorOver<T> &v, VectorOver<T> &out) {
  out.noalias() = matrix * v;
}

template <class T> void multiply_transposed(const MatrixOver<T> &matrix, const VectorOver<T> &v, VectorOver<T> &out) {
  out.noalias() = matrix.transpose() * v;
}

template <class T> void multiply_columns(const MatrixOver<T> &matrix, const MatrixLike<T> &right, MatrixOver<T> &out) {
  out.noalias() = matrix * right;
}

template <class T>
void multiply_columns_transposed(const MatrixOver<T> &matrix, const MatrixOver<T> &right,
                                 std::type_identity_t<Eigen::Ref<MatrixOver<T>>> out) {
  out.noalias() = matrix.transpose() * right;
}

template <class T> void weighted_gram(const MatrixOver<T> &matrix, const VectorOver<T> &weights, MatrixOver<T> &out) {
  out.noalias() = matrix.transpose() * weights.asDiagonal() * matrix;
}

template <class T> void gram(const MatrixOver<T> &matrix, MatrixOver<T> &out) {
  out.noalias() = matrix.transpose() * matrix;
}

// A type cannot stand in parentheses where it is an argument of a template.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DUPLEX_ZOO_PRODUCTS_OVER(T)                                                                                    \
  template void multiply(const MatrixOver<T> &, const VectorOver<T> &, VectorOver<T> &);                               \
  template void multiply_transposed(const MatrixOver<T> &, const VectorOver<T> &, VectorOver<T> &);                    \
  template void multiply_columns<T>(const MatrixOver<T> &, const MatrixLike<T> &, MatrixOver<T> &);                    \
  template void multiply_columns_transposed<T>(const MatrixOver<T> &, const MatrixOver<T> &,                           \
                                               Eigen::Ref<MatrixOver<T>>);                                             \
  template void weighted_gram(const MatrixOver<T> &, const VectorOver<T> &, MatrixOver<T> &);                          \
  template void gram(const MatrixOver<T> &, MatrixOver<T> &);
DUPLEX_ZOO_PRODUCTS_OVER(float)
DUPLEX_ZOO_PRODUCTS_OVER(double)
DUPLEX_ZOO_PRODUCTS_OVER(long double)
#undef DUPLEX_ZOO_PRODUCTS_OVER
// NOLINTEND(bugprone-macro-parentheses)

} // namespace duplex::zoo
