#pragma once
// The directions of BAGDC one after the other, each at the newest point of the variables before it.

#include <duplex/problem/problem.hpp>

#include <utility>

namespace duplex {

template <class Lower, class Upper, VectorSpace V> class AlternatingLevels {
public:
  AlternatingLevels(Lower lower, Upper upper, const State<V> &start)
      : lower_(std::move(lower)), upper_(std::move(upper)), slope_(zeros_like(start.y)), cross_(zeros_like(start.x)) {}

  /// out = ∇y f(x, y)
  void lower_direction(const V &x, const V &y, V &out) {
    lower_.at(x, y);
    lower_.grad_y(out);
  }
  /// Where the next two stand.
  void at(const V &x, const V &y) {
    lower_.at(x, y);
    upper_.at(x, y);
  }
  /// out = ∇²yy f·v − ∇yF
  void multiplier_direction(const V &v, V &out) {
    upper_.grad_y(slope_);
    lower_.hess_yy(v, out);
    axpy(-1.0, slope_, out);
  }
  /// out = ∇xF − ∇²xy f·v
  void upper_direction(const V &v, V &out) { implicit_direction(lower_, upper_, v, out, cross_); }

private:
  Lower lower_;
  Upper upper_;
  V slope_;
  V cross_;
};

} // namespace duplex
