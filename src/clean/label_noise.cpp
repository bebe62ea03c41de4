#include "clean/label_noise.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::clean {

LabelNoise LabelNoise::estimate(const Matrix &beliefs, std::span<const std::uint32_t> given) {
  constexpr int rounds = 50;
  constexpr double settled = 1e-4;
  const Index classes = beliefs.cols();
  const auto wrong_labels = static_cast<double>(classes - 1);
  const auto alike_for_all = [&](double right) {
    Eigen::MatrixXd t = Eigen::MatrixXd::Constant(classes, classes, (1.0 - right) / wrong_labels);
    t.diagonal().setConstant(right);
    return t;
  };
  // Labels are right more often than by chance: at 1/K the beliefs would never learn from them.
  LabelNoise noise{alike_for_all(0.5 + 0.5 / static_cast<double>(classes))};
  Eigen::VectorXd belief(classes);
  for (int round = 0; round < rounds; ++round) {
    Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(classes, classes);
    for (Index i = 0; i < beliefs.rows(); ++i) {
      const auto label = static_cast<Index>(given[static_cast<std::size_t>(i)]);
      belief = beliefs.row(i).transpose().cast<double>().cwiseProduct(noise.transition.col(label));
      const double total = belief.sum();
      if (total > 0.0) {
        counts.col(label) += belief / total;
      }
    }
    const double right = std::clamp(counts.trace() / std::max(counts.sum(), 1e-300), 1e-6, 1.0 - 1e-6);
    Eigen::MatrixXd next = counts + static_cast<double>(classes) * alike_for_all(right);
    next.array().colwise() /= next.rowwise().sum().array();
    const double change = (next - noise.transition).cwiseAbs().maxCoeff();
    noise.transition = std::move(next);
    if (change < settled) {
      break;
    }
  }
  return noise;
}

Matrix LabelNoise::posterior(const Matrix &beliefs, std::span<const std::uint32_t> given) const {
  const Eigen::MatrixXf likelihood = transition.cast<float>();
  Matrix out(beliefs.rows(), beliefs.cols());
  for (Index i = 0; i < beliefs.rows(); ++i) {
    const auto label = static_cast<Index>(given[static_cast<std::size_t>(i)]);
    out.row(i) = beliefs.row(i).cwiseProduct(likelihood.col(label).transpose());
    const float total = out.row(i).sum();
    if (total > 0.0F) {
      out.row(i) /= total;
    } else {
      out.row(i) = beliefs.row(i);
    }
  }
  return out;
}

double LabelNoise::information(const Eigen::VectorXd &class_shares) const {
  const Eigen::MatrixXd joint = class_shares.asDiagonal() * transition;
  const Eigen::RowVectorXd labels = joint.colwise().sum();
  double mutual = 0.0;
  double entropy = 0.0;
  for (Index k = 0; k < joint.rows(); ++k) {
    if (class_shares[k] > 0.0) {
      entropy -= class_shares[k] * std::log(class_shares[k]);
    }
    for (Index l = 0; l < joint.cols(); ++l) {
      if (joint(k, l) > 0.0) {
        mutual += joint(k, l) * std::log(transition(k, l) / labels[l]);
      }
    }
  }
  return entropy > 0.0 ? std::clamp(mutual / entropy, 0.0, 1.0) : 0.0;
}

} // namespace duplex::clean
