// What a problem may tell of itself: a right hint saves products, and a wrong one costs time and no truth.

#include "support.hpp"

#include "saved_run.hpp"

#include <duplex/problem/offered.hpp>

#include <cmath>
#include <functional>
#include <random>

namespace duplex::testing {
namespace {

using Hint = std::function<void(const Vec &v, Vec &out)>;

/// f = ½(y − b − Cx)ᵀH(y − b − Cx) with diagonal H, and F = ½‖Sy − t‖² + ½‖X⁻¹x‖², where the entries of y and of x
/// are of sizes that differ by 10^±1.
struct BadlyScaled {
  using Vector = Vec;
  struct Lower : Point<Vec> {
    explicit Lower(const BadlyScaled &problem) : p(&problem) {}
    [[nodiscard]] Vec off() const { return y() - p->b - p->c * x(); }
    [[nodiscard]] double value() const { return 0.5 * off().dot(p->h.cwiseProduct(off())); }
    void grad_y(Vec &out) const { out = p->h.cwiseProduct(off()); }
    void hess_yy(const Vec &v, Vec &out) const { out = p->h.cwiseProduct(v); }
    void cross_xy(const Vec &v, Vec &out) const { out = -(p->c.transpose() * p->h.cwiseProduct(v)); }
    const BadlyScaled *p;
  };
  struct Upper : Point<Vec> {
    explicit Upper(const BadlyScaled &problem) : p(&problem) {}
    [[nodiscard]] Vec off() const { return y().cwiseQuotient(p->y_size_of) - p->t; }
    [[nodiscard]] double value() const {
      return 0.5 * off().squaredNorm() + 0.5 * x().cwiseQuotient(p->x_size_of).squaredNorm();
    }
    void grad_x(Vec &out) const { out = x().cwiseQuotient(p->x_size_of).cwiseQuotient(p->x_size_of); }
    void grad_y(Vec &out) const { out = off().cwiseQuotient(p->y_size_of); }
    const BadlyScaled *p;
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return x_size_of.size(); }
  [[nodiscard]] Index y_size() const { return y_size_of.size(); }
  [[nodiscard]] State<Vec> start() const { return {Vec::Zero(x_size()), Vec::Zero(y_size()), {}}; }

  explicit BadlyScaled(Index n, Index m = 20)
      : b(random_vector(n, 1)), t(random_vector(n, 2)), h(n), y_size_of(sizes(n, 3)), x_size_of(sizes(m, 4)) {
    const Vec numbers = random_vector(n * m, 5);
    c = Eigen::Map<const Mat>(numbers.data(), n, m) / std::sqrt(static_cast<double>(n));
    c = (y_size_of.asDiagonal() * c * x_size_of.cwiseInverse().asDiagonal()).eval();
    b = b.cwiseProduct(y_size_of);
    h = (1.5 + 0.5 * random_vector(n, 6).array().tanh()) / y_size_of.array().square();
  }
  static Vec sizes(Index n, std::uint64_t seed) {
    return random_vector(n, seed).unaryExpr([](double number) { return std::pow(10.0, std::tanh(number)); });
  }
  Vec b;
  Vec t;
  Vec h;
  Vec y_size_of;
  Vec x_size_of;
  Mat c;
};

/// With scales that a test gives.
struct WithScales : BadlyScaled {
  using BadlyScaled::BadlyScaled;
  [[nodiscard]] const Vec &x_scale() const { return said_of_x; }
  [[nodiscard]] const Vec &y_scale() const { return said_of_y; }
  Vec said_of_x = x_size_of;
  Vec said_of_y = y_size_of;
};

/// With an inverse that a test gives.
struct WithPreconditioner : BadlyScaled {
  using BadlyScaled::BadlyScaled;
  struct Lower : BadlyScaled::Lower {
    explicit Lower(const WithPreconditioner &problem) : BadlyScaled::Lower(problem), hint(&problem.hint) {}
    void precondition(const Vec &v, Vec &out) const { (*hint)(v, out); }
    const Hint *hint;
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
  Hint hint = [this](const Vec &v, Vec &out) { out = v.cwiseQuotient(h); };
};
struct WithSolve : BadlyScaled {
  using BadlyScaled::BadlyScaled;
  struct Lower : BadlyScaled::Lower {
    explicit Lower(const WithSolve &problem) : BadlyScaled::Lower(problem), hint(&problem.hint) {}
    void solve_lower(const Vec &right, Vec &out) const { (*hint)(right, out); }
    const Hint *hint;
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
  Hint hint = [this](const Vec &v, Vec &out) { out = v.cwiseQuotient(h); };
};

/// Runs, expects the truth, and tells the products.
template <class P> std::int64_t products_of(const P &problem) {
  auto state = problem.start();
  const auto summary = solve(problem, state);
  ExactSolver exact(problem);
  const double last = norm(exact.at(state.x, state.y).hypergradient);
  const auto start = problem.start();
  const double first = norm(exact.at(start.x, start.y).hypergradient);
  EXPECT_EQ(summary.termination, Termination::tolerance_verified) << summary.message;
  EXPECT_LE(last, 1e-5 * first);
  return summary.counters.gradients_and_products();
}

TEST(OfferedScales, ThatAreNoneAreRefusedByTheirEntry) {
  const auto refused = [](const std::function<void(WithScales &)> &spoil) {
    WithScales problem(10);
    spoil(problem);
    auto state = problem.start();
    return refusal([&] { (void)solve(problem, state); });
  };
  EXPECT_CONTAINS(refused([](auto &p) { p.said_of_y[3] = 0.0; }), "y_scale()[3] of the problem is 0, expected");
  EXPECT_CONTAINS(refused([](auto &p) { p.said_of_x[1] = std::nan(""); }), "x_scale()[1] of the problem is nan");
  EXPECT_CONTAINS(refused([](auto &p) { p.said_of_x[0] = -2.0; }), "x_scale()[0] of the problem is -2");
  EXPECT_CONTAINS(refused([](auto &p) { p.said_of_y = Vec::Ones(7); }), "y_scale() of the problem has 7 entries");
  EXPECT_EQ(refused([](auto &p) { p.said_of_y = Vec(); }), "");
}

TEST(OfferedScales, ThatAreOthersThanThoseOfASavedRunAreRefused) {
  WithScales problem(10);
  const SavedState saved = saved_after(problem, Automatic{}, 2);
  const Saving saving{.from = &saved};
  const auto refused = [&](const auto &other) {
    auto state = other.start();
    return refusal([&] { (void)solve(other, Automatic{}, state, {.saving = &saving}); });
  };
  EXPECT_EQ(refused(problem), "");
  problem.said_of_y[3] *= 4.0;
  EXPECT_EQ(refused(problem), "the saved run has another scale of y");
  problem.said_of_y = Vec();
  EXPECT_EQ(refused(problem), "the saved run has a scale of y, and this one has none");
  const SavedState without = saved_after(BadlyScaled(10), Automatic{}, 2);
  const Saving from_without{.from = &without};
  auto state = problem.start();
  problem.said_of_y = problem.y_size_of;
  EXPECT_EQ(refusal([&] { (void)solve(problem, Automatic{}, state, {.saving = &from_without}); }),
            "the saved run has no scale of y, or an earlier version has saved none, and this one has one");
}

TEST(OfferedScales, SaveProductsWhereTheyAreRight) {
  EXPECT_LE(2 * products_of(WithScales(200)), products_of(BadlyScaled(200)));
}

TEST(OfferedScales, CostTimeAndNoTruthWhereTheyAreWrong) {
  WithScales inverse(60);
  inverse.said_of_x = inverse.x_size_of.cwiseInverse();
  inverse.said_of_y = inverse.y_size_of.cwiseInverse();
  (void)products_of(inverse);
  WithScales random(60);
  random.said_of_x = BadlyScaled::sizes(20, 8).cwiseProduct(BadlyScaled::sizes(20, 9));
  random.said_of_y = BadlyScaled::sizes(60, 10).cwiseProduct(BadlyScaled::sizes(60, 11));
  (void)products_of(random);
}

TEST(OfferedInverses, SaveProductsWhereTheyAreRight) {
  const auto without = products_of(BadlyScaled(200));
  EXPECT_LT(products_of(WithPreconditioner(200)), without);
  EXPECT_LT(products_of(WithSolve(200)), without);
}

template <class P> void expect_truth_with_wrong_hints() {
  const Vec factors = BadlyScaled::sizes(60, 12).array().pow(4.0);
  const std::vector<std::pair<const char *, Hint>> wrong = {
      {"random", [&](const Vec &v, Vec &out) { out = v.cwiseProduct(factors); }},
      {"zero", [](const Vec &v, Vec &out) { out = 0.0 * v; }},
      {"not a number", [](const Vec &v, Vec &out) { out = Vec::Constant(v.size(), std::nan("")); }},
      {"negative", [](const Vec &v, Vec &out) { out = -v; }},
      {"blind to half of y",
       [](const Vec &v, Vec &out) {
         out = v;
         out.head(v.size() / 2).setZero();
       }},
      {"tiny", [](const Vec &v, Vec &out) { out = 1e-9 * v; }},
      {"not symmetric",
       [](const Vec &v, Vec &out) {
         out = v;
         out.head(v.size() - 1) += 0.9 * v.tail(v.size() - 1);
       }},
  };
  for (const auto &[name, hint] : wrong) {
    SCOPED_TRACE(name);
    P problem(60);
    problem.hint = hint;
    (void)products_of(problem);
  }
}

TEST(OfferedInverses, CostTimeAndNoTruthWhereTheyAreWrong) {
  expect_truth_with_wrong_hints<WithPreconditioner>();
  expect_truth_with_wrong_hints<WithSolve>();
}

TEST(OfferedHints, ArePassedOnByEveryWrapper) {
  const WithScales scaled(5);
  const WithSolve solving(5);
  Counters counters;
  const auto expect = [&](const auto &problem) { EXPECT_EQ(y_scale(problem), scaled.y_size_of); };
  expect(ProblemView<Vec>(scaled));
  expect(AnyProblem<Vec>(scaled));
  expect(Counted<WithScales>(scaled, counters));
  expect(bounded(scaled, -1.0, 1.0));
  EXPECT_EQ(x_scale(AnyProblem<Vec>(scaled)), scaled.x_size_of);
  EXPECT_EQ(y_scale(BadlyScaled(5)).size(), 0);
  EXPECT_EQ(offered_inverse<Vec>(ProblemView<Vec>(solving).lower()), OfferedInverse::exact);
  EXPECT_EQ(offered_inverse<Vec>(AnyProblem<Vec>(solving).lower()), OfferedInverse::exact);
  EXPECT_EQ(offered_inverse<Vec>(Counted<WithSolve>(solving, counters).lower()), OfferedInverse::exact);
  EXPECT_EQ(offered_inverse<Vec>(AnyProblem<Vec>(WithPreconditioner(5)).lower()), OfferedInverse::approximate);
  EXPECT_EQ(offered_inverse<Vec>(AnyProblem<Vec>(scaled).lower()), OfferedInverse::none);
}

TEST(OfferedInverses, AreComparedWithProductsByCheck) {
  const auto row_of = [](const CheckReport &report, const std::string &quantity) {
    for (const auto &row : report.rows) {
      if (row.quantity == quantity) {
        return row;
      }
    }
    return CheckRow{.quantity = "none", .note = {}, .unchecked = {}};
  };
  WithSolve solving(5);
  EXPECT_TRUE(row_of(check(solving), "lower solve_lower").passes);
  solving.hint = [&](const Vec &v, Vec &out) { out = 2.0 * v.cwiseQuotient(solving.h); };
  EXPECT_TRUE(row_of(check(solving), "lower solve_lower").is_wrong());
  WithPreconditioner preconditioned(5);
  EXPECT_TRUE(row_of(check(preconditioned), "lower precondition").passes);
  preconditioned.hint = [](const Vec &v, Vec &out) { out = -v; };
  EXPECT_CONTAINS(row_of(check(preconditioned), "lower precondition").note, "expected a positive number");
  EXPECT_EQ(row_of(check(BadlyScaled(5)), "lower precondition").quantity, "none");
}

} // namespace
} // namespace duplex::testing
