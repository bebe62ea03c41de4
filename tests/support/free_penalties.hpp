#pragma once
// A regression whose penalties nothing holds.

#include "support.hpp"

#include <cmath>
#include <cstdint>
#include <random>

namespace duplex::testing {

/// Poisson regression with a penalty eˣ for each feature and nothing that holds x: that of a feature that says nothing
/// runs away, and ∇²yy f has entries a hundred powers of ten apart.
class FreePenalties {
public:
  using Vector = Vec;
  explicit FreePenalties(std::uint64_t seed)
      : seed_(seed), train_(inputs(40, seed)), held_(inputs(40, seed + 100)), counts_(drawn(train_, seed + 200)),
        held_counts_(drawn(held_, seed + 300)) {}

  class Lower : public Point<Vec> {
  public:
    explicit Lower(const FreePenalties &of) : of_(&of) {}
    [[nodiscard]] double value() const {
      return loss(of_->train_, of_->counts_, y()) + 0.5 * (x().array().exp() * y().array().square()).sum();
    }
    void grad_y(Vec &out) const {
      slope(of_->train_, of_->counts_, y(), out);
      out.array() += x().array().exp() * y().array();
    }
    void hess_yy(const Vec &v, Vec &out) const {
      const Vec bent = (of_->train_ * y()).array().exp() * (of_->train_ * v).array() / 40.0;
      out.noalias() = of_->train_.transpose() * bent;
      out.array() += x().array().exp() * v.array();
    }
    void cross_xy(const Vec &v, Vec &out) const { out = x().array().exp() * y().array() * v.array(); }

  private:
    const FreePenalties *of_;
  };
  class Upper : public Point<Vec> {
  public:
    explicit Upper(const FreePenalties &of) : of_(&of) {}
    [[nodiscard]] double value() const { return loss(of_->held_, of_->held_counts_, y()); }
    void grad_x(Vec &out) const { out.setZero(); }
    void grad_y(Vec &out) const { slope(of_->held_, of_->held_counts_, y(), out); }

  private:
    const FreePenalties *of_;
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return features; }
  [[nodiscard]] Index y_size() const { return features; }
  [[nodiscard]] State<Vec> start() const {
    return {3.0 * random_vector(features, seed_) - Vec::Constant(features, 2.0), Vec::Zero(features), {}};
  }

private:
  static constexpr Index features = 10;

  [[nodiscard]] static Mat inputs(Index rows, std::uint64_t seed) {
    Mat out(rows, features);
    for (Index j = 0; j < features; ++j) {
      out.col(j) = random_vector(rows, 50 * seed + static_cast<std::uint64_t>(j));
    }
    return out;
  }
  /// Half of the features say something.
  [[nodiscard]] static Vec drawn(const Mat &inputs, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    Vec counts(inputs.rows());
    for (Index i = 0; i < counts.size(); ++i) {
      counts[i] = std::poisson_distribution<int>(std::exp(0.4 * inputs.row(i).head(features / 2).sum()))(generator);
    }
    return counts;
  }
  [[nodiscard]] static double loss(const Mat &inputs, const Vec &counts, const Vec &y) {
    const Vec scores = inputs * y;
    return (scores.array().exp() - counts.array() * scores.array()).mean();
  }
  static void slope(const Mat &inputs, const Vec &counts, const Vec &y, Vec &out) {
    const Vec at_scores = ((inputs * y).array().exp() - counts.array()) / static_cast<double>(counts.size());
    out.noalias() = inputs.transpose() * at_scores;
  }

  std::uint64_t seed_;
  Mat train_;
  Mat held_;
  Vec counts_;
  Vec held_counts_;
};

} // namespace duplex::testing
