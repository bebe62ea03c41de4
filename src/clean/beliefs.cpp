#include "clean/beliefs.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::clean {

double share_of_equal(std::span<const std::uint32_t> guesses, std::span<const std::uint32_t> labels) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    right += guesses[i] == labels[i] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(labels.size(), 1));
}

Agreement agreement_of(std::span<const std::uint32_t> guesses, std::span<const std::uint32_t> labels, Index classes) {
  const auto shares_of = [&](std::span<const std::uint32_t> all) {
    Eigen::VectorXd shares = Eigen::VectorXd::Zero(classes);
    for (const auto label : all) {
      shares[label] += 1.0 / static_cast<double>(all.size());
    }
    return shares;
  };
  return {share_of_equal(guesses, labels), shares_of(guesses).dot(shares_of(labels))};
}

std::vector<std::uint32_t> predicted(const Matrix &probabilities) {
  std::vector<std::uint32_t> out(static_cast<std::size_t>(probabilities.rows()));
  for (Index i = 0; i < probabilities.rows(); ++i) {
    Index best = 0;
    (void)probabilities.row(i).maxCoeff(&best);
    out[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(best);
  }
  return out;
}

void require_finite(const Matrix &log_p) {
  if (!log_p.allFinite()) {
    throw NotAvailable("a model's belief of a row is NaN or infinite: the features may be too large for floats");
  }
}

double mean_loss(const Matrix &log_p, const std::vector<std::uint32_t> &labels) {
  double sum = 0.0;
  for (Index i = 0; i < log_p.rows(); ++i) {
    sum -= static_cast<double>(log_p(i, labels[static_cast<std::size_t>(i)]));
  }
  return sum / static_cast<double>(log_p.rows());
}

double entropy_of(const std::vector<std::uint32_t> &labels, Index classes) {
  std::vector<double> counts(static_cast<std::size_t>(classes));
  for (const auto label : labels) {
    counts[label] += 1.0;
  }
  double entropy = 0.0;
  for (const double count : counts) {
    const double share = count / static_cast<double>(labels.size());
    entropy -= share > 0.0 ? share * std::log(share) : 0.0;
  }
  return entropy;
}

} // namespace duplex::clean
