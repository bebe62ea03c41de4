// check(): a derivative that is wrong by one part in ten thousand is found and named;
// the built-in problems pass.

#include "support.hpp"

#include <algorithm>

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
  const auto report = check(Mistaken(Wrong::upper_cross_xy));
  for (const auto &row : report.rows) {
    EXPECT_EQ(row.passes, row.quantity != "upper cross_xy") << report.table();
  }
}

TEST(Check, PassesWhereNothingIsWrong) {
  const auto report = check(Mistaken(Wrong::nothing));
  EXPECT_TRUE(report.passes()) << report.table();
  EXPECT_EQ(report.rows.size(), 10U) << report.table();
  EXPECT_EQ(report.tolerance, 1e-6);
}

TEST(Check, LeavesOutWhatAProblemDoesNotOffer) {
  const auto report = check(AnyProblem<Vec>(bent<false>()));
  EXPECT_TRUE(report.passes()) << report.table();
  EXPECT_EQ(report.rows.size(), 7U) << report.table();
}

template <class Scalar, class Settings> void expect_passes(const Settings &settings) {
  for (const std::uint64_t seed : {0, 1}) {
    const auto report = check(settings.template make<Scalar>(), {.seed = seed});
    EXPECT_TRUE(report.passes()) << Settings::name << "\n" << report.table();
    EXPECT_EQ(report.tolerance, (std::is_same_v<Scalar, double> ? 1e-6 : 2e-2));
  }
}

TEST(Check, PassesForEveryBuiltInProblemInBothPrecisions) {
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

} // namespace
} // namespace duplex::testing
