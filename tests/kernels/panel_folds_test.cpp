// Weights folded into panels and gradients unfolded from them, beside the formulas, to the bit.

#include "kernels/panel_folds.hpp"
#include "kernels/row_products.hpp"
#include "support.hpp"

#include <cstddef>
#include <vector>

namespace duplex::testing {
namespace {

using kernels::padding;
using kernels::panel_place;

template <class T> std::vector<T> drawn_numbers(std::size_t count, unsigned seed) {
  const Vec numbers = random_vector(static_cast<Index>(count), seed);
  return {numbers.begin(), numbers.end()};
}

struct PanelCase {
  std::size_t columns;
  std::size_t outputs;
  bool scaled;
};
/// Fewer features than a group has, whole groups, and a rest after them.
const std::vector<PanelCase> panel_cases{{1, 1, false},  {15, 3, true}, {16, 9, true},
                                         {48, 2, false}, {85, 9, true}, {85, 4, false}};

/// The sums of the shifts are added up in as many parts as a group has features.
template <class T> void expect_folds_like_the_formula(const PanelCase &of) {
  const std::size_t stride = of.columns + 1;
  const auto y = drawn_numbers<T>((of.outputs + 1) * stride, 1);
  const auto scale = drawn_numbers<float>(of.columns, 2);
  const auto shift = drawn_numbers<float>(of.columns, 3);
  std::vector<T> weights(kernels::padded(of.columns) * of.outputs, T(-7));
  std::vector<T> bias(of.outputs);
  const kernels::FeatureScaling scaling =
      of.scaled ? kernels::FeatureScaling{.scale = scale.data(), .shift = shift.data()} : kernels::FeatureScaling();
  kernels::panel_folds<T>().fold(y.data(), of.columns, of.outputs, scaling, weights.data(), bias.data());
  for (std::size_t c = 0; c < of.outputs; ++c) {
    std::vector<T> shifted(padding, T(0));
    for (std::size_t j = 0; j < of.columns; ++j) {
      const T weight = y[c * stride + j] - y[of.outputs * stride + j];
      const T moved = static_cast<T>(shift[j]) * weight;
      shifted[j % padding] += of.scaled ? moved : T(0);
      const T expected = of.scaled ? weight * static_cast<T>(scale[j]) : weight;
      EXPECT_EQ(weights[panel_place(j, c, of.outputs)], expected) << of.columns << ", " << c << ", " << j;
    }
    T expected = y[c * stride + of.columns] - y[of.outputs * stride + of.columns];
    for (const T sum : shifted) {
      expected += sum;
    }
    EXPECT_EQ(bias[c], expected) << of.columns << ", " << c;
  }
}

template <class T> void expect_unfolds_like_the_formula(const PanelCase &of) {
  const std::size_t stride = of.columns + 1;
  const auto weights = drawn_numbers<T>(kernels::padded(of.columns) * of.outputs, 4);
  const auto bias = drawn_numbers<T>(of.outputs, 5);
  const auto scale = drawn_numbers<float>(of.columns, 2);
  const auto shift = drawn_numbers<float>(of.columns, 3);
  const kernels::FeatureScaling scaling =
      of.scaled ? kernels::FeatureScaling{.scale = scale.data(), .shift = shift.data()} : kernels::FeatureScaling();
  const T factor = T(0.3);
  std::vector<T> out((of.outputs + 1) * stride, T(-7));
  kernels::panel_folds<T>().unfold(weights.data(), bias.data(), of.columns, of.outputs, scaling, factor, out.data());
  for (std::size_t j = 0; j <= of.columns; ++j) {
    T last = 0;
    for (std::size_t c = 0; c < of.outputs; ++c) {
      T sum = j < of.columns ? weights[panel_place(j, c, of.outputs)] : bias[c];
      if (of.scaled && j < of.columns) {
        const T of_scale = static_cast<T>(scale[j]) * sum;
        const T of_shift = static_cast<T>(shift[j]) * bias[c];
        sum = of_scale + of_shift;
      }
      EXPECT_EQ(out[c * stride + j], factor * sum) << of.columns << ", " << c << ", " << j;
      last -= factor * sum;
    }
    EXPECT_EQ(out[of.outputs * stride + j], last) << of.columns << ", the last class, " << j;
  }
}

TEST(PanelFolds, FoldWeightsByTheFormulaToTheBit) {
  for (const PanelCase &of : panel_cases) {
    expect_folds_like_the_formula<float>(of);
    expect_folds_like_the_formula<double>(of);
  }
}

TEST(PanelFolds, UnfoldGradientsByTheFormulaToTheBit) {
  for (const PanelCase &of : panel_cases) {
    expect_unfolds_like_the_formula<float>(of);
    expect_unfolds_like_the_formula<double>(of);
  }
}

} // namespace
} // namespace duplex::testing
