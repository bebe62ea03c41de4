// check(): a derivative that is wrong by one part in ten thousand is found, and its entry named; what differences
// cannot tell is said; the built-in problems pass.

#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace duplex::testing {
namespace {

enum class Wrong {
  nothing,
  lower_value,
  lower_grad_y,
  lower_hess_yy,
  lower_symmetry,
  lower_cross_xy,
  upper_value,
  upper_grad_x,
  upper_grad_y,
  upper_hess_yy,
  upper_symmetry,
  upper_cross_xy,
  multiplier,             // a closed form of v* that is wrong
  multiplier_after_a_gap, // the same, and undefined where it is asked for first
};

constexpr double slip = 1.0 + 1e-4;

/// bent() with one mistake.
class Mistaken {
public:
  using Vector = Vec;
  explicit Mistaken(Wrong wrong) : wrong_(wrong) {}

  class Lower : public Bent<>::Lower {
  public:
    Lower(const Bent<> &problem, Wrong wrong) : Bent<>::Lower(problem), wrong_(wrong) {}
    [[nodiscard]] double value() const { return Bent<>::Lower::value() * factor(Wrong::lower_value); }
    void grad_y(Vec &out) const {
      Bent<>::Lower::grad_y(out);
      out *= factor(Wrong::lower_grad_y);
    }
    void hess_yy(const Vec &v, Vec &out) const {
      Bent<>::Lower::hess_yy(v, out);
      out *= factor(Wrong::lower_hess_yy);
      out[0] += (factor(Wrong::lower_symmetry) - 1.0) * v[1];
    }
    void cross_xy(const Vec &v, Vec &out) const {
      Bent<>::Lower::cross_xy(v, out);
      out *= factor(Wrong::lower_cross_xy);
    }

  private:
    [[nodiscard]] double factor(Wrong here) const { return wrong_ == here ? slip : 1.0; }
    Wrong wrong_;
  };

  class Upper : public Bent<>::Upper {
  public:
    Upper(const Bent<> &problem, Wrong wrong) : Bent<>::Upper(problem), wrong_(wrong) {}
    [[nodiscard]] double value() const { return Bent<>::Upper::value() * factor(Wrong::upper_value); }
    void grad_x(Vec &out) const {
      Bent<>::Upper::grad_x(out);
      out *= factor(Wrong::upper_grad_x);
    }
    void grad_y(Vec &out) const {
      Bent<>::Upper::grad_y(out);
      out *= factor(Wrong::upper_grad_y);
    }
    void hess_yy(const Vec &v, Vec &out) const {
      Bent<>::Upper::hess_yy(v, out);
      out *= factor(Wrong::upper_hess_yy);
      out[0] += (factor(Wrong::upper_symmetry) - 1.0) * v[1];
    }
    void cross_xy(const Vec &v, Vec &out) const {
      Bent<>::Upper::cross_xy(v, out);
      out *= factor(Wrong::upper_cross_xy);
    }

  private:
    [[nodiscard]] double factor(Wrong here) const { return wrong_ == here ? slip : 1.0; }
    Wrong wrong_;
  };

  [[nodiscard]] Lower lower() const { return {problem_, wrong_}; }
  [[nodiscard]] Upper upper() const { return {problem_, wrong_}; }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] State<Vec> start() const { return problem_.start(); }

  bool respond(const Vec &x, Vec &y, Vec &v) const {
    if (wrong_ == Wrong::multiplier_after_a_gap && std::exchange(first_, false)) {
      throw NotAvailable("not here");
    }
    ExactSolver exact(problem_);
    const auto &point = exact.at(x, Vec::Zero(y_size()));
    y = point.y;
    v = point.v * (wrong_ >= Wrong::multiplier ? slip : 1.0);
    return true;
  }

private:
  Bent<> problem_ = bent();
  Wrong wrong_;
  mutable bool first_ = true;
};

static_assert(AggregatedProblem<Mistaken> && ClosedFormLower<Mistaken>);

const CheckRow &row_named(const CheckReport &report, std::string_view quantity) {
  const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                [&](const CheckRow &candidate) { return candidate.quantity == quantity; });
  if (row == report.rows.end()) {
    throw std::logic_error("no row of that name");
  }
  return *row;
}

TEST(Check, RefusesACenterThatDoesNotFit) {
  EXPECT_CONTAINS(refusal([] {
                    (void)check(bent(), State<Vec>{Vec::Ones(5), Vec::Ones(3), {}});
                  }),
                  "start: x has 5 entries, the problem expects 2");
}

struct Planted {
  Wrong wrong;
  const char *row;
};

void PrintTo(const Planted &planted, std::ostream *out) { *out << planted.row; }

class CheckFinds : public ::testing::TestWithParam<Planted> {};

TEST_P(CheckFinds, TheMistakeAndNamesIt) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    const auto report = check(Mistaken(GetParam().wrong), {.seed = seed});
    EXPECT_FALSE(report.passes());
    EXPECT_FALSE(row_named(report, GetParam().row).passes) << report.table();
    EXPECT_CONTAINS(report.table(), "WRONG");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Planted, CheckFinds,
    ::testing::Values(Planted{Wrong::lower_value, "lower grad_y"}, Planted{Wrong::lower_grad_y, "lower grad_y"},
                      Planted{Wrong::lower_hess_yy, "lower hess_yy"},
                      Planted{Wrong::lower_symmetry, "lower hess_yy symmetry"},
                      Planted{Wrong::lower_cross_xy, "lower cross_xy"}, Planted{Wrong::upper_value, "upper grad_x"},
                      Planted{Wrong::upper_grad_x, "upper grad_x"}, Planted{Wrong::upper_grad_y, "upper grad_y"},
                      Planted{Wrong::upper_hess_yy, "upper hess_yy"},
                      Planted{Wrong::upper_symmetry, "upper hess_yy symmetry"},
                      Planted{Wrong::upper_cross_xy, "upper cross_xy"}, Planted{Wrong::multiplier, "hypergradient"},
                      Planted{Wrong::multiplier_after_a_gap, "hypergradient"}));

TEST(Check, BlamesOneQuantityForOneMistake) {
  for (const auto &[wrong, blamed] :
       {std::pair{Wrong::upper_cross_xy, "upper cross_xy"}, std::pair{Wrong::lower_cross_xy, "lower cross_xy"},
        std::pair{Wrong::lower_grad_y, "lower grad_y"}}) {
    const auto report = check(Mistaken(wrong));
    for (const auto &row : report.rows) {
      EXPECT_EQ(row.is_wrong(), row.quantity == blamed) << report.table();
    }
  }
}

TEST(Check, PassesWhereNothingIsWrong) {
  const auto report = check(Mistaken(Wrong::nothing));
  EXPECT_TRUE(report.passes()) << report.table();
  EXPECT_EQ(report.rows.size(), 11U) << report.table();
  EXPECT_EQ(report.tolerance, 1e-6);
}

TEST(Check, LeavesOutWhatAProblemDoesNotOffer) {
  const auto report = check(AnyProblem<Vec>(bent<false>()));
  EXPECT_TRUE(report.passes()) << report.table();
  EXPECT_EQ(report.rows.size(), 8U) << report.table();
}

template <class Scalar, class Settings> void expect_passes(const Settings &settings) {
  for (const std::uint64_t seed : {0, 1}) {
    const auto report = check(settings.template make<Scalar>(), {.seed = seed});
    EXPECT_FALSE(report.is_wrong()) << Settings::name << "\n" << report.table();
    EXPECT_TRUE(report.passes() || (std::is_same_v<Scalar, float>)) << Settings::name << "\n" << report.table();
    EXPECT_EQ(report.tolerance, (std::is_same_v<Scalar, double> ? 1e-6 : 1e-5));
  }
}

TEST(Check, PassesForEveryBuiltInProblemAndFindsNothingWrongInFloat) {
  AllProblemSettings::each([]<class Settings>() {
    expect_passes<double>(Settings{});
    expect_passes<float>(Settings{});
  });
  expect_passes<double>(CounterExampleSettings{.matrix = MatrixKind::diagonal});
  expect_passes<double>(CounterExampleSettings{.matrix = MatrixKind::dense});
  expect_passes<double>(QuadraticSettings{.null_space = 5});
}

TEST(Check, SaysWhereTheHypergradientIsUndefined) {
  const auto report = check(MultipleMinimizers<double>(3));
  EXPECT_TRUE(report.passes());
  EXPECT_CONTAINS(row_named(report, "hypergradient").note, "singular");
  EXPECT_CONTAINS(report.table(), "undefined: singular H");
}

/// f = Σ g_i(y_i) − x_i y_i and F = ½‖x‖² + ½‖y‖², with functions g of one's own and changes of what is written.
class OfFunctions {
public:
  using Vector = Vec;
  struct Function {
    std::function<double(double)> value, slope, bend;
  };
  using Change = std::function<void(const Vec &v, Vec &out)>;

  struct Lower : Point<Vec> {
    explicit Lower(const OfFunctions &of) : problem(&of) {}
    [[nodiscard]] double value() const { return each(&Function::value).sum() - x().dot(y()); }
    void grad_y(Vec &out) const {
      out = each(&Function::slope) - x();
      changed(problem->grad_y, out, out);
    }
    void hess_yy(const Vec &v, Vec &out) const {
      out = each(&Function::bend).cwiseProduct(v);
      changed(problem->hess_yy, v, out);
    }
    void cross_xy(const Vec &v, Vec &out) const {
      out = -v;
      changed(problem->cross_xy, v, out);
    }
    [[nodiscard]] Vec each(std::function<double(double)> Function::*member) const {
      problem->farthest_x = std::max(problem->farthest_x, x().maxCoeff());
      problem->nearest_x = std::min(problem->nearest_x, x().minCoeff());
      return y().unaryExpr([&](double entry) { return (problem->function.*member)(entry); });
    }
    static void changed(const Change &change, const Vec &v, Vec &out) {
      if (change) {
        change(v, out);
      }
    }
    const OfFunctions *problem;
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * x().squaredNorm() + 0.5 * y().squaredNorm(); }
    void grad_x(Vec &out) const { out = x(); }
    void grad_y(Vec &out) const { out = y(); }
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return first.x.size(); }
  [[nodiscard]] Index y_size() const { return first.y.size(); }
  [[nodiscard]] State<Vec> start() const { return first; }
  [[nodiscard]] Box<Vec> box() const { return bounds; }

  Function function;
  State<Vec> first;
  Change grad_y = {};
  Change hess_yy = {};
  Change cross_xy = {};
  Box<Vec> bounds = {};
  mutable double farthest_x = -infinity;
  mutable double nearest_x = infinity;
};

const OfFunctions::Function entropy{.value = [](double y) { return y * std::log(y) - y; },
                                    .slope = [](double y) { return std::log(y); },
                                    .bend = [](double y) { return 1.0 / y; }};
const OfFunctions::Function quartic{.value = [](double y) { return 0.25 * y * y * y * y + 0.5 * y * y; },
                                    .slope = [](double y) { return y * y * y + y; },
                                    .bend = [](double y) { return 3.0 * y * y + 1.0; }};
const OfFunctions::Function steep{.value = [](double y) { return std::cosh(1e4 * y); },
                                  .slope = [](double y) { return 1e4 * std::sinh(1e4 * y); },
                                  .bend = [](double y) { return 1e8 * std::cosh(1e4 * y); }};

OfFunctions problem_of(const OfFunctions::Function &function, Index size, double y = 1.0) {
  return {.function = function, .first = {Vec::Constant(size, -1.0), Vec::Constant(size, y), {}}};
}

TEST(Check, SaysThatNothingCouldBeCheckedFromAStartThatIsOutsideOfTheDomain) {
  const auto report = check(problem_of(entropy, 3, -1.0));
  EXPECT_FALSE(report.passes());
  EXPECT_FALSE(report.is_wrong());
  EXPECT_CONTAINS(report.table(), "could not be checked: f is not finite at the start");
}

TEST(Check, NamesTheEntryOfAGradient) {
  for (const Index size : {5, 100}) {
    auto problem = problem_of(quartic, size);
    problem.grad_y = [](const Vec &, Vec &out) { out[3] *= slip; };
    const auto report = check(problem);
    EXPECT_CONTAINS(row_named(report, "lower grad_y").note, "entry 3 is ") << report.table();
    EXPECT_CONTAINS(row_named(report, "lower grad_y").note, ", differences give ");
  }
}

TEST(Check, NamesTheEntryOfAHessianAndOfACrossProduct) {
  for (const Index size : {5, 100}) {
    auto problem = problem_of(quartic, size);
    problem.hess_yy = [](const Vec &v, Vec &out) { out[4] += 1e-3 * v[2]; };
    problem.cross_xy = [](const Vec &v, Vec &out) { out[1] += 1e-3 * v[3]; };
    const auto report = check(problem);
    EXPECT_CONTAINS(row_named(report, "lower hess_yy").note, "entry y[4], y[2] is 0.001, differences give ");
    EXPECT_CONTAINS(row_named(report, "lower cross_xy").note, "entry x[1], y[3] is 0.001, differences give ");
  }
}

TEST(Check, SaysByWhichFactorAllIsWrong) {
  auto problem = problem_of(quartic, 4);
  problem.hess_yy = [](const Vec &, Vec &out) { out *= 2.0; };
  problem.cross_xy = [](const Vec &, Vec &out) { out = -out; };
  const auto report = check(problem);
  EXPECT_CONTAINS(row_named(report, "lower hess_yy").note, "all of it is 2 times the differences");
  EXPECT_CONTAINS(row_named(report, "lower cross_xy").note, "all of it is -1 times the differences");
}

TEST(Check, FindsAProductThatIsNotLinear) {
  auto problem = problem_of(quartic, 4);
  problem.hess_yy = [](const Vec &v, Vec &out) { out += 0.01 * v.cwiseAbs(); };
  EXPECT_CONTAINS(row_named(check(problem), "lower hess_yy").note, "hess_yy is not linear in v");
}

TEST(Check, FindsADerivativeThatIsNotFiniteWhereTheValueIs) {
  auto problem = problem_of(quartic, 4);
  problem.cross_xy = [](const Vec &, Vec &out) { out[2] = std::nan(""); };
  EXPECT_CONTAINS(row_named(check(problem), "lower cross_xy").note, "entry 2 is nan where f is finite");
}

TEST(Check, StaysWhereFunctionsAreFiniteAndDoNotExplode) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const auto &problem : {problem_of(entropy, 3), problem_of(entropy, 3, 1e-4), problem_of(entropy, 40, 1e4),
                                problem_of(quartic, 3, 1e-4), problem_of(steep, 3, 0.0)}) {
      const auto report = check(problem, {.seed = seed});
      EXPECT_FALSE(report.is_wrong()) << report.table();
      EXPECT_TRUE(row_named(report, "lower grad_y").passes && row_named(report, "lower hess_yy").passes &&
                  row_named(report, "lower cross_xy").passes)
          << report.table();
    }
  }
}

TEST(Check, NeverLeavesTheBoundsOfX) {
  auto problem = problem_of(quartic, 4);
  problem.bounds = Box<Vec>(Vec::Constant(4, -1.0), Vec::Constant(4, -0.99), 4);
  const auto report = check(problem);
  EXPECT_TRUE(report.passes()) << report.table();
  EXPECT_GE(problem.nearest_x, -1.0);
  EXPECT_LE(problem.farthest_x, -0.99);
  problem.bounds = Box<Vec>(Vec::Constant(4, -1.0), Vec::Constant(4, -1.0), 4);
  EXPECT_CONTAINS(check(problem).table(), "bounds leave no entry of x any room");
}

TEST(Check, SaysWhatDifferencesCannotResolve) {
  const OfFunctions::Function far{.value = [](double y) { return 1e18 + y * y; },
                                  .slope = [](double y) { return 2.0 * y; },
                                  .bend = [](double) { return 2.0; }};
  const auto report = check(problem_of(far, 3));
  EXPECT_FALSE(report.passes());
  EXPECT_FALSE(report.is_wrong()) << report.table();
  EXPECT_CONTAINS(row_named(report, "lower grad_y").unchecked, "differences cannot resolve it: entry ");
  EXPECT_TRUE(row_named(report, "lower hess_yy").passes) << report.table();
  EXPECT_CONTAINS(report.table(), "could not be checked: ");
}

} // namespace
} // namespace duplex::testing
