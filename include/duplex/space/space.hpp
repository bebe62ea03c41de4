#pragma once
// What a vector must do, and Eigen's way of doing it. Solvers touch vectors
// through these functions only, so another backend is another set of overloads
// (found by argument-dependent lookup), and a sum need not be local.

#include <Eigen/Core>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <random>

#if EIGEN_MAX_ALIGN_BYTES > 16 || !EIGEN_MALLOC_ALREADY_ALIGNED
#error "Duplex: vectors are allocated by the library and by you, so both must align them alike: compile with \
-DEIGEN_MAX_ALIGN_BYTES=16 -DEIGEN_MALLOC_ALREADY_ALIGNED=1 (find_package and pkg-config do that)"
#endif

namespace duplex {

using Index = Eigen::Index;

template <class V>
concept EigenVector = std::derived_from<V, Eigen::PlainObjectBase<V>> &&(V::ColsAtCompileTime == 1);

struct Nothing {};
template <class V, template <class> class Member> struct ForEigen { using Type = Nothing; };
template <EigenVector V, template <class> class Member> struct ForEigen<V, Member> { using Type = Member<V>; };
/// Of what a class keeps for Eigen's vectors alone: Member<V>, and nothing where V is another vector.
template <class V, template <class> class Member> using OnlyForEigen = typename ForEigen<V, Member>::Type;

/// y += a x
template <EigenVector V> void axpy(double a, const V &x, V &y) {
  y.noalias() += static_cast<typename V::Scalar>(a) * x;
}

/// y *= a
template <EigenVector V> void scale(double a, V &y) { y *= static_cast<typename V::Scalar>(a); }

/// destination = source; allocates only where the sizes differ.
template <EigenVector V> void assign(const V &source, V &destination) { destination = source; }

template <EigenVector V> void set_zero(V &y) { y.setZero(); }

template <EigenVector V> [[nodiscard]] V zeros_like(const V &x) { return V::Zero(x.size()); }

template <EigenVector V> [[nodiscard]] double dot(const V &a, const V &b) { return static_cast<double>(a.dot(b)); }

template <EigenVector V> [[nodiscard]] Index size(const V &x) { return x.size(); }

template <EigenVector V> [[nodiscard]] bool all_finite(const V &x) { return x.allFinite(); }

/// Independent standard normal entries.
template <EigenVector V> void fill_normal(std::mt19937_64 &generator, V &x) {
  std::normal_distribution<double> normal;
  for (auto &entry : x) {
    entry = static_cast<typename V::Scalar>(normal(generator));
  }
}

/// Whether numbers of that precision are floats.
[[nodiscard]] constexpr bool is_single_precision(double precision) { return precision > 1e-10; }

/// Machine epsilon of the numbers that the vector holds.
template <EigenVector V> [[nodiscard]] constexpr double precision(const V & /*unused*/) {
  return static_cast<double>(Eigen::NumTraits<typename V::Scalar>::epsilon());
}

template <class V>
concept VectorSpace = std::copyable<V> && requires(V y, const V &x, std::mt19937_64 &generator) {
  axpy(0.5, x, y);
  scale(0.5, y);
  assign(x, y);
  set_zero(y);
  fill_normal(generator, y);
  { zeros_like(x) } -> std::same_as<V>;
  { dot(x, x) } -> std::same_as<double>;
  { size(x) } -> std::same_as<Index>;
  { all_finite(x) } -> std::same_as<bool>;
  { precision(x) } -> std::same_as<double>;
};

template <VectorSpace V> [[nodiscard]] double norm(const V &x) { return std::sqrt(dot(x, x)); }

/// ‖a − b‖ with the caller's scratch vector.
template <VectorSpace V> [[nodiscard]] double distance(const V &a, const V &b, V &scratch) {
  assign(a, scratch);
  axpy(-1.0, b, scratch);
  return norm(scratch);
}

} // namespace duplex
