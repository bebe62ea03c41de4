#pragma once
// A move p of x within its bounds along which φ falls: entries that are not free stay, and the others end at their
// bounds. Where a quasi-Newton step does not fall so, p follows the free part of −d, which does.

#include <duplex/space/box.hpp>

namespace duplex::automatic {

template <VectorSpace V> class BoundedMove {
public:
  /// `free` is the free part of d at x.
  static void keep_inside(const Box<V> &box, const V &x, const V &d, const V &free, V &move) {
    if (!box.exists()) {
      return;
    }
    const double length = norm(move);
    hold_fixed(d, free, move);
    end_inside(box, x, move);
    if (!(dot(move, d) < 0.0)) {
      const double slope = norm(free);
      assign(free, move);
      scale(slope > 0.0 ? -length / slope : 0.0, move); // x stays where nothing is free
      end_inside(box, x, move);
    }
  }

private:
  /// p = P(x + p) − x.
  static void end_inside(const Box<V> &box, const V &x, V &move) {
    axpy(1.0, x, move);
    box.project(move);
    axpy(-1.0, x, move);
  }
  /// Zero where d has an entry that its free part has not.
  static void hold_fixed(const V &d, const V &free, V &move) {
    if constexpr (EigenVector<V>) {
      move = (free.array() == 0 && d.array() != 0).select(V::Zero(d.size()), move);
    }
  }
};

} // namespace duplex::automatic
