#pragma once
// A quadratic that is the mean over rows, of which a run may see a few at a step.

#include "support.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace duplex::testing {

/// With rows (a_i, b_i, w_i, u_i), of which the means are taken over those in hand:
///
///   f = mean of ½w_i‖y − x − a_i‖²,   F = mean of ½‖x − b_i‖² + ½u_i‖y‖²,
///
/// so that y*(x) = x + c with c = Σw_i a_i / Σw_i, and x* = (b − uc) / (1 + u) with the means b and u. All u_i are 1.
class Noisy {
public:
  using Vector = Vec;
  using Draw = std::vector<std::size_t>;

  Noisy(Index rows, Index n, std::size_t batch) : Noisy(rows, n, batch, Vec::Ones(rows)) {}

  /// With as many rows on the upper level as it has u_i.
  Noisy(Index rows, Index n, std::size_t batch, Vec u)
      : a_(0.5 * Eigen::Map<const Mat>(random_vector(rows * n, 1).data(), n, rows)),
        b_(1.0 + Eigen::Map<const Mat>(random_vector(u.size() * n, 2).data(), n, u.size()).array()),
        w_(1.0 + 0.5 * random_vector(rows, 3).array().sin()), u_(std::move(u)), batch_(batch) {
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

  /// On the rows of a sample, a Draw or a Batch.
  template <class Sample> class LowerOn : public Point<Vec> {
  public:
    LowerOn(const Noisy &problem, const Sample &rows) : problem_(&problem), rows_(&rows) {}
    [[nodiscard]] double value() const {
      return mean([&](Index i) { return 0.5 * problem_->w_[i] * (y() - x() - problem_->a_.col(i)).squaredNorm(); });
    }
    void grad_x(Vec &out) const {
      grad_y(out);
      out = -out;
    }
    void grad_y(Vec &out) const {
      out.setZero();
      each(*rows_, [&](Index i, double part) { out += problem_->w_[i] * part * (y() - x() - problem_->a_.col(i)); });
    }
    void hess_yy(const Vec &v, Vec &out) const {
      out = mean([&](Index i) { return problem_->w_[i]; }) * v;
    }
    void cross_xy(const Vec &v, Vec &out) const {
      out = -mean([&](Index i) { return problem_->w_[i]; }) * v;
    }

  protected:
    [[nodiscard]] const Noisy &problem() const { return *problem_; }
    [[nodiscard]] const Sample &rows() const { return *rows_; }
    template <class Term> [[nodiscard]] double mean(const Term &term) const {
      double sum = 0.0;
      each(*rows_, [&](Index i, double part) { sum += part * term(i); });
      return sum;
    }

  private:
    const Noisy *problem_;
    const Sample *rows_;
  };

  template <class Sample> class UpperOn : public LowerOn<Sample> {
  public:
    using LowerOn<Sample>::LowerOn;
    [[nodiscard]] double value() const {
      return this->mean([&](Index i) { return 0.5 * (this->x() - this->problem().b_.col(i)).squaredNorm(); }) +
             0.5 * curvature() * this->y().squaredNorm();
    }
    void grad_x(Vec &out) const {
      out.setZero();
      each(this->rows(), [&](Index i, double part) { out += part * (this->x() - this->problem().b_.col(i)); });
    }
    void grad_y(Vec &out) const { out = curvature() * this->y(); }
    void hess_yy(const Vec &v, Vec &out) const { out = curvature() * v; }
    void cross_xy(const Vec & /*v*/, Vec &out) const { out.setZero(); }

  private:
    [[nodiscard]] double curvature() const {
      return this->mean([&](Index i) { return this->problem().u_[i]; });
    }
  };
  using Lower = LowerOn<Draw>;
  using Upper = UpperOn<Draw>;

  [[nodiscard]] Lower lower(const Draw &rows) const { return {*this, rows}; }
  [[nodiscard]] Upper upper(const Draw &rows) const { return {*this, rows}; }
  [[nodiscard]] Index x_size() const { return a_.rows(); }
  [[nodiscard]] Index y_size() const { return a_.rows(); }
  [[nodiscard]] State<Vec> start() const { return {Vec::Zero(x_size()), Vec::Zero(y_size()), Vec::Zero(y_size())}; }
  [[nodiscard]] Vec answer_x() const {
    return (b_.rowwise().mean() - u_.mean() * (a_ * w_) / w_.sum()) / (1.0 + u_.mean());
  }

  [[nodiscard]] const Draw &all() const { return all_; }
  [[nodiscard]] std::int64_t draws() const { return draws_; }

private:
  /// Calls visit(row, the part of a row in the mean).
  template <class Visit> static void each(const Draw &rows, const Visit &visit) {
    for (const auto row : rows) {
      visit(static_cast<Index>(row), 1.0 / static_cast<double>(rows.size()));
    }
  }
  template <class Visit> static void each(const Batch &batch, const Visit &visit) {
    for (Index i = batch.first; i < batch.first + batch.count; ++i) {
      visit(i, batch.weight);
    }
  }

  Mat a_;
  Mat b_;
  Vec w_;
  Vec u_;
  std::size_t batch_;
  Draw all_;
  mutable std::atomic<std::int64_t> draws_ = 0;
};

/// The same as a finite sum, whose levels have as many rows as is said and whose u_i differ.
class NoisySum {
public:
  using Vector = Vec;
  using Lower = Noisy::LowerOn<Batch>;
  using Upper = Noisy::UpperOn<Batch>;

  NoisySum(Index rows, Index upper_rows, Index n)
      : noisy_(std::make_shared<const Noisy>(rows, n, 1, 1.0 + 0.5 * random_vector(upper_rows, 4).array().sin())),
        lower_{.count = rows, .weight = 1.0 / static_cast<double>(rows)}, upper_{.count = upper_rows,
                                                                                 .weight = 1.0 / static_cast<double>(
                                                                                                     upper_rows)} {}

  [[nodiscard]] Index lower_samples() const { return lower_.count; }
  [[nodiscard]] Index upper_samples() const { return upper_.count; }
  [[nodiscard]] Lower lower(const Batch &batch) const { return {*noisy_, batch}; }
  [[nodiscard]] Upper upper(const Batch &batch) const { return {*noisy_, batch}; }
  [[nodiscard]] Lower lower() const { return lower(lower_); }
  [[nodiscard]] Upper upper() const { return upper(upper_); }
  [[nodiscard]] Index x_size() const { return noisy_->x_size(); }
  [[nodiscard]] Index y_size() const { return noisy_->y_size(); }
  [[nodiscard]] State<Vec> start() const { return noisy_->start(); }
  [[nodiscard]] Vec answer_x() const { return noisy_->answer_x(); }

private:
  std::shared_ptr<const Noisy> noisy_;
  Batch lower_; ///< all of the rows
  Batch upper_;
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
static_assert(FiniteSumProblem<NoisySum> && DeterministicProblem<NoisySum> && StochasticProblem<InBatches<NoisySum>>);
static_assert(StochasticProblem<NoisyKnownInWhole> && StartedProblem<Drawn<NoisyKnownInWhole>>);

} // namespace duplex::testing
