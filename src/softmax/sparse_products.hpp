#pragma once
// Products of sparse rows with few columns of weights. Weights and gradients lie feature after feature, the outputs of
// a feature together and padded with zeros: an entry of a row is one run of memory. One thread; sums go entry by entry.

#include "kernels/row_products.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace duplex::softmax {

inline constexpr std::size_t sparse_tile = 8; ///< outputs that are worked on at once

/// Numbers from one feature to the next.
[[nodiscard]] constexpr std::size_t sparse_stride(std::size_t outputs) {
  return (outputs + sparse_tile - 1) / sparse_tile * sparse_tile;
}

/// out[c][i] = Σ_j rows[i][j] weights[j][c], rows `first` … `first` + count − 1 of the table.
template <class T>
void sparse_forward(const FeatureTable &table, Index first, std::size_t count, const T *weights, std::size_t outputs,
                    T *out) {
  const std::size_t stride = sparse_stride(outputs);
  for (std::size_t i = 0; i < count; ++i) {
    const SparseRow row = table.sparse_row(first + static_cast<Index>(i));
    for (std::size_t c = 0; c < outputs; c += sparse_tile) {
      std::array<T, sparse_tile> sums{};
      for (std::size_t entry = 0; entry < row.values.size(); ++entry) {
        const T value = static_cast<T>(row.values[entry]);
        const T *own = weights + row.columns[entry] * stride + c;
        for (std::size_t k = 0; k < sparse_tile; ++k) {
          sums[k] += value * own[k];
        }
      }
      for (std::size_t k = 0; k < std::min(sparse_tile, outputs - c); ++k) {
        out[(c + k) * kernels::block_rows + i] = sums[k];
      }
    }
  }
}

/// gradient[j][c] += Σ_i residual[c][i] rows[i][j]
template <class T>
void sparse_backward(const FeatureTable &table, Index first, std::size_t count, const T *residual, std::size_t outputs,
                     T *gradient) {
  const std::size_t stride = sparse_stride(outputs);
  for (std::size_t i = 0; i < count; ++i) {
    const SparseRow row = table.sparse_row(first + static_cast<Index>(i));
    for (std::size_t c = 0; c < outputs; c += sparse_tile) {
      std::array<T, sparse_tile> factors{};
      for (std::size_t k = 0; k < std::min(sparse_tile, outputs - c); ++k) {
        factors[k] = residual[(c + k) * kernels::block_rows + i];
      }
      for (std::size_t entry = 0; entry < row.values.size(); ++entry) {
        const T value = static_cast<T>(row.values[entry]);
        T *own = gradient + row.columns[entry] * stride + c;
        for (std::size_t k = 0; k < sparse_tile; ++k) {
          own[k] += value * factors[k];
        }
      }
    }
  }
}

} // namespace duplex::softmax
