#pragma once
// Products of matrices over the three scalars of the zoo, compiled once: Eigen's are what takes long to compile in a
// family's file, over long double above all.

#include "zoo/draws.hpp"

#include <type_traits>

namespace duplex::zoo {

/// Where a matrix may also be the entries of a vector, which do not say what T is.
template <class T> using MatrixLike = std::type_identity_t<Eigen::Ref<const MatrixOver<T>>>;

/// out = matrix·v
template <class T> void multiply(const MatrixOver<T> &matrix, const VectorOver<T> &v, VectorOver<T> &out);
/// out = matrixᵀ·v
template <class T> void multiply_transposed(const MatrixOver<T> &matrix, const VectorOver<T> &v, VectorOver<T> &out);

/// out = matrix·right
template <class T> void multiply_columns(const MatrixOver<T> &matrix, const MatrixLike<T> &right, MatrixOver<T> &out);
/// out = matrixᵀ·right
template <class T>
void multiply_columns_transposed(const MatrixOver<T> &matrix, const MatrixOver<T> &right,
                                 std::type_identity_t<Eigen::Ref<MatrixOver<T>>> out);

/// out = matrixᵀ diag(weights) matrix
template <class T> void weighted_gram(const MatrixOver<T> &matrix, const VectorOver<T> &weights, MatrixOver<T> &out);
/// out = matrixᵀ matrix
template <class T> void gram(const MatrixOver<T> &matrix, MatrixOver<T> &out);

} // namespace duplex::zoo
