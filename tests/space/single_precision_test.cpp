// Single precision, and the kernel and the fused step that serve both precisions:
// each agrees with the plain way of computing the same to rounding.

#include "support.hpp"

#include <duplex/kernels/symmetric_pair.hpp>

#include <algorithm>
#include <limits>

namespace duplex::testing {
namespace {

constexpr Index sizes[] = {1, 2, 3, 5, 8, 17, 64, 100, 129, 513, 700};

template <class Scalar> using VectorOfScalar = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar> using MatrixOfScalar = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar> constexpr double epsilon = std::numeric_limits<Scalar>::epsilon();

TEST(SinglePrecision, RefusesAStartThatIsNotFinite) {
  using V = Eigen::VectorXf;
  const CounterExample<float, IdentityMatrix> problem(IdentityMatrix(2), V::Ones(2));
  State<V> state{V::Constant(2, std::numeric_limits<float>::quiet_NaN()), V::Ones(2), {}};
  EXPECT_CONTAINS(refusal([&] { (void)run_steps(problem, with_given_steps, state, 1); }), "x holds NaN or infinity");
}

TEST(SinglePrecision, ReportsOverflowAsDivergence) {
  using V = Eigen::VectorXf;
  const CounterExample<float, IdentityMatrix> problem(IdentityMatrix(2), V::Ones(2));
  auto state = problem.start();
  const auto summary = solve(problem, Bagdc{.alpha = 50.0, .beta = 0.2}, state, {.divergence_factor = infinity});
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_CONTAINS(summary.message, "is not finite");
}

TEST(SinglePrecision, FollowsDoublePrecisionWithEverySolver) {
  const auto final_state = []<class Scalar>(const auto &solver, Scalar /*precision*/) {
    const auto problem =
        CounterExampleSettings{.n = 20, .matrix = MatrixKind::dense, .condition = 4.0}.template make<Scalar>();
    auto state = problem.start();
    EXPECT_FALSE(run_steps(problem, solver, state, 100).failed());
    return state;
  };
  AllSolvers::each([&]<class S>() {
    const auto single = final_state(with_steps<S>(), 0.0F);
    const auto twice = final_state(with_steps<S>(), 0.0);
    // The limits depend on A continuously, and a contraction adds up little more than its last errors.
    EXPECT_LE(relative_error(single.x.template cast<double>(), twice.x), 20.0 * epsilon<float>) << S::name;
    EXPECT_LE(relative_error(single.y.template cast<double>(), twice.y), 20.0 * epsilon<float>) << S::name;
  });
}

TEST(SinglePrecision, ReachesTheAnswerOfThePaperProblem) {
  using V = Eigen::VectorXf;
  const CounterExample<float, IdentityMatrix> problem(IdentityMatrix(100), V::Ones(100));
  for (const auto dual : {DualStep::constant, DualStep::adaptive, DualStep::relaxed, DualStep::polak_ribiere}) {
    auto state = problem.start();
    (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = dual}, state, 400);
    for (const V *block : {&state.x, &state.y, &state.v}) {
      EXPECT_LE((block->array() - 0.5F).abs().maxCoeff(), 4.0F * epsilon<float>) << name_of(dual);
    }
  }
}

template <class Scalar> class BothPrecisions : public ::testing::Test {};

struct PrecisionNames {
  template <class Scalar> static std::string GetName(int /*index*/) {
    return std::is_same_v<Scalar, float> ? "Float" : "Double";
  }
};

using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BothPrecisions, Precisions, PrecisionNames);

/// Largest entry of |a − b| over that of b.
template <class V> double entry_error(const V &a, const V &b) {
  return static_cast<double>((a - b).cwiseAbs().maxCoeff()) / static_cast<double>(b.cwiseAbs().maxCoeff());
}

template <class Scalar, class Matrix> void expect_fused_equals_general(const Matrix &matrix) {
  using V = VectorOfScalar<Scalar>;
  const Index n = matrix.size();
  const CounterExample<Scalar, Matrix> problem(matrix, random_vector<V>(n, static_cast<std::uint64_t>(n) + 1));
  ASSERT_TRUE(problem.fused_bagdc());
  for (const auto dual : {DualStep::constant, DualStep::adaptive, DualStep::relaxed}) {
    State<V> fused{random_vector<V>(n, 3), random_vector<V>(n, 4), random_vector<V>(n, 5)};
    State<V> general = fused;
    (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .eta = 0.7, .dual = dual, .fused = true}, fused, 4);
    (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .eta = 0.7, .dual = dual, .fused = false}, general, 4);
    const double rounding = 8.0 * std::sqrt(static_cast<double>(n)) * epsilon<Scalar>;
    EXPECT_LE(entry_error(fused.x, general.x), rounding) << n << " " << name_of(dual);
    EXPECT_LE(entry_error(fused.y, general.y), rounding) << n << " " << name_of(dual);
    EXPECT_LE(entry_error(fused.v, general.v), rounding) << n << " " << name_of(dual);
  }
}

TYPED_TEST(BothPrecisions, FusedStepEqualsTheGeneralStepToRounding) {
  for (const Index n : sizes) {
    const auto spectrum = log_spaced_spectrum<TypeParam>(n, 10.0, 0.1);
    expect_fused_equals_general<TypeParam>(DenseSpd<TypeParam>::with_spectrum(spectrum, static_cast<std::uint64_t>(n)));
    expect_fused_equals_general<TypeParam>(DiagonalSpd<TypeParam>(spectrum));
    expect_fused_equals_general<TypeParam>(IdentityMatrix(n));
  }
}

TYPED_TEST(BothPrecisions, FusedStepIsNotTakenWhereTheRuleIsNotSupported) {
  using V = VectorOfScalar<TypeParam>;
  const CounterExample problem(DenseSpd<TypeParam>::with_spectrum(log_spaced_spectrum<TypeParam>(9, 10.0, 0.1), 1),
                               random_vector<V>(9, 2));
  for (const Bagdc &solver : {Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::polak_ribiere},
                              Bagdc{.alpha = 0.1, .beta = 0.2, .mu = 0.3}}) {
    auto allowed = problem.start();
    auto general = problem.start();
    Bagdc plain = solver;
    plain.fused = false;
    (void)run_steps(problem, solver, allowed, 10);
    (void)run_steps(problem, plain, general, 10);
    EXPECT_TRUE(same_bits(allowed, general));
  }
}

TYPED_TEST(BothPrecisions, FusedStepGivesTheSameBitsOnRepetition) {
  using V = VectorOfScalar<TypeParam>;
  const CounterExample problem(DenseSpd<TypeParam>::with_spectrum(log_spaced_spectrum<TypeParam>(600, 10.0, 0.1), 1),
                               random_vector<V>(600, 2));
  auto first = problem.start();
  auto again = problem.start();
  (void)run_steps(problem, with_given_steps, first, 5);
  (void)run_steps(problem, with_given_steps, again, 5);
  EXPECT_TRUE(same_bits(first, again));
}

TYPED_TEST(BothPrecisions, DenseMatrixMultipliesAndSolvesAsEigenDoes) {
  using V = VectorOfScalar<TypeParam>;
  for (const Index n : {1, 5, 64, 129, 600}) {
    const auto spectral = DenseSpd<TypeParam>::with_spectrum(log_spaced_spectrum<TypeParam>(n, 10.0, 0.1), 7);
    const V u = random_vector<V>(n, 8);
    const V w = random_vector<V>(n, 9);
    V au;
    V aw;
    V back;
    for (const auto &matrix : {spectral, DenseSpd<TypeParam>(spectral.entries())}) {
      const double rounding = 4.0 * std::sqrt(static_cast<double>(n)) * epsilon<TypeParam>;
      matrix.apply(u, au);
      EXPECT_LE(entry_error<V>(au, spectral.entries() * u), rounding) << n;
      matrix.apply_pair(u, w, au, aw);
      EXPECT_LE(entry_error<V>(au, spectral.entries() * u), rounding) << n;
      EXPECT_LE(entry_error<V>(aw, spectral.entries() * w), rounding) << n;
      matrix.solve(au, back);
      EXPECT_LE(entry_error(back, u), 10.0 * rounding) << n; // the condition number is 10
    }
  }
}

/// The kernel's input: a random symmetric matrix whose rows lie `stride` apart. All
/// that it may not read is NaN, and so is all that it must overwrite.
template <class Scalar> struct PairInput {
  PairInput(Index size, Index row_stride)
      : n(size), stride(row_stride), a(n * stride), full(n, n), u(random_vector<VectorOfScalar<Scalar>>(n, 2)),
        w(random_vector<VectorOfScalar<Scalar>>(n, 3)) {
    a.setConstant(not_a_number);
    const auto entries = random_vector<VectorOfScalar<Scalar>>(n * n, 1);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) {
        full(i, j) = full(j, i) = a[i * stride + j] = entries[i * n + j];
      }
    }
  }

  struct Result {
    VectorOfScalar<Scalar> au;
    VectorOfScalar<Scalar> aw;
  };

  [[nodiscard]] Result product(int threads, bool pair) const {
    const auto count = static_cast<std::size_t>(n);
    Result result{VectorOfScalar<Scalar>::Constant(n, not_a_number), VectorOfScalar<Scalar>::Constant(n, not_a_number)};
    VectorOfScalar<Scalar> scratch =
        VectorOfScalar<Scalar>::Constant(static_cast<Index>(kernels::symmetric_pair_scratch(count)), not_a_number);
    kernels::symmetric_pair_product(count, a.data(), static_cast<std::size_t>(stride), u.data(),
                                    pair ? w.data() : nullptr, result.au.data(), pair ? result.aw.data() : nullptr,
                                    scratch.data(), threads);
    return result;
  }

  /// Entry by entry, rounding errors that add up at random leave √n ε |A||u| (Higham and Mary, 2019), whatever the
  /// order of the sums.
  [[nodiscard]] double excess(const VectorOfScalar<Scalar> &product, const VectorOfScalar<Scalar> &of) const {
    const Mat entries = full.template cast<double>();
    const auto right = of.template cast<double>().eval();
    const Vec error = (product.template cast<double>() - entries * right).cwiseAbs();
    const Vec allowed =
        2.0 * std::sqrt(static_cast<double>(n)) * epsilon<Scalar> * (entries.cwiseAbs() * right.cwiseAbs());
    return (error - allowed).maxCoeff();
  }

  static constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();
  Index n;
  Index stride;
  VectorOfScalar<Scalar> a;
  MatrixOfScalar<Scalar> full;
  VectorOfScalar<Scalar> u;
  VectorOfScalar<Scalar> w;
};

TYPED_TEST(BothPrecisions, PairProductEqualsEigensToRounding) {
  for (const Index n : sizes) {
    for (const Index extra : {0, 3}) {
      const PairInput<TypeParam> input(n, n + extra);
      for (const int threads : {1, 2, 3, 5}) {
        const auto both = input.product(threads, true);
        const auto alone = input.product(threads, false);
        EXPECT_LE(input.excess(both.au, input.u), 0.0) << n << " rows, " << threads << " threads";
        EXPECT_LE(input.excess(both.aw, input.w), 0.0) << n << " rows, " << threads << " threads";
        EXPECT_LE(input.excess(alone.au, input.u), 0.0) << n << " rows, " << threads << " threads";
      }
    }
  }
}

TYPED_TEST(BothPrecisions, PairProductGivesTheSameBitsOnAnyNumberOfThreads) {
  for (const Index n : {17, 129, 513, 1100}) {
    const PairInput<TypeParam> input(n, n + 1);
    const auto alone = input.product(1, true);
    for (const int threads : {2, 3, 5, 9}) {
      for (int again = 0; again < 5; ++again) {
        const auto next = input.product(threads, true);
        EXPECT_TRUE(same_bits(alone.au, next.au) && same_bits(alone.aw, next.aw)) << n << " " << threads;
      }
    }
  }
}

} // namespace
} // namespace duplex::testing
