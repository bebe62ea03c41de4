#pragma once
// Whether a problem's evaluation leaves its outputs the size that they were given with: looked at after every call
// where NDEBUG is not defined. An output that was resized would be read past its end.

#include <duplex/space/space.hpp>

namespace duplex {

namespace detail {

struct OutputOf {
  const char *level;
  const char *method;
  const char *like;
  Index expected;
};
[[noreturn]] void refuse_output(const OutputOf &output, Index found, const char *when);

} // namespace detail

/// The members are there with and without NDEBUG, because a program may be compiled with the one and the library with
/// the other; where at() was compiled without looking at sizes, nothing is known of them and nothing is refused.
template <VectorSpace V> class OutputSizes {
public:
  /// "lower()" or "upper()".
  explicit OutputSizes(const char *level) : level_(level) {}

#ifdef NDEBUG
  void at(const V & /*x*/, const V & /*y*/) {}
  template <class Write> void like_x(const V & /*out*/, const char * /*method*/, const Write &write) const { write(); }
  template <class Write> void like_y(const V & /*out*/, const char * /*method*/, const Write &write) const { write(); }
#else
  void at(const V &x, const V &y) {
    x_ = size(x);
    y_ = size(y);
  }
  template <class Write> void like_x(const V &out, const char *method, const Write &write) const {
    checked(out, x_, "x", method, write);
  }
  template <class Write> void like_y(const V &out, const char *method, const Write &write) const {
    checked(out, y_, "y", method, write);
  }
#endif

private:
  static constexpr Index not_known = -1;
  template <class Write>
  void checked(const V &out, Index expected, const char *like, const char *method, const Write &write) const {
    const detail::OutputOf output{level_, method, like, expected};
    if (expected != not_known && size(out) != expected) {
      detail::refuse_output(output, size(out), "before");
    }
    write();
    if (expected != not_known && size(out) != expected) {
      detail::refuse_output(output, size(out), "after");
    }
  }

  const char *level_;
  [[maybe_unused]] Index x_ = not_known;
  [[maybe_unused]] Index y_ = not_known;
};

} // namespace duplex
