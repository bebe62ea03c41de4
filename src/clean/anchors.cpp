#include "clean/anchors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace duplex::clean {

Eigen::MatrixXd transition_by_anchors(const Matrix &log_p, std::span<const std::uint32_t> labels) {
  constexpr std::size_t least_rows = 10;
  constexpr double first = 0.70; // of the rows labelled k, by their belief in k: the last few are sure by chance
  constexpr double last = 0.95;
  const Index classes = log_p.cols();
  std::vector<std::vector<std::pair<float, Index>>> of_class(static_cast<std::size_t>(classes));
  for (Index i = 0; i < log_p.rows(); ++i) {
    const auto given = labels[static_cast<std::size_t>(i)];
    of_class[given].emplace_back(log_p(i, static_cast<Index>(given)), i);
  }
  Eigen::MatrixXd out = Eigen::MatrixXd::Identity(classes, classes);
  for (Index k = 0; k < classes; ++k) {
    auto &rows = of_class[static_cast<std::size_t>(k)];
    if (rows.size() < least_rows) {
      continue;
    }
    std::sort(rows.begin(), rows.end());
    const auto at = [&](double part) { return static_cast<std::size_t>(part * static_cast<double>(rows.size())); };
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(classes);
    for (std::size_t i = at(first); i < at(last); ++i) {
      sum += log_p.row(rows[i].second).cast<double>().array().exp().matrix();
    }
    out.row(k) = sum / sum.sum();
  }
  return out;
}

Matrix beliefs_of_true_classes(const Matrix &log_q, const Eigen::MatrixXd &transition) {
  constexpr Index rows_of_block = 1024;
  constexpr Index most_rounds = 30;
  constexpr double most_products = 2e11; // of numbers, which is seconds: with hundreds of classes, fewer rounds
  constexpr float least = 1e-6F;
  const Index count = log_q.rows();
  const Index classes = log_q.cols();
  const auto of_a_round = 2.0 * static_cast<double>(count) * static_cast<double>(classes * classes);
  const auto rounds = std::clamp(static_cast<Index>(most_products / std::max(of_a_round, 1.0)), Index{3}, most_rounds);
  const Matrix forth = transition.cast<float>();
  const Matrix back = forth.transpose();
  Matrix out(count, classes);
  Matrix p;
  Matrix ratio;
  for (Index first = 0; first < count; first += rows_of_block) {
    const Index size = std::min(rows_of_block, count - first);
    const Matrix q = log_q.middleRows(first, size).array().exp().max(1e-30F);
    p = q;
    for (Index round = 0; round < rounds; ++round) {
      ratio.noalias() = p * forth;
      ratio = q.cwiseQuotient(ratio.cwiseMax(1e-30F));
      p.array() *= (ratio * back).array();
    }
    p.array() += least;
    const Vector sums = p.rowwise().sum();
    out.middleRows(first, size) = (p.array().colwise() / sums.array()).log();
  }
  return out;
}

} // namespace duplex::clean
