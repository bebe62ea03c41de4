// The pass of BAGDC's step over a diagonal counter-example, against the formula.

#include "support.hpp"

#include <duplex/kernels/diagonal_step.hpp>

namespace duplex::testing {
namespace {

template <class T> using ColumnOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// The formula in numbers that no instruction contracts: each intermediate result is stored.
template <class T> T rounded(T value) {
  const volatile T stored = value;
  return stored;
}

template <class T> void expect_the_formula(Index n, bool has_diagonal) {
  const auto drawn = [&](std::uint64_t seed) { return random_vector<ColumnOf<T>>(n, seed); };
  const ColumnOf<T> a = drawn(1);
  const ColumnOf<T> x = drawn(2);
  const ColumnOf<T> z0 = drawn(3);
  ColumnOf<T> y = drawn(4);
  ColumnOf<T> v = drawn(5);
  ColumnOf<T> d = ColumnOf<T>::Zero(n);
  const ColumnOf<T> y_before = y;
  const ColumnOf<T> v_before = v;
  const T beta = T(0.3);
  const T eta = T(0.7);
  kernels::do_diagonal_step(kernels::DiagonalStep<T>{.count = static_cast<std::size_t>(n),
                                                     .a = has_diagonal ? a.data() : nullptr,
                                                     .x = x.data(),
                                                     .z0 = z0.data(),
                                                     .beta = beta,
                                                     .eta = eta,
                                                     .y = y.data(),
                                                     .v = v.data(),
                                                     .d = d.data()});
  for (Index i = 0; i < n; ++i) {
    const auto scaled = [&](T value) { return has_diagonal ? rounded<T>(a[i] * value) : value; };
    const T slope = rounded<T>(scaled(y_before[i]) - x[i]);
    const T y_after = rounded<T>(y_before[i] - rounded<T>(beta * slope));
    const T residual = scaled(rounded<T>(y_after - v_before[i]));
    const T v_after = rounded<T>(v_before[i] + rounded<T>(eta * residual));
    EXPECT_EQ(y[i], y_after) << i << " of " << n;
    EXPECT_EQ(v[i], v_after) << i << " of " << n;
    EXPECT_EQ(d[i], rounded<T>(rounded<T>(x[i] - z0[i]) + v_after)) << i << " of " << n;
  }
}

TEST(DiagonalStep, GivesTheBitsOfTheFormulaForAnyNumberOfEntries) {
  for (const Index n : {1, 2, 3, 7, 8, 15, 16, 17, 100}) {
    for (const bool has_diagonal : {false, true}) {
      expect_the_formula<double>(n, has_diagonal);
      expect_the_formula<float>(n, has_diagonal);
    }
  }
}

} // namespace
} // namespace duplex::testing
