#include "kernels/panel_folds.hpp"

#include "kernels/row_products.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel_folds.cpp" // NOLINT(cppcoreguidelines-macro-usage): how Highway recompiles
#include <hwy/foreach_target.h>                      // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace duplex::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> using FoldTag = hn::CappedTag<T, padding>;

template <class D> HWY_INLINE hn::Vec<D> load_floats(D d, const float *from) {
  if constexpr (std::same_as<hn::TFromD<D>, float>) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
  }
}

// Products are rounded before they are added, or a machine with fused multiply-adds would have other bits.

template <class T>
void fold(const T *HWY_RESTRICT y, std::size_t columns, std::size_t outputs, FeatureScaling scaling,
          T *HWY_RESTRICT weights, T *HWY_RESTRICT bias) {
  const FoldTag<T> d;
  constexpr std::size_t lanes = hn::MaxLanes(FoldTag<T>());
  const bool scaled = scaling.scale != nullptr;
  const std::size_t stride = columns + 1;
  const std::size_t whole = columns / padding * padding;
  const T *last = y + outputs * stride;
  for (std::size_t c = 0; c < outputs; ++c) {
    const T *own = y + c * stride;
    hn::Vec<FoldTag<T>> shifted[padding / lanes];
    for (auto &sum : shifted) {
      sum = hn::Zero(d);
    }
    for (std::size_t first = 0; first < whole; first += padding) {
      T *out = weights + panel_place(first, c, outputs);
      for (std::size_t j = 0; j < padding; j += lanes) {
        auto weight = hn::Sub(hn::LoadU(d, own + first + j), hn::LoadU(d, last + first + j));
        if (scaled) {
          auto &sum = shifted[j / lanes];
          sum = hn::Add(sum, hn::Mul(load_floats(d, scaling.shift + first + j), weight));
          weight = hn::Mul(weight, load_floats(d, scaling.scale + first + j));
        }
        hn::StoreU(weight, d, out + j);
      }
    }
    std::array<T, padding> sums{};
    for (std::size_t j = 0; j < padding; j += lanes) {
      hn::StoreU(shifted[j / lanes], d, sums.data() + j);
    }
    T *rest = weights + panel_place(whole, c, outputs);
    for (std::size_t j = 0; whole + j < columns; ++j) {
      rest[j] = own[whole + j] - last[whole + j];
      if (scaled) {
        const T moved = static_cast<T>(scaling.shift[whole + j]) * rest[j];
        sums[j] += moved;
        rest[j] *= static_cast<T>(scaling.scale[whole + j]);
      }
    }
    bias[c] = std::accumulate(sums.begin(), sums.end(), own[columns] - last[columns]);
  }
}

template <class T>
void unfold(const T *HWY_RESTRICT weights, const T *HWY_RESTRICT bias, std::size_t columns, std::size_t outputs,
            FeatureScaling scaling, T factor, T *HWY_RESTRICT out) {
  const FoldTag<T> d;
  constexpr std::size_t lanes = hn::MaxLanes(FoldTag<T>());
  const bool scaled = scaling.scale != nullptr;
  const std::size_t stride = columns + 1;
  const std::size_t whole = columns / padding * padding;
  const auto times = hn::Set(d, factor);
  T *last = out + outputs * stride;
  for (std::size_t first = 0; first < whole; first += padding) {
    for (std::size_t j = 0; j < padding; j += lanes) {
      const auto scale = scaled ? load_floats(d, scaling.scale + first + j) : hn::Zero(d);
      const auto shift = scaled ? load_floats(d, scaling.shift + first + j) : hn::Zero(d);
      auto rest = hn::Zero(d);
      for (std::size_t c = 0; c < outputs; ++c) {
        auto sum = hn::LoadU(d, weights + panel_place(first, c, outputs) + j);
        if (scaled) {
          sum = hn::Add(hn::Mul(scale, sum), hn::Mul(shift, hn::Set(d, bias[c])));
        }
        sum = hn::Mul(times, sum);
        hn::StoreU(sum, d, out + c * stride + first + j);
        rest = hn::Sub(rest, sum);
      }
      hn::StoreU(rest, d, last + first + j);
    }
  }
  std::fill(last + whole, last + stride, T(0));
  for (std::size_t c = 0; c < outputs; ++c) {
    T *own = out + c * stride;
    const T *sums = weights + panel_place(whole, c, outputs);
    for (std::size_t j = 0; whole + j < columns; ++j) {
      T sum = sums[j];
      if (scaled) {
        const T of_scale = static_cast<T>(scaling.scale[whole + j]) * sum;
        const T of_shift = static_cast<T>(scaling.shift[whole + j]) * bias[c];
        sum = of_scale + of_shift;
      }
      own[whole + j] = factor * sum;
      last[whole + j] -= own[whole + j];
    }
    own[columns] = factor * bias[c];
    last[columns] -= own[columns];
  }
}

PanelFolds<float> float_folds() { return {fold<float>, unfold<float>}; }
PanelFolds<double> double_folds() { return {fold<double>, unfold<double>}; }

} // namespace duplex::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace duplex::kernels {

HWY_EXPORT(float_folds);
HWY_EXPORT(double_folds);

template <> PanelFolds<float> panel_folds<float>() { return HWY_DYNAMIC_DISPATCH(float_folds)(); }
template <> PanelFolds<double> panel_folds<double>() { return HWY_DYNAMIC_DISPATCH(double_folds)(); }

} // namespace duplex::kernels

#endif // HWY_ONCE
