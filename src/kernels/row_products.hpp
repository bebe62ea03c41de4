#pragma once
// Products of a block of rows with few columns of weights, and what softmax regression does
// with them. Compiled for several instruction sets and dispatched at run time. Plain arrays in
// and out, one thread; blocks stay in the second cache between the products.
//
// Rows lie `width` numbers apart, where width is a multiple of `padding` and the numbers after
// the last feature are zero. Weights and gradients, a number per class and feature, lie in
// groups of `padding` features, [feature / padding][class][padding]: one stream of memory.
// Numbers per sample and class lie class after class, [class][block_rows], so that softmax
// goes over samples in vectors.

#include <duplex/kernels/feature_table.hpp>

#include <cstddef>
#include <cstdint>

namespace duplex::kernels {

inline constexpr std::size_t padding = 16;
inline constexpr std::size_t block_rows = 48; ///< a multiple of every tile's height and of 16

[[nodiscard]] constexpr std::size_t padded(std::size_t columns) { return (columns + padding - 1) / padding * padding; }

/// Where the weight of a class for a feature lies.
[[nodiscard]] constexpr std::size_t panel_place(std::size_t column, std::size_t output, std::size_t outputs) {
  return (column / padding * outputs + output) * padding + column % padding;
}

/// A block's rows: as T, or as bytes where the kernels read those.
template <class T> struct Rows {
  const T *values = nullptr;
  const std::uint8_t *bytes = nullptr;
};

/// Memory that is wanted soon: a product asks for it while it computes.
struct Ahead {
  const std::byte *bytes = nullptr;
  std::size_t count = 0;
};

template <class T> struct RowKernels {
  /// Rows as stored → rows `width` apart, zeros after the last feature.
  void (*decode)(const std::byte *stored, Storage storage, std::size_t rows, std::size_t columns, T *out,
                 std::size_t width);
  /// out[c][i] = Σ_j rows[i][j] weights[c][j]
  void (*forward)(Rows<T> rows, std::size_t count, std::size_t width, const T *weights, std::size_t outputs, T *out,
                  Ahead ahead);
  /// gradient[c][j] += Σ_i residual[c][i] rows[i][j]
  void (*backward)(Rows<T> rows, std::size_t count, std::size_t width, const T *residual, std::size_t outputs,
                   T *gradient);
  /// Scores above the last class → probabilities of all classes but the last, in place:
  /// p_c = e^{z_c} / (1 + Σ e^{z}). Where `log_sum` is given, log(1 + Σ e^{z}) goes there.
  void (*softmax)(T *scores, const T *bias, std::size_t outputs, T *log_sum);
  /// u_c = w p_c (s_c − Σ_l p_l s_l), the Hessian of cross-entropy applied to s; s gets its bias here.
  void (*curve)(const T *p, const T *s, const T *bias, const T *weight, std::size_t outputs, T *u);
  /// value = σ(x), slope = σ(x)(1 − σ(x))
  void (*sigmoid)(const T *x, std::size_t count, T *value, T *slope);
  /// Products read bytes as fast as numbers, where the rows' width needs no padding.
  bool reads_bytes;
};

/// For this machine's instruction set; T is float or double.
template <class T> [[nodiscard]] RowKernels<T> row_kernels();
template <> RowKernels<float> row_kernels<float>();
template <> RowKernels<double> row_kernels<double>();

} // namespace duplex::kernels
