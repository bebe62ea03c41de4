#pragma once
// What a problem may tell of itself to make runs without steps cheaper. No success that a run claims rests on it: where
// it is wrong a run takes longer, or ends without a claim.
//
//   problem: x_scale(), y_scale()                   how large the entries of x and of y typically are
//   lower(): precondition(v, out), solve_lower(b, out)   an approximate and an exact inverse of ∇²yy f where it stands

#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>

namespace duplex {

template <class P>
concept OffersXScale = requires(const P &problem) {
  { problem.x_scale() } -> std::convertible_to<VectorOf<P>>;
};
template <class P>
concept OffersYScale = requires(const P &problem) {
  { problem.y_scale() } -> std::convertible_to<VectorOf<P>>;
};

template <class E, class V>
concept OffersPrecondition = requires(E at, const V &v, V &out) {
  { at.precondition(v, out) } -> std::same_as<void>;
};
template <class E, class V>
concept OffersSolveLower = requires(E at, const V &b, V &out) {
  { at.solve_lower(b, out) } -> std::same_as<void>;
};

namespace detail {

/// Throws InvalidInput, with the entry, where a scale has another size than expected or an entry that is not positive
/// and finite. An empty one says nothing.
void require_scale(const char *name, const Entries &scale, Index expected);

template <class V, class Scale> [[nodiscard]] V checked_scale(const char *name, Scale &&given, Index expected) {
  V scale = std::forward<Scale>(given);
  require_scale(name, numbers_of(scale), expected);
  return scale;
}

} // namespace detail

/// How large the entries of x typically are; empty where the problem does not say. Throws InvalidInput where what it
/// says is no scale.
template <class P> [[nodiscard]] VectorOf<P> x_scale(const P &problem) {
  if constexpr (OffersXScale<P> && EigenVector<VectorOf<P>>) {
    return detail::checked_scale<VectorOf<P>>("x_scale", problem.x_scale(), problem.x_size());
  } else {
    return {};
  }
}
/// The same of y.
template <class P> [[nodiscard]] VectorOf<P> y_scale(const P &problem) {
  if constexpr (OffersYScale<P> && EigenVector<VectorOf<P>>) {
    return detail::checked_scale<VectorOf<P>>("y_scale", problem.y_scale(), problem.y_size());
  } else {
    return {};
  }
}

/// A scale as units: powers of two, by which nothing is rounded, beside the geometric mean of all of them, and no
/// farther from it than lets curvatures, which change by their squares, be told from rounding.
template <EigenVector V> [[nodiscard]] V units_of(V scale) {
  const int farthest = is_single_precision(precision(scale)) ? 5 : 10;
  double mean = 0.0;
  for (const auto entry : scale) {
    mean += std::log2(static_cast<double>(entry)) / static_cast<double>(scale.size());
  }
  for (auto &entry : scale) {
    const double power = std::round(std::log2(static_cast<double>(entry)) - mean);
    entry = static_cast<typename V::Scalar>(std::ldexp(1.0, std::clamp(static_cast<int>(power), -farthest, farthest)));
  }
  return scale;
}

/// What an evaluation of a lower level offers in the place of ∇²yy f's inverse.
enum class OfferedInverse : std::uint8_t { none, approximate, exact };

/// Known from its type, unless the evaluation hides another one and says so itself.
template <class V, class E> [[nodiscard]] OfferedInverse offered_inverse(const E &evaluation) {
  if constexpr (requires {
                  { evaluation.offered_inverse() } -> std::same_as<OfferedInverse>;
                }) {
    return evaluation.offered_inverse();
  } else if constexpr (OffersSolveLower<E, V>) {
    return OfferedInverse::exact;
  } else {
    return OffersPrecondition<E, V> ? OfferedInverse::approximate : OfferedInverse::none;
  }
}

/// out = M v with the better inverse of those that are offered, where there is one.
template <class V, class E> void apply_offered_inverse(E &evaluation, const V &v, V &out) {
  if constexpr (requires { evaluation.apply_offered_inverse(v, out); }) {
    evaluation.apply_offered_inverse(v, out);
  } else if constexpr (OffersSolveLower<E, V>) {
    evaluation.solve_lower(v, out);
  } else if constexpr (OffersPrecondition<E, V>) {
    evaluation.precondition(v, out);
  }
}

namespace detail {

/// A member that has the name of one of these and is something else was meant to be one, and does not compile.
template <class P> constexpr void require_offers() {
  using V = VectorOf<P>;
  using Lower = LowerOf<P>;
  static_assert(
      OffersXScale<P> || !requires { &P::x_scale; },
      "the problem's x_scale() is of another signature: expected Vector x_scale() const, how large the entries "
      "of x typically are");
  static_assert(
      OffersYScale<P> || !requires { &P::y_scale; },
      "the problem's y_scale() is of another signature: expected Vector y_scale() const, how large the entries "
      "of y typically are");
  static_assert(
      OffersPrecondition<Lower, V> || !requires { &Lower::precondition; },
      "the problem's lower() has a precondition of another signature: expected "
      "void precondition(const Vector &v, Vector &out), which writes about the inverse of hess_yy times v");
  static_assert(
      OffersSolveLower<Lower, V> || !requires { &Lower::solve_lower; },
      "the problem's lower() has a solve_lower of another signature: expected "
      "void solve_lower(const Vector &b, Vector &out), which writes the inverse of hess_yy times b");
  static_assert(
      !requires { &P::precondition; } && !requires { &P::solve_lower; },
      "precondition(v, out) and solve_lower(b, out) belong to the problem's lower(), which knows where it "
      "stands");
}

} // namespace detail

} // namespace duplex
