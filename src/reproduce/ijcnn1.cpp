// ijcnn1, the field's benchmark of penalties: logistic regression with one for each of 22 features, tuned without steps
// on held-out rows, from ten starts. Penalties are bounded, since ‖∇φ‖ vanishes also where they run away. What a run
// says is checked by Newton's method with LDLᵀ, which shares nothing with it.

#include "data/dataset.hpp"
#include "report/table.hpp"
#include "reproduce/reproduce.hpp"
#include "zoo/penalized_logistic.hpp"

#include <duplex/core/error.hpp>
#include <duplex/problem/bounded.hpp>
#include <duplex/solve.hpp>
#include <duplex/space/box.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

namespace duplex::reproduce {

namespace in_ijcnn1 {
namespace {

using experiment::Experiment;
using zoo::PenalizedLogistic;
using zoo::SignedRows;
using Vector = Eigen::VectorXd;

constexpr double tolerance = 1e-5;
constexpr double wanted_loss = 0.1545;
constexpr double limit = 12.0; ///< of the log-penalties
constexpr Index training_rows = 35'000;

SignedRows rows_of(const data::Dataset &all, Index first, Index count) {
  const Index columns = all.features.columns();
  SignedRows out{Eigen::MatrixXd(columns, count), Vector(count)};
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < columns; ++j) {
      out.samples(j, i) = static_cast<double>(all.features.value(first + i, j));
    }
    out.signs[i] = all.labels[static_cast<std::size_t>(first + i)] == 0 ? -1.0 : 1.0;
  }
  return out;
}

PenalizedLogistic problem_from(const Settings &settings) {
  if (settings.ijcnn1.empty()) {
    throw InvalidInput("reproduce ijcnn1: --ijcnn1 is missing, expected the file of ijcnn1's training rows in LIBSVM's "
                       "format (49 990 rows with 22 features and the labels -1 and +1, .gz or not)");
  }
  const auto all = data::read_dataset(settings.ijcnn1, {.interrupt = settings.interrupt});
  if (all.label_names.size() != 2) {
    throw InvalidInput(fmt::format("{}: {} classes, expected two", settings.ijcnn1, all.label_names.size()));
  }
  if (all.features.rows() <= training_rows) {
    throw InvalidInput(fmt::format("{}: {} rows, expected more than the {} that are trained on", settings.ijcnn1,
                                   all.features.rows(), training_rows));
  }
  return {rows_of(all, 0, training_rows), rows_of(all, training_rows, all.features.rows() - training_rows), limit};
}

/// x = log U(0, 1) within the bounds, y normal, as the field's benchmark starts.
State<Vector> start_of(const PenalizedLogistic &problem, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  State<Vector> state{Vector(problem.x_size()), Vector(problem.y_size()), Vector::Zero(problem.y_size())};
  for (Index j = 0; j < problem.x_size(); ++j) {
    state.x[j] = std::clamp(std::log(uniform(generator)), -limit, limit);
    state.y[j] = normal(generator);
  }
  return state;
}

struct Truth {
  double loss = 0.0;
  double slope = 0.0; ///< of the free part of ∇φ
};

/// φ and ∇φ by Newton's method on the lower level and LDLᵀ of its Hessian as a matrix.
Truth truth_at(const PenalizedLogistic &problem, const Vector &x) {
  const auto &rows = problem.training();
  const Vector penalties = x.array().exp();
  PenalizedLogistic::MeanLoss loss(rows);
  Vector y = Vector::Zero(x.size());
  Eigen::LDLT<Eigen::MatrixXd> factors;
  constexpr int most_steps = 50;
  for (int step = 0; step < most_steps; ++step) {
    loss.at(y);
    const Vector gradient = loss.gradient() + penalties.cwiseProduct(y);
    Eigen::MatrixXd hessian = rows.samples * loss.curvatures().asDiagonal() * rows.samples.transpose();
    hessian.diagonal() += penalties;
    factors.compute(hessian);
    const Vector move = factors.solve(gradient);
    y -= move;
    if (move.norm() <= 1e-13 * y.norm()) {
      break;
    }
  }
  PenalizedLogistic::MeanLoss held_out(problem.held_out());
  held_out.at(y);
  const Vector v = factors.solve(held_out.gradient());
  const Vector hypergradient = -penalties.cwiseProduct(y).cwiseProduct(v);
  Vector scratch = hypergradient;
  return {held_out.value(), box_of(problem).free_norm(x, hypergradient, scratch)};
}

} // namespace
} // namespace in_ijcnn1

experiment::Experiment ijcnn1(const Settings &settings) {
  using namespace in_ijcnn1;
  const auto problem = problem_from(settings);
  Experiment result{.name = "ijcnn1",
                    .title = std::string(title_of("ijcnn1")),
                    .options = {{"file", settings.ijcnn1}, {"starts", settings.starts}},
                    .seed = settings.seed,
                    .reference = "target"};
  report::Table table({"start", "claims", "h", "‖∇h‖/‖∇h₀‖", "steps", "products", "seconds"});
  int verified = 0;
  int falsely = 0;
  double best = std::numeric_limits<double>::infinity();
  double worst = 0.0;
  for (std::int64_t k = 0; k < settings.starts; ++k) {
    const auto start = start_of(problem, settings.seed + static_cast<std::uint64_t>(k));
    auto state = start;
    const auto summary = solve(problem, state, {.interrupt = settings.interrupt});
    result.interrupted = settings.interrupted();
    if (result.interrupted) {
      return result;
    }
    const Truth first = truth_at(problem, start.x);
    const Truth last = truth_at(problem, state.x);
    const double ratio = last.slope / first.slope;
    const bool claims = summary.termination == Termination::tolerance_verified;
    verified += claims ? 1 : 0;
    falsely += claims && !(ratio <= tolerance) ? 1 : 0;
    best = std::min(best, last.loss);
    worst = last.loss <= worst ? worst : last.loss;
    table.add({std::to_string(k), std::string(name_of(summary.termination)), fmt::format("{:.6f}", last.loss),
               fmt::format("{:.2g}", ratio), std::to_string(summary.iterations),
               std::to_string(summary.counters.gradients_and_products()), fmt::format("{:.2f}", summary.seconds)});
    settings.told(fmt::format("start {}: h = {:.6f}, {}", k, last.loss, name_of(summary.termination)));
  }
  result.tables.push_back(table.text());
  result.claim("ijcnn1.verified", "every start ends with a verified solution", "all",
               fmt::format("{} of {}", verified, settings.starts), verified == settings.starts);
  result.claim("ijcnn1.honest", "no claim is denied by Newton's method and LDL^T", "none", std::to_string(falsely),
               falsely == 0);
  result.claim("ijcnn1.loss", "the loss on the held-out rows, from the worst of the starts", "at most 0.1545",
               fmt::format("{:.6f}; from the best {:.6f}", worst, best), worst <= wanted_loss);
  return result;
}

} // namespace duplex::reproduce
