#pragma once
// Products with H where a lower level stands, and with the inverse that it offers.

#include <duplex/problem/offered.hpp>

namespace duplex::automatic {

template <class Lower, VectorSpace V> struct HessianAt {
  void operator()(const V &in, V &out) const { lower->hess_yy(in, out); }
  [[nodiscard]] bool offers_inverse() const { return offered_inverse<V>(*lower) != OfferedInverse::none; }
  void invert(const V &in, V &out) const { apply_offered_inverse(*lower, in, out); }
  Lower *lower;
};
template <VectorSpace V, class Lower> [[nodiscard]] HessianAt<Lower, V> hessian_at(Lower &lower) { return {&lower}; }

} // namespace duplex::automatic
