#pragma once
// Where x was before a step, and d was computed: observers ask for it, and what of d is free counts there (box.hpp).
//
// With bounds, ‖d‖ is that of the free part, and of what the rest of d has changed by since the step before. That too
// vanishes where a run comes to rest. The free part alone vanishes wherever x runs into a corner, with y and v still on
// their way.

#include <duplex/space/box.hpp>

#include <cmath>
#include <utility>

namespace duplex::detail {

template <VectorSpace V> class StepOrigin {
public:
  StepOrigin(Box<V> box, const V &x) : box_(std::move(box)) {
    if (box_.exists()) {
      last_ = before_ = zeros_like(x);
    }
  }

  [[nodiscard]] const Box<V> &box() const { return box_; }

  /// Whether x must be kept before every step, also where nothing is observed.
  [[nodiscard]] bool is_needed() const { return box_.exists(); }
  void keep(const V &x) { assign(x, x_); }
  [[nodiscard]] const V &x() const { return x_; }
  /// Is told d after each step. The first has changed from zero.
  void follow(const V &d) {
    if (box_.exists()) {
      std::swap(before_, last_);
      assign(d, last_);
    }
  }

  /// ‖d‖ of the last step, of which all has that norm.
  [[nodiscard]] double free_norm(double norm_of_all) {
    if (!box_.exists()) {
      return norm_of_all;
    }
    box_.free_part(x_, last_, free_);
    const double free = norm(free_);
    assign(last_, rest_);
    axpy(-1.0, free_, rest_);
    axpy(-1.0, before_, rest_);
    box_.free_part(x_, before_, free_);
    axpy(1.0, free_, rest_);
    return std::hypot(free, norm(rest_));
  }

  /// After a recovery nothing is known of a step before.
  void start_anew() { set_zero(last_); }

  template <class Archive> void archive(Archive &members) {
    if (box_.exists()) {
      members("direction", last_);
    }
  }

private:
  Box<V> box_;
  V x_;
  V last_; ///< d of the last step, and of the one before
  V before_;
  V free_;
  V rest_;
};

} // namespace duplex::detail
