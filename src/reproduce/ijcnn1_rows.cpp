#include "reproduce/ijcnn1_rows.hpp"

#include <duplex/core/error.hpp>
#include <duplex/problem/problem.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace duplex::reproduce {

namespace in_ijcnn1_rows {
namespace {

zoo::SignedRows signed_rows(const data::Dataset &all, Index first, Index count) {
  const Index columns = all.features.columns();
  zoo::SignedRows out{Eigen::MatrixXd(columns, count), Eigen::VectorXd(count)};
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < columns; ++j) {
      out.samples(j, i) = static_cast<double>(all.features.value(first + i, j));
    }
    out.signs[i] = all.labels[static_cast<std::size_t>(first + i)] == 0 ? -1.0 : 1.0;
  }
  return out;
}

} // namespace
} // namespace in_ijcnn1_rows

data::Dataset read_ijcnn1(const Settings &settings, std::string_view experiment) {
  if (settings.ijcnn1.empty()) {
    throw InvalidInput(
        fmt::format("reproduce {}: --ijcnn1 is missing, expected the file of ijcnn1's training rows in "
                    "LIBSVM's format (49 990 rows with 22 features and the labels -1 and +1, .gz or not)",
                    experiment));
  }
  auto all = data::read_dataset(settings.ijcnn1, {.interrupt = settings.interrupt});
  if (all.label_names.size() != 2) {
    throw InvalidInput(fmt::format("{}: {} classes, expected two", settings.ijcnn1, all.label_names.size()));
  }
  if (all.features.rows() <= ijcnn1_training_rows) {
    throw InvalidInput(fmt::format("{}: {} rows, expected more than the {} that are trained on", settings.ijcnn1,
                                   all.features.rows(), ijcnn1_training_rows));
  }
  return all;
}

zoo::PenalizedLogistic penalties_of_ijcnn1(const data::Dataset &all) {
  using in_ijcnn1_rows::signed_rows;
  const Index held_out = all.features.rows() - ijcnn1_training_rows;
  return {signed_rows(all, 0, ijcnn1_training_rows), signed_rows(all, ijcnn1_training_rows, held_out), ijcnn1_limit};
}

State<Eigen::VectorXd> start_on_ijcnn1(Index features, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  State<Eigen::VectorXd> state{Eigen::VectorXd(features), Eigen::VectorXd(features), Eigen::VectorXd::Zero(features)};
  for (Index j = 0; j < features; ++j) {
    state.x[j] = std::clamp(std::log(uniform(generator)), -ijcnn1_limit, ijcnn1_limit);
    state.y[j] = normal(generator);
  }
  return state;
}

ExactPenalties::ExactPenalties(const zoo::PenalizedLogistic &problem)
    : problem_(&problem), box_(box_of(problem)), loss_(problem.training()), held_out_(problem.held_out()),
      y_(Vector::Zero(problem.y_size())) {}

double ExactPenalties::value(const Vector &penalties, const Vector &y) {
  loss_.at(y);
  return loss_.value() + 0.5 * (penalties.array() * y.array().square()).sum();
}

/// Newton's method, whose steps are halved until f falls: the last minimizer may be far from this one.
void ExactPenalties::minimize(const Vector &penalties) {
  constexpr int most_steps = 100;
  constexpr double rounding = 1e-13;
  constexpr double last_move = 1e-9; // after which the error is of its square
  double here = value(penalties, y_);
  for (int step = 0; step < most_steps; ++step) {
    const Vector gradient = loss_.gradient() + penalties.cwiseProduct(y_);
    const auto &samples = problem_->training().samples;
    Eigen::MatrixXd hessian = samples * loss_.curvatures().asDiagonal() * samples.transpose();
    hessian.diagonal() += penalties;
    factors_.compute(hessian);
    Vector move = factors_.solve(gradient);
    const bool is_last = move.norm() <= last_move * y_.norm();
    double there = value(penalties, y_ - move);
    for (int halved = 0; !(there <= here + rounding * std::abs(here)) && halved < most_steps; ++halved) {
      move *= 0.5;
      there = value(penalties, y_ - move);
    }
    y_ -= move;
    here = there;
    if (is_last) {
      return;
    }
  }
  throw NotAvailable("ijcnn1: Newton's method has found no minimizer of the lower level");
}

ExactPenalties::Truth ExactPenalties::at(const Vector &x) {
  const Vector penalties = x.array().exp();
  minimize(penalties);
  held_out_.at(y_);
  const Vector v = factors_.solve(held_out_.gradient());
  const Vector hypergradient = -penalties.cwiseProduct(y_).cwiseProduct(v);
  Vector scratch = hypergradient;
  return {held_out_.value(), box_.free_norm(x, hypergradient, scratch)};
}

} // namespace duplex::reproduce
