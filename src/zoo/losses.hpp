#pragma once
// Losses of one sample with score s and target t: value, slope in s and curvature in s.

#include <cmath>

namespace duplex::zoo {

/// log(1 + eᶻ), without overflow.
template <class T> [[nodiscard]] T softplus(T z) {
  using std::exp;
  using std::log1p;
  return z > T(0) ? z + log1p(exp(-z)) : log1p(exp(z));
}

/// 1/(1 + e⁻ᶻ), without overflow.
template <class T> [[nodiscard]] T sigmoid(T z) {
  using std::exp;
  if (z > T(0)) {
    return T(1) / (T(1) + exp(-z));
  }
  const T e = exp(z);
  return e / (T(1) + e);
}

/// ½(s − t)²
struct SquaredLoss {
  template <class T> static T value(T s, T t) { return T(0.5) * (s - t) * (s - t); }
  template <class T> static T slope(T s, T t) { return s - t; }
  template <class T> static T curvature(T /*s*/, T /*t*/) { return T(1); }
};

/// log(1 + e^{−ts}) with t = ±1
struct LogisticLoss {
  template <class T> static T value(T s, T t) { return softplus(-t * s); }
  template <class T> static T slope(T s, T t) { return -t * sigmoid(-t * s); }
  template <class T> static T curvature(T s, T /*t*/) { return sigmoid(s) * sigmoid(-s); }
};

/// eˢ − ts, of a count t with mean eˢ
struct PoissonLoss {
  template <class T> static T value(T s, T t) { return std::exp(s) - t * s; }
  template <class T> static T slope(T s, T t) { return std::exp(s) - t; }
  template <class T> static T curvature(T s, T /*t*/) { return std::exp(s); }
};

/// √((s − t)² + δ²) − δ, which outliers hardly move
struct RobustLoss {
  static constexpr double width = 0.5;
  template <class T> static T length(T s, T t) { return std::sqrt((s - t) * (s - t) + T(width * width)); }
  template <class T> static T value(T s, T t) { return length(s, t) - T(width); }
  template <class T> static T slope(T s, T t) { return (s - t) / length(s, t); }
  template <class T> static T curvature(T s, T t) {
    const T root = length(s, t);
    return T(width * width) / (root * root * root);
  }
};

/// The hinge max(0, 1 − ts) rounded off over a width τ: τ log(1 + e^{(1 − ts)/τ}), with t = ±1
struct SmoothHinge {
  static constexpr double width = 0.25;
  template <class T> static T value(T s, T t) { return T(width) * softplus((T(1) - t * s) / T(width)); }
  template <class T> static T slope(T s, T t) { return -t * sigmoid((T(1) - t * s) / T(width)); }
  template <class T> static T curvature(T s, T t) {
    const T z = (T(1) - t * s) / T(width);
    return sigmoid(z) * sigmoid(-z) / T(width);
  }
};

} // namespace duplex::zoo
