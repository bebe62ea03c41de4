#include "reproduce/checked_claims.hpp"

#include "catalog/catalog.hpp"
#include "reproduce/least_squares.hpp"
#include "reproduce/quad.hpp"

#include <duplex/measure/curvature.hpp>
#include <duplex/problems/quadratic.hpp>

#include <Eigen/LU>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace duplex::reproduce {

namespace in_checked_claims {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// With A = TR, R of full row rank and T of full column rank, the minimizers of f are {y : Ry = T⁺Bx}, and that which F
/// prefers is c + Rᵀw with RRᵀw = T⁺Bx − Rc. ∇φ = (T⁺B)ᵀw + x/100.
double slope_of(const LeastSquares &problem, const QuadMatrix &t, const QuadMatrix &r, const Vector &x) {
  const QuadMatrix b(problem.data().b);
  const QuadMatrix tt = t.transposed() * t;
  const QuadMatrix tb = t.transposed() * b;
  QuadMatrix through(r.rows(), b.columns()); // T⁺B
  for (std::size_t j = 0; j < b.columns(); ++j) {
    QuadVector column(r.rows());
    for (std::size_t i = 0; i < r.rows(); ++i) {
      column[i] = tb(i, j);
    }
    column = solved(tt, column);
    for (std::size_t i = 0; i < r.rows(); ++i) {
      through(i, j) = column[i];
    }
  }
  QuadVector right = through * quads(x);
  add(-1, r * quads(problem.data().c), right);
  QuadVector slope = through.transposed() * solved(r * r.transposed(), right);
  add(Quad(LeastSquares::weight), quads(x), slope);
  return length(slope);
}

/// y = −H⁻¹(Cᵀx + h), v = H⁻¹∇yF, ∇φ = ∇xF − Cv.
double slope_of(const Quadratic<double> &problem, const Vector &x) {
  const auto &data = problem.data();
  const auto n = static_cast<std::size_t>(problem.x_size());
  const QuadMatrix h(data.lower_hessian);
  const QuadMatrix c(data.cross);
  QuadVector right = quads(data.lower_linear);
  add(1, c.transposed() * quads(x), right);
  QuadVector z = quads(x);
  for (const Quad entry : solved(h, right)) {
    z.push_back(-entry);
  }
  QuadVector gradient = quads(data.upper_linear);
  add(1, QuadMatrix(data.upper_hessian) * z, gradient);
  const QuadVector v = solved(h, {gradient.begin() + static_cast<std::ptrdiff_t>(n), gradient.end()});
  gradient.resize(n);
  add(-1, c * v, gradient);
  return length(gradient);
}

class Draws {
public:
  explicit Draws(std::uint64_t seed) : generator_(seed) {}
  [[nodiscard]] double uniform() { return static_cast<double>(generator_() >> 11U) * 0x1p-53; }
  [[nodiscard]] double power_of_ten(double low, double high) { return std::pow(10.0, low + (high - low) * uniform()); }
  [[nodiscard]] Index whole(Index low, Index high) {
    return low + static_cast<Index>(uniform() * static_cast<double>(high - low + 1));
  }
  [[nodiscard]] Matrix normal(Index rows, Index columns) {
    Vector entries(rows * columns);
    fill_normal(generator_, entries);
    return Eigen::Map<const Matrix>(entries.data(), rows, columns);
  }
  [[nodiscard]] Matrix integers(Index rows, Index columns) {
    return Matrix::NullaryExpr(rows, columns, [this] { return static_cast<double>(whole(-4, 4)); });
  }
  [[nodiscard]] std::uint64_t seed() { return generator_(); }

private:
  std::mt19937_64 generator_;
};

template <class P>
CheckedClaim run(const P &problem, State<Vector> start, const std::string &solver, const Options &options,
                 double tolerance, std::string words, const auto &slope) {
  auto state = start;
  const auto summary = catalog::make_solver(solver)->run(problem, state, options, {});
  CheckedClaim claim{.tolerance = tolerance,
                     .claimed = summary.converged(),
                     .problem = std::move(words) + ", " + solver,
                     .said = summary.brief()};
  if (claim.claimed) {
    const double first = slope(start.x);
    const double last = slope(state.x);
    claim.ratio = first > 0.0 ? last / first : (last > 0.0 ? infinity : 0.0);
  }
  return claim;
}

/// Whether rows or columns of a matrix, whichever are fewer, depend on each other but for the rounding of its entries:
/// then these say both that it is singular and that it is not, and no answer is the truth. By inverse iteration.
bool is_singular_but_for_rounding(const Matrix &a) {
  const QuadMatrix quad(a);
  const QuadMatrix gram = a.rows() < a.cols() ? quad * quad.transposed() : quad.transposed() * quad;
  QuadVector direction = quads(Vector::Ones(std::min(a.rows(), a.cols())));
  double smallest = infinity;
  for (int i = 0; i < 4; ++i) {
    const double before = length(direction);
    direction = solved(gram, direction);
    smallest = std::sqrt(before / length(direction));
  }
  return !(smallest > 2.0 * std::numeric_limits<double>::epsilon() * a.norm());
}

CheckedClaim least_squares(Draws &draw, bool nearly) {
  const Index n = draw.whole(2, 7);
  Matrix t;
  Matrix r;
  std::string words;
  constexpr int kinds = 3;
  const auto kind = static_cast<int>(kinds * draw.uniform());
  if (!nearly && kind < 2) { // wide
    const Index rows = draw.whole(3, 30);
    r = kind == 0 ? draw.normal(rows, rows + draw.whole(1, 30)) : draw.integers(rows, rows + draw.whole(1, 30));
    t = Matrix::Identity(rows, rows);
    words = fmt::format("A wide, {} x {}", r.rows(), r.cols());
  } else if (!nearly) { // rows that depend on others, exactly
    const Index rank = draw.whole(2, 7);
    r = draw.integers(rank, rank + draw.whole(1, 12));
    t = Matrix::Identity(rank + draw.whole(1, 4), rank);
    t.bottomRows(t.rows() - rank) = draw.integers(t.rows() - rank, rank);
    words = fmt::format("A of rank {}, {} x {}", rank, t.rows(), r.cols());
  } else {
    const double level = draw.power_of_ten(-12.0, -1.0);
    const bool wide = kind == 0;
    const Index rows = draw.whole(3, 11);
    const Index columns = wide ? rows + draw.whole(1, 12) : std::max<Index>(2, rows - draw.whole(0, 3));
    Matrix a = draw.normal(rows, columns);
    if (wide) {
      a.row(rows - 1) = draw.normal(1, rows - 1) * a.topRows(rows - 1) + level * draw.normal(1, columns);
    } else {
      a.col(columns - 1) = a.leftCols(columns - 1) * draw.normal(columns - 1, 1) + level * draw.normal(rows, 1);
    }
    r = wide ? a : Matrix(Matrix::Identity(columns, columns));
    t = wide ? Matrix(Matrix::Identity(rows, rows)) : a;
    words = fmt::format("A {} x {}, dependent but for {:.0e}", rows, columns, level);
  }
  const LeastSquares problem({t * r, draw.normal(t.rows(), n), draw.normal(r.cols(), 1)});
  const double tolerance = draw.power_of_ten(-9.0, -1.0);
  const QuadMatrix left(t);
  const QuadMatrix right(r);
  if (nearly && is_singular_but_for_rounding(problem.data().a)) {
    CheckedClaim left_out;
    left_out.tolerance = tolerance;
    left_out.problem = words + ", left out: singular but for the rounding of its entries";
    return left_out;
  }
  return run(catalog::Problem(problem), problem.start(), fmt::format("automatic:tolerance={}", tolerance),
             {.recoveries = draw.uniform() < 0.5 ? 12 : 0}, tolerance, words,
             [&](const Vector &x) { return slope_of(problem, left, right, x); });
}

Quadratic<double> scaled_quadratic(Draws &draw, double most_condition, double most_unit, std::string &words) {
  const QuadraticSettings settings{.n = draw.whole(1, 7),
                                   .m = draw.whole(1, 12),
                                   .condition = draw.power_of_ten(0.0, most_condition),
                                   .upper_condition = draw.power_of_ten(0.0, 4.0),
                                   .coupling = draw.power_of_ten(-2.0, 1.0),
                                   .seed = draw.seed()};
  auto data = settings.generate<double>().data();
  if (draw.uniform() < 0.3) { // graded
    data.lower_hessian.setZero();
    for (Index i = 0; i < settings.m; ++i) {
      data.lower_hessian(i, i) = draw.power_of_ten(-most_condition, 0.0);
    }
  }
  const auto unit = [&] { return draw.power_of_ten(-most_unit, most_unit); };
  words = fmt::format("n = {}, m = {}, condition {:.0e}", settings.n, settings.m, settings.condition);
  return Quadratic<double>(std::move(data)).in_units({.upper = unit(), .lower = unit(), .x = unit(), .y = unit()});
}

CheckedClaim scaled(Draws &draw) {
  std::string words;
  const auto problem = scaled_quadratic(draw, 10.0, 8.0, words);
  const double tolerance = draw.power_of_ten(-16.0, -0.5);
  std::string solver = fmt::format("automatic:tolerance={}", tolerance);
  if (draw.uniform() < 0.5) {
    solver += fmt::format(":upper-scale={}", draw.power_of_ten(-8.0, 8.0));
  }
  auto start = problem.start();
  if (draw.uniform() < 0.5) {
    start.x = draw.normal(problem.x_size(), 1) * draw.power_of_ten(-6.0, 6.0);
    start.y = draw.normal(problem.y_size(), 1) * draw.power_of_ten(-6.0, 6.0);
  }
  return run(catalog::Problem(problem), start, solver, {.recoveries = draw.uniform() < 0.5 ? 12 : 0}, tolerance, words,
             [&](const Vector &x) { return slope_of(problem, x); });
}

CheckedClaim relative_kkt(Draws &draw) {
  std::string words;
  const auto problem = scaled_quadratic(draw, 3.0, 3.0, words);
  const double curvature = largest_curvature(problem, problem.start().x, problem.start().y);
  const double lower_step = draw.power_of_ten(-0.5, 0.5) / curvature;
  const auto response = problem.data().cross * problem.data().lower_hessian.inverse();
  const Matrix slope = problem.data().upper_hessian.topLeftCorner(problem.x_size(), problem.x_size()) +
                       response * problem.data().upper_hessian.bottomRightCorner(problem.y_size(), problem.y_size()) *
                           response.transpose();
  const double upper_step = draw.power_of_ten(-2.0, 0.5) / slope.norm();
  const double tolerance = draw.power_of_ten(-7.0, -0.5);
  const auto kind = static_cast<int>(4.0 * draw.uniform());
  const std::string upper = draw.uniform() < 0.3 ? ":upper=momentum" : "";
  const std::string solver =
      kind == 0
          ? fmt::format("bagdc:alpha={}:beta={}:eta={}:dual=constant{}", upper_step, lower_step, lower_step, upper)
      : kind == 1 ? fmt::format("bagdc:alpha={}:beta={}{}", upper_step, lower_step, upper)
      : kind == 2 ? fmt::format("rhg:alpha={}:beta={}:inner={}{}", upper_step, lower_step, draw.whole(1, 30), upper)
                  : fmt::format("cg:alpha={}:beta={}:inner={}{}", upper_step, lower_step, draw.whole(1, 30), upper);
  auto start = problem.start();
  start.x = draw.normal(problem.x_size(), 1) * draw.power_of_ten(-2.0, 2.0);
  start.y = draw.normal(problem.y_size(), 1) * draw.power_of_ten(-2.0, 2.0);
  const Options options{.max_iterations = 3000,
                        .kkt_relative_tolerance = tolerance,
                        .divergence_factor = 1e30,
                        .recoveries = draw.uniform() < 0.5 ? 12 : 0};
  return run(catalog::Problem(problem), start, solver, options, tolerance, words,
             [&](const Vector &x) { return slope_of(problem, x); });
}

} // namespace
} // namespace in_checked_claims

CheckedClaim check_claim(ClaimFamily family, std::uint64_t seed) {
  using namespace in_checked_claims;
  Draws draw(seed);
  switch (family) {
  case ClaimFamily::singular:
    return least_squares(draw, false);
  case ClaimFamily::nearly_singular:
    return least_squares(draw, true);
  case ClaimFamily::scaled:
    return scaled(draw);
  default:
    return relative_kkt(draw);
  }
}

} // namespace duplex::reproduce
