#pragma once
// A quadratic that is the mean over rows, of which a run may see a few at a step.

#include "support.hpp"

#include <atomic>
#include <cstddef>
#include <vector>

namespace duplex::testing {

/// With rows (a_i, b_i, w_i), of which the means are taken over those in hand:
///
///   f = mean of ½w_i‖y − x − a_i‖²,   F = mean of ½‖x − b_i‖² + ½‖y‖²,
///
/// so that y*(x) = x + c with c = Σw_i a_i / Σw_i, and x* = ½(mean of b_i − c).
class Noisy {
public:
  using Vector = Vec;
  using Draw = std::vector<std::size_t>;

  Noisy(Index rows, Index n, std::size_t batch)
      : a_(0.5 * Eigen::Map<const Mat>(random_vector(rows * n, 1).data(), n, rows)),
        b_(1.0 + Eigen::Map<const Mat>(random_vector(rows * n, 2).data(), n, rows).array()),
        w_(1.0 + 0.5 * random_vector(rows, 3).array().sin()), batch_(batch) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
      all_.push_back(i);
    }
  }

  /// Rows with repetition; all of them in order where the batch is as large.
  void draw(std::mt19937_64 &generator, Draw &rows) const {
    ++draws_;
    rows.resize(batch_);
    for (std::size_t i = 0; i < batch_; ++i) {
      rows[i] = batch_ == all_.size() ? i : uniform_below(generator, all_.size());
    }
  }

  class Lower : public Point<Vec> {
  public:
    Lower(const Noisy &problem, const Draw &rows) : problem_(&problem), rows_(&rows) {}
    [[nodiscard]] double value() const {
      return mean([&](Index i) { return 0.5 * problem_->w_[i] * (y() - x() - problem_->a_.col(i)).squaredNorm(); });
    }
    void grad_x(Vec &out) const {
      grad_y(out);
      out = -out;
    }
    void grad_y(Vec &out) const {
      out.setZero();
      for (const auto row : *rows_) {
        const auto i = static_cast<Index>(row);
        out += problem_->w_[i] / size() * (y() - x() - problem_->a_.col(i));
      }
    }
    void hess_yy(const Vec &v, Vec &out) const {
      out = mean([&](Index i) { return problem_->w_[i]; }) * v;
    }
    void cross_xy(const Vec &v, Vec &out) const {
      out = -mean([&](Index i) { return problem_->w_[i]; }) * v;
    }

  protected:
    [[nodiscard]] const Noisy &problem() const { return *problem_; }
    [[nodiscard]] const Draw &rows() const { return *rows_; }
    [[nodiscard]] double size() const { return static_cast<double>(rows_->size()); }
    template <class Term> [[nodiscard]] double mean(const Term &term) const {
      double sum = 0.0;
      for (const auto row : *rows_) {
        sum += term(static_cast<Index>(row));
      }
      return sum / size();
    }

  private:
    const Noisy *problem_;
    const Draw *rows_;
  };

  class Upper : public Lower {
  public:
    using Lower::Lower;
    [[nodiscard]] double value() const {
      return mean([&](Index i) { return 0.5 * (x() - problem().b_.col(i)).squaredNorm(); }) + 0.5 * y().squaredNorm();
    }
    void grad_x(Vec &out) const {
      out.setZero();
      for (const auto row : rows()) {
        out += (x() - problem().b_.col(static_cast<Index>(row))) / size();
      }
    }
    void grad_y(Vec &out) const { out = y(); }
    void hess_yy(const Vec &v, Vec &out) const { out = v; }
    void cross_xy(const Vec & /*v*/, Vec &out) const { out.setZero(); }
  };

  [[nodiscard]] Lower lower(const Draw &rows) const { return {*this, rows}; }
  [[nodiscard]] Upper upper(const Draw &rows) const { return {*this, rows}; }
  [[nodiscard]] Index x_size() const { return a_.rows(); }
  [[nodiscard]] Index y_size() const { return a_.rows(); }
  [[nodiscard]] State<Vec> start() const { return {Vec::Zero(x_size()), Vec::Zero(y_size()), Vec::Zero(y_size())}; }
  [[nodiscard]] Vec answer_x() const { return 0.5 * (b_.rowwise().mean() - a_ * w_ / w_.sum()); }

  [[nodiscard]] const Draw &all() const { return all_; }
  [[nodiscard]] std::int64_t draws() const { return draws_; }

private:
  Mat a_;
  Mat b_;
  Vec w_;
  std::size_t batch_;
  Draw all_;
  mutable std::atomic<std::int64_t> draws_ = 0;
};

/// The mean over all rows, which never changes.
class NoisyInWhole {
public:
  using Vector = Vec;
  explicit NoisyInWhole(const Noisy &noisy) : noisy_(&noisy) {}
  [[nodiscard]] Noisy::Lower lower() const { return noisy_->lower(noisy_->all()); }
  [[nodiscard]] Noisy::Upper upper() const { return noisy_->upper(noisy_->all()); }
  [[nodiscard]] Index x_size() const { return noisy_->x_size(); }
  [[nodiscard]] Index y_size() const { return noisy_->y_size(); }
  [[nodiscard]] State<Vec> start() const { return noisy_->start(); }

private:
  const Noisy *noisy_;
};

/// Drawn by a run, and known in whole to its tolerance.
class NoisyKnownInWhole : public Noisy {
public:
  using Noisy::lower;
  using Noisy::Noisy;
  using Noisy::upper;
  [[nodiscard]] Lower lower() const { return lower(all()); }
  [[nodiscard]] Upper upper() const { return upper(all()); }
};

static_assert(StochasticProblem<Noisy> && !SecondOrderProblem<Noisy> && AggregatedProblem<Drawn<Noisy>>);
static_assert(DeterministicProblem<NoisyInWhole> && SecondOrderProblem<NoisyKnownInWhole>);
static_assert(StochasticProblem<NoisyKnownInWhole> && StartedProblem<Drawn<NoisyKnownInWhole>>);

} // namespace duplex::testing
