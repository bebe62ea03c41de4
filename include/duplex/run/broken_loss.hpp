#pragma once
// What of a loss is not finite where it should be.

#include <duplex/problem/problem_view.hpp>
#include <duplex/space/space.hpp>

#include <exception>
#include <random>
#include <string>

namespace duplex::detail {

/// What is wrong with a loss: its value is NaN, or a gradient is not finite. Empty where neither is so; an infinite
/// value alone stops no method.
[[nodiscard]] std::string broken_loss(const std::string &loss, double value, bool gradients_finite);

/// What `look` finds, with the level before it; a loss that throws is said to be refused.
template <class Look> [[nodiscard]] std::string at_level(const std::string &level, const Look &look) {
  std::string what;
  try {
    what = look();
  } catch (const std::exception &refused) {
    what = "its loss is refused (" + std::string(refused.what()) + ")";
  }
  return what.empty() ? what : level + " level: " + what;
}

/// What of f is not finite at a finite point; empty where all is.
template <VectorSpace V>
[[nodiscard]] std::string broken_lower_level(const ProblemView<V> &problem, const V &x, const V &y) {
  return at_level("lower", [&] {
    auto lower = problem.lower();
    lower.at(x, y);
    auto like_y = zeros_like(y);
    lower.grad_y(like_y);
    std::string broken = broken_loss("f", lower.value(), all_finite(like_y));
    if (broken.empty()) { // in a direction of moderate size
      std::mt19937_64 generator(1);
      auto direction = zeros_like(y);
      fill_normal(generator, direction);
      auto like_x = zeros_like(x);
      lower.hess_yy(direction, like_y);
      lower.cross_xy(direction, like_x);
      if (!all_finite(like_y) || !all_finite(like_x)) {
        broken = "the second derivatives of f are not finite";
      }
    }
    return broken;
  });
}

template <VectorSpace V>
[[nodiscard]] std::string broken_upper_level(const ProblemView<V> &problem, const V &x, const V &y) {
  return at_level("upper", [&] {
    auto upper = problem.upper();
    upper.at(x, y);
    auto like_x = zeros_like(x);
    auto like_y = zeros_like(y);
    upper.grad_x(like_x);
    upper.grad_y(like_y);
    return broken_loss("F", upper.value(), all_finite(like_x) && all_finite(like_y));
  });
}

} // namespace duplex::detail
