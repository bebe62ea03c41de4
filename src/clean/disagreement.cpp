#include "clean/disagreement.hpp"

#include "clean/beliefs.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::clean {

namespace {

/// Of the log-probabilities of labels.
struct Told {
  double mean = 0.0;
  double variance_of_mean = 0.0;
};

constexpr double least_told = -7.0; // so that no single row decides

Told told(const UnseenBeliefs &rows) {
  const Index count = rows.log_p.rows();
  const auto size = static_cast<double>(count);
  double sum = 0.0;
  double squares = 0.0;
  for (Index i = 0; i < count; ++i) {
    const auto label = static_cast<Index>(rows.labels[static_cast<std::size_t>(i)]);
    const double log_p = std::max(least_told, static_cast<double>(rows.log_p(i, label)));
    sum += log_p;
    squares += log_p * log_p;
  }
  const double mean = sum / size;
  return {mean, (squares / size - mean * mean) / size};
}

/// The mean log-probability of the true labels, as they are believed to be.
double mean_of_true_labels(const Matrix &log_p, const Matrix &posterior) {
  double sum = 0.0;
  for (Index i = 0; i < log_p.rows(); ++i) {
    sum += (log_p.row(i).cast<double>().cwiseMax(least_told).array() * posterior.row(i).cast<double>().array()).sum();
  }
  return sum / static_cast<double>(log_p.rows());
}

/// Trust whose log-odds are less by so much.
float with_less(float trust, double by) {
  constexpr double certain = 1e-7;
  const double own = std::clamp(static_cast<double>(trust), certain, 1.0 - certain);
  return static_cast<float>(1.0 / (1.0 + std::exp(by - std::log(own / (1.0 - own)))));
}

} // namespace

Disagreement disagreement_of(const UnseenBeliefs &rows, const UnseenBeliefs &trusted, const AccountedFor &known) {
  constexpr double least_variance = 1e-4; // of the mean: few rows that are all the same are not sure of everything
  const Told given = told(rows);
  const Told right = told(trusted);
  const double difference = right.mean - given.mean;
  const double by_class = known.share_by_class * (mean_of_true_labels(rows.log_p, known.posterior) - given.mean);
  return {.part = 1.0 - share_of_equal(predicted(rows.log_p), rows.labels),
          .right = share_of_equal(predicted(trusted.log_p), trusted.labels),
          .difference = difference - std::clamp(by_class, std::min(0.0, difference), std::max(0.0, difference)),
          .error = std::sqrt(std::max(least_variance, right.variance_of_mean) + given.variance_of_mean)};
}

double probability_of_wrong_labels(const Disagreement &disagreement) {
  constexpr double odds_before = 3.0; // a table is cleaned because labels are believed to be wrong
  constexpr double spread = 0.2;      // σ
  constexpr double most = 50.0;
  const double own = disagreement.error * disagreement.error;
  const double told = spread * spread / (spread * spread + own);
  const double square = disagreement.difference * disagreement.difference / own;
  const double odds = odds_before * std::sqrt(1.0 - told) * std::exp(std::min(0.5 * told * square, most));
  return odds / (1.0 + odds);
}

double part_taken_for_wrong(const Disagreement &disagreement, double wrong_by_class) {
  constexpr double some_by_class = 0.08; // from here on, less is added
  constexpr double many_by_class = 0.12; // and nothing from here on
  const double in_force = std::clamp((many_by_class - wrong_by_class) / (many_by_class - some_by_class), 0.0, 1.0);
  return in_force * probability_of_wrong_labels(disagreement) * disagreement.right * disagreement.part;
}

void lower_trust(double part_wrong, Vector &trust) {
  constexpr int halvings = 40;
  constexpr double largest = 15.0; // of what is taken from log-odds
  const auto lowered = [&](double by) { return Vector(trust.unaryExpr([by](float t) { return with_less(t, by); })); };
  const auto part_of = [](const Vector &of_rows) { return 1.0 - of_rows.cast<double>().mean(); };
  if (trust.size() == 0 || part_of(trust) >= part_wrong) {
    return;
  }
  double too_little = 0.0;
  double enough = largest;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (too_little + enough);
    (part_of(lowered(middle)) < part_wrong ? too_little : enough) = middle;
  }
  trust = lowered(too_little);
}

} // namespace duplex::clean
