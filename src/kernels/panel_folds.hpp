#pragma once
// Weights as solvers have them, class after class with the bias last, to and from the panels that row_products.hpp
// works on: relative to the last class, and with the features' scaling folded in,
//
//   Σ_j (shift_j + scale_j q_j) y_j + b = Σ_j q_j (scale_j y_j) + (b + Σ_j shift_j y_j).
//
// Compiled for several instruction sets and dispatched at run time; each gives the same bits.

#include <cstddef>

namespace duplex::kernels {

/// A number for each feature; null where features are as they are stored.
struct FeatureScaling {
  const float *scale = nullptr;
  const float *shift = nullptr;
};

template <class T> struct PanelFolds {
  /// y: outputs + 1 times columns + 1 numbers.
  void (*fold)(const T *y, std::size_t columns, std::size_t outputs, FeatureScaling scaling, T *weights, T *bias);
  /// The other way for a gradient: out_k = factor (scale ∘ weights_k + shift bias_k), the last class minus the sum.
  void (*unfold)(const T *weights, const T *bias, std::size_t columns, std::size_t outputs, FeatureScaling scaling,
                 T factor, T *out);
};

/// For this machine's instruction set; T is float or double.
template <class T> [[nodiscard]] PanelFolds<T> panel_folds();
template <> PanelFolds<float> panel_folds<float>();
template <> PanelFolds<double> panel_folds<double>();

} // namespace duplex::kernels
