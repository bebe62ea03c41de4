#pragma once
// Whether a problem's evaluation E leaves its outputs the size that they were given with: looked at after every call
// where NDEBUG is not defined. An output that was resized would be read past its end.

#include <duplex/core/error.hpp>
#include <duplex/space/space.hpp>

#include <string>
#include <string_view>

namespace duplex {

#ifdef NDEBUG

template <class E, VectorSpace V> class OutputSizes {
public:
  void at(const V & /*x*/, const V & /*y*/) {}
  template <class Write> void like_x(const V & /*out*/, const char * /*method*/, const Write &write) const { write(); }
  template <class Write> void like_y(const V & /*out*/, const char * /*method*/, const Write &write) const { write(); }
};

#else

template <class E, VectorSpace V> class OutputSizes {
public:
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

private:
  template <class Write>
  static void checked(const V &out, Index expected, const char *like, const char *method, const Write &write) {
    const auto require = [&](const char *when) {
      if (size(out) != expected) {
        constexpr std::string_view level = requires(E e, V & x) { e.grad_x(x); }
        ? "upper()." : "lower().";
        throw InvalidInput(std::string(level) + method + ": out has " + std::to_string(size(out)) + " entries " + when +
                           " the call, expected " + std::to_string(expected) + " like " + like);
      }
    };
    require("before");
    write();
    require("after");
  }

  Index x_ = 0;
  Index y_ = 0;
};

#endif

} // namespace duplex
