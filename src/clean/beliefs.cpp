#include "clean/beliefs.hpp"

#include <Eigen/Cholesky>

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

std::vector<std::uint32_t> predicted(const Matrix &probabilities) {
  std::vector<std::uint32_t> out(static_cast<std::size_t>(probabilities.rows()));
  for (Index i = 0; i < probabilities.rows(); ++i) {
    Index best = 0;
    (void)probabilities.row(i).maxCoeff(&best);
    out[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(best);
  }
  return out;
}

double mean_loss(const Matrix &log_p, const std::vector<std::uint32_t> &labels) {
  double sum = 0.0;
  for (Index i = 0; i < log_p.rows(); ++i) {
    sum -= static_cast<double>(log_p(i, labels[static_cast<std::size_t>(i)]));
  }
  return sum / static_cast<double>(log_p.rows());
}

Eigen::Vector2d pooling_weights(const Matrix &first, const Matrix &second, const std::vector<std::uint32_t> &labels) {
  constexpr double prior = 5.0; // samples' worth
  constexpr double largest = 3.0;
  constexpr int newton_steps = 20;
  Eigen::Vector2d ab(0.5, 0.5);
  for (int step = 0; step < newton_steps; ++step) {
    Eigen::Vector2d gradient = prior * (ab - Eigen::Vector2d(0.5, 0.5));
    Eigen::Matrix2d hessian = prior * Eigen::Matrix2d::Identity();
    for (Index i = 0; i < first.rows(); ++i) {
      const Eigen::ArrayXd one = first.row(i).transpose().cast<double>().array();
      const Eigen::ArrayXd two = second.row(i).transpose().cast<double>().array();
      Eigen::ArrayXd p = ab[0] * one + ab[1] * two;
      p = (p - p.maxCoeff()).exp();
      p /= p.sum();
      const Eigen::Vector2d mean((p * one).sum(), (p * two).sum());
      const auto label = static_cast<Index>(labels[static_cast<std::size_t>(i)]);
      gradient += mean - Eigen::Vector2d(one[label], two[label]);
      const double mixed = (p * one * two).sum();
      Eigen::Matrix2d second_moment;
      second_moment << (p * one * one).sum(), mixed, mixed, (p * two * two).sum();
      hessian += second_moment - mean * mean.transpose();
    }
    for (Index i = 0; i < 2; ++i) { // a weight that rests on its bound stays there while the slope points outwards
      if ((ab[i] <= 0.0 && gradient[i] > 0.0) || (ab[i] >= largest && gradient[i] < 0.0)) {
        gradient[i] = hessian(0, 1) = hessian(1, 0) = 0.0;
      }
    }
    ab = (ab - hessian.ldlt().solve(gradient)).cwiseMax(0.0).cwiseMin(largest);
  }
  return ab;
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
