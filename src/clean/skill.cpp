#include "clean/skill.hpp"

#include "clean/beliefs.hpp"
#include "clean/out_of_fold.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::clean {

double skill_on_right_labels(const Matrix &log_p, const std::vector<std::uint32_t> &labels) {
  const double entropy = entropy_of(labels, log_p.cols());
  return entropy > 0.0 ? std::max(0.0, 1.0 - mean_loss(log_p, labels) / entropy) : 0.0;
}

double skill_on_given_labels(const Matrix &log_p, const std::vector<std::uint32_t> &labels) {
  const Index classes = log_p.cols();
  const Fitness fitness = fitness_of({.training = log_p, .trusted = Matrix(0, classes), .given = labels, .right = {}});
  const double part = fitness.by_chance / static_cast<double>(classes);
  const double right = 1.0 - fitness.by_chance + part;
  const double least =
      -right * std::log(right) - (part > 0.0 ? static_cast<double>(classes - 1) * part * std::log(part) : 0.0);
  double loss = 0.0;
  for (Index i = 0; i < log_p.rows(); ++i) {
    const Eigen::ArrayXd scores = fitness.sharpness * log_p.row(i).transpose().array().cast<double>();
    const double sum = (scores - scores.maxCoeff()).exp().sum();
    const double own = std::exp(scores[static_cast<Index>(labels[static_cast<std::size_t>(i)])] - scores.maxCoeff());
    loss -= std::log((1.0 - fitness.by_chance) * own / sum + part + 1e-30) / static_cast<double>(log_p.rows());
  }
  const double entropy = entropy_of(labels, classes);
  return entropy > least ? std::clamp((entropy - loss) / (entropy - least), 0.0, 1.0) : 0.0;
}

} // namespace duplex::clean
