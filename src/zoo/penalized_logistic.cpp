#include "zoo/penalized_logistic.hpp"

#include "kernels/team.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

namespace duplex::zoo {

namespace {

constexpr Index rows_of_block = 512;  // rows, which stay in the cache from one product to the next
constexpr Index rows_of_share = 4096; // what a thread takes at once

Index shares_of(const SignedRows &rows) { return (rows.count() + rows_of_share - 1) / rows_of_share; }

/// work(share, first row, count) for each block of each share, shares in any order, blocks in theirs.
template <class Work> void for_each_block(const SignedRows &rows, const Work &work) {
  const Index shares = shares_of(rows);
  const auto of_thread = [&](Index thread, Index threads) {
    for (Index share = shares * thread / threads; share < shares * (thread + 1) / threads; ++share) {
      const Index end = std::min(rows.count(), (share + 1) * rows_of_share);
      for (Index first = share * rows_of_share; first < end; first += rows_of_block) {
        work(share, first, std::min(rows_of_block, end - first));
      }
    }
  };
  const Index threads = std::clamp<Index>(omp_get_max_threads(), 1, std::max<Index>(1, shares));
  if (threads == 1) {
    of_thread(0, 1);
    return;
  }
  kernels::Team &team = kernels::team_of(static_cast<int>(threads));
  const Index started = std::min<Index>(team.threads(), threads);
  team.run([&](int thread) {
    if (thread < started) { // the team may be larger
      of_thread(thread, started);
    }
  });
}

} // namespace

PenalizedLogistic::PenalizedLogistic(SignedRows training, SignedRows held_out, double limit)
    : data_(std::make_shared<const Data>(Data{std::move(training), std::move(held_out), limit})) {}

PenalizedLogistic::MeanLoss::MeanLoss(const SignedRows &rows)
    : rows_(&rows), gradient_(Vector::Zero(rows.samples.rows())), curvatures_(Vector::Zero(rows.count())),
      sums_(rows.samples.rows(), shares_of(rows)), values_(shares_of(rows)) {}

void PenalizedLogistic::MeanLoss::at(const Vector &y) {
  y_ = y;
  passed_ = false;
}

void PenalizedLogistic::MeanLoss::pass() {
  if (std::exchange(passed_, true)) {
    return;
  }
  const double share_of_row = 1.0 / static_cast<double>(rows_->count());
  sums_.setZero();
  values_.setZero();
  for_each_block(*rows_, [&](Index share, Index first, Index count) {
    const auto samples = rows_->samples.middleCols(first, count);
    const auto signs = rows_->signs.segment(first, count).array();
    const Eigen::ArrayXd margins = (samples.transpose() * y_).array() * signs;
    const Eigen::ArrayXd small = (-margins.abs()).exp(); // never overflows
    values_[share] += ((-margins).max(0.0) + small.log1p()).sum();
    const Eigen::ArrayXd wrong = (margins > 0.0).select(small, 1.0) / (1.0 + small); // σ(−margin)
    curvatures_.segment(first, count) = (share_of_row * wrong * (1.0 - wrong)).matrix();
    const Vector slopes = (-share_of_row * signs * wrong).matrix();
    sums_.col(share).noalias() += samples * slopes;
  });
  value_ = share_of_row * values_.sum();
  gradient_ = sums_.rowwise().sum();
}

double PenalizedLogistic::MeanLoss::value() {
  pass();
  return value_;
}

const PenalizedLogistic::Vector &PenalizedLogistic::MeanLoss::gradient() {
  pass();
  return gradient_;
}

const PenalizedLogistic::Vector &PenalizedLogistic::MeanLoss::curvatures() {
  pass();
  return curvatures_;
}

void PenalizedLogistic::MeanLoss::add_product(const Vector &v, Vector &out) {
  pass();
  sums_.setZero();
  for_each_block(*rows_, [&](Index share, Index first, Index count) {
    const auto samples = rows_->samples.middleCols(first, count);
    Vector along = samples.transpose() * v;
    along.array() *= curvatures_.segment(first, count).array();
    sums_.col(share).noalias() += samples * along;
  });
  out += sums_.rowwise().sum();
}

void PenalizedLogistic::Lower::at(const Vector &x, const Vector &y) {
  penalties_ = x.array().exp();
  y_ = y;
  loss_.at(y);
}

double PenalizedLogistic::Lower::value() {
  return loss_.value() + 0.5 * (penalties_.array() * y_.array().square()).sum();
}

void PenalizedLogistic::Lower::grad_y(Vector &out) { out = loss_.gradient() + penalties_.cwiseProduct(y_); }

void PenalizedLogistic::Lower::hess_yy(const Vector &v, Vector &out) {
  out = penalties_.cwiseProduct(v);
  loss_.add_product(v, out);
}

void PenalizedLogistic::Lower::cross_xy(const Vector &v, Vector &out) {
  out = penalties_.cwiseProduct(y_).cwiseProduct(v);
}

} // namespace duplex::zoo
