#include <duplex/kernels/diagonal_step.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE                                                                                             \
  "kernels/diagonal_step.cpp"   // NOLINT(cppcoreguidelines-macro-usage): how Highway recompiles a file
#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace duplex::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <bool HasDiagonal, class D, class T> HWY_INLINE void move(D of, const DiagonalStep<T> &step, std::size_t i) {
  const auto scaled = [&](auto value) {
    if constexpr (HasDiagonal) {
      return hn::Mul(hn::LoadU(of, step.a + i), value);
    } else {
      return value;
    }
  };
  const auto x = hn::LoadU(of, step.x + i);
  auto y = hn::LoadU(of, step.y + i);
  auto v = hn::LoadU(of, step.v + i);
  y = hn::Sub(y, hn::Mul(hn::Set(of, step.beta), hn::Sub(scaled(y), x)));
  v = hn::Add(v, hn::Mul(hn::Set(of, step.eta), scaled(hn::Sub(y, v))));
  hn::StoreU(y, of, step.y + i);
  hn::StoreU(v, of, step.v + i);
  hn::StoreU(hn::Add(hn::Sub(x, hn::LoadU(of, step.z0 + i)), v), of, step.d + i);
}

template <bool HasDiagonal, class T> void pass(const DiagonalStep<T> &step) {
  const hn::ScalableTag<T> many;
  const hn::CappedTag<T, 1> one;
  const std::size_t lanes = hn::Lanes(many);
  std::size_t i = 0;
  for (; i + lanes <= step.count; i += lanes) {
    move<HasDiagonal>(many, step, i);
  }
  for (; i < step.count; ++i) {
    move<HasDiagonal>(one, step, i);
  }
}

void step_double(const DiagonalStep<double> &step) { step.a != nullptr ? pass<true>(step) : pass<false>(step); }
void step_float(const DiagonalStep<float> &step) { step.a != nullptr ? pass<true>(step) : pass<false>(step); }

} // namespace duplex::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace duplex::kernels {

HWY_EXPORT(step_double);
HWY_EXPORT(step_float);

void do_diagonal_step(const DiagonalStep<double> &step) { HWY_DYNAMIC_DISPATCH(step_double)(step); }
void do_diagonal_step(const DiagonalStep<float> &step) { HWY_DYNAMIC_DISPATCH(step_float)(step); }

} // namespace duplex::kernels

#endif // HWY_ONCE
