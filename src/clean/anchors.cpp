#include "clean/anchors.hpp"

#include "clean/beliefs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace duplex::clean {

namespace {

Index iterations_for(Index rows, Index classes) {
  constexpr double products = 5e10; // of two numbers, which is some seconds
  constexpr double most = 30.0;
  constexpr double least = 5.0;
  const double of_one =
      2.0 * static_cast<double>(rows) * static_cast<double>(classes) * static_cast<double>(classes) + 1.0;
  const double affordable = std::min(products / of_one, most);
  return affordable >= least ? static_cast<Index>(affordable) : 0;
}

} // namespace

Anchors::Anchors(const Matrix &log_p, std::span<const std::uint32_t> labels)
    : transition_(Eigen::MatrixXd::Identity(log_p.cols(), log_p.cols())),
      iterations_(iterations_for(log_p.rows(), log_p.cols())) {
  constexpr std::size_t least_rows = 10;
  constexpr double from_part = 0.70; // of the rows labelled k, by their belief in k
  constexpr double to_part = 0.95;   // the last few are sure by chance
  require_finite(log_p);
  const Index classes = log_p.cols();
  std::vector<std::vector<std::pair<float, Index>>> of_class(static_cast<std::size_t>(classes));
  for (Index i = 0; i < log_p.rows(); ++i) {
    const auto given = labels[static_cast<std::size_t>(i)];
    of_class[given].emplace_back(log_p(i, static_cast<Index>(given)), i);
  }
  for (Index k = 0; k < classes; ++k) {
    auto &rows = of_class[static_cast<std::size_t>(k)];
    if (rows.size() < least_rows) {
      continue;
    }
    std::sort(rows.begin(), rows.end());
    const auto at = [&](double part) { return static_cast<std::size_t>(part * static_cast<double>(rows.size())); };
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(classes);
    for (std::size_t i = at(from_part); i < at(to_part); ++i) {
      sum += log_p.row(rows[i].second).cast<double>().array().exp().matrix();
    }
    transition_.row(k) = sum / sum.sum();
  }
}

Matrix Anchors::beliefs_of_true_classes(const Matrix &log_q, const std::atomic<bool> *interrupt) const {
  constexpr Index rows_of_block = 1024;
  constexpr float divisible = 1e-30F;
  constexpr float least = 1e-6F; // so that no class is ruled out
  if (iterations_ == 0) {
    return log_q;
  }
  const Matrix forth = transition_.cast<float>();
  const Matrix back = forth.transpose();
  Matrix out(log_q.rows(), log_q.cols());
  Matrix p;
  Matrix ratio;
  for (Index first = 0; first < log_q.rows(); first += rows_of_block) {
    refuse_if_interrupted(interrupt);
    const Index count = std::min(rows_of_block, log_q.rows() - first);
    const Matrix q = log_q.middleRows(first, count).array().exp().max(divisible);
    p = q;
    for (Index i = 0; i < iterations_; ++i) {
      ratio.noalias() = p * forth;
      ratio = q.cwiseQuotient(ratio.cwiseMax(divisible));
      p.array() *= (ratio * back).array();
    }
    p.array() += least;
    const Vector sums = p.rowwise().sum();
    out.middleRows(first, count) = (p.array().colwise() / sums.array()).log();
  }
  return out;
}

} // namespace duplex::clean
