#pragma once
// Linear models whose penalties are tuned on held-out samples. x holds logarithms of penalties, y the weights:
//
//   f = (1/N) Σ_i ℓ(a_i·y, t_i) + ½ Σ_j e^{x_{g(j)}} y_j²
//
// and F is the loss on the held-out samples. The groups g say which weights share a penalty: all of them, those of a
// group, or none.

#include "zoo/held_out_loss.hpp"

#include <duplex/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace duplex::zoo {

/// What a model with penalties is drawn from.
struct PenalizedSettings {
  SampleModel model;
  Index training = 60;
  Index validation = 60;
  std::vector<Index> groups;                              ///< of every weight; 0, 1, …
  double prior = 0.0;                                     ///< ρ
  double limit = std::numeric_limits<double>::infinity(); ///< |x_j| is at most this
  double start = 0.0;                                     ///< of every log-penalty
  Index tasks = 1; ///< tables with weights of their own, all weights of a feature with one penalty
  std::uint64_t seed = 0;
};

/// Every weight with the same penalty, and every weight with its own.
[[nodiscard]] inline std::vector<Index> one_group(Index features) {
  return std::vector<Index>(static_cast<std::size_t>(features), 0);
}
[[nodiscard]] inline std::vector<Index> groups_of(Index features, Index size) {
  std::vector<Index> groups(static_cast<std::size_t>(features));
  for (Index j = 0; j < features; ++j) {
    groups[static_cast<std::size_t>(j)] = j / size;
  }
  return groups;
}

/// Training and validation samples, in this order; those of several tasks are the blocks of a larger table.
[[nodiscard]] std::pair<Samples<double>, Samples<double>> draw_tables(const PenalizedSettings &settings);

template <class T, class Loss> class Penalized {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Samples<T> training;
    HeldOut<T> held_out;
    std::vector<Index> groups;
    Index x_size;
    double limit;
    double start;
  };

  explicit Penalized(const PenalizedSettings &settings) {
    auto [training, validation] = draw_tables(settings);
    if (settings.groups.size() != static_cast<std::size_t>(training.features.cols())) {
      throw InvalidInput("penalized: " + std::to_string(settings.groups.size()) + " groups, expected one of each of " +
                         std::to_string(training.features.cols()) + " weights");
    }
    const Index groups = 1 + *std::max_element(settings.groups.begin(), settings.groups.end());
    data_ = std::make_shared<const Data>(Data{rounded<T>(training),
                                              {rounded<T>(validation), rounded<T>(settings.prior)},
                                              settings.groups,
                                              groups,
                                              settings.limit,
                                              settings.start});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      scores_.forget();
      penalties_.forget();
      curvatures_.forget();
    }
    [[nodiscard]] T value() {
      const Vector &s = scores();
      T sum = T(0);
      for (Index i = 0; i < s.size(); ++i) {
        sum += Loss::value(s[i], data_->training.targets[i]);
      }
      return sum / data_->training.count() + T(0.5) * (penalties().array() * this->y().array().square()).sum();
    }
    void grad_y(Vector &out) {
      const Vector &s = scores();
      rows_.resize(s.size());
      for (Index i = 0; i < s.size(); ++i) {
        rows_[i] = Loss::slope(s[i], data_->training.targets[i]) / data_->training.count();
      }
      multiply_transposed(data_->training.features, rows_, out);
      out += penalties().cwiseProduct(this->y());
    }
    void hess_yy(const Vector &v, Vector &out) {
      multiply(data_->training.features, v, rows_);
      rows_.array() *= curvatures().array();
      multiply_transposed(data_->training.features, rows_, out);
      out += penalties().cwiseProduct(v);
    }
    void cross_xy(const Vector &v, Vector &out) {
      out.setZero(data_->x_size);
      const Vector &penalty = penalties();
      for (Index j = 0; j < v.size(); ++j) {
        out[data_->groups[static_cast<std::size_t>(j)]] += penalty[j] * this->y()[j] * v[j];
      }
    }
    /// ∇²yy f as a matrix: Aᵀ diag(ℓ''/N) A + diag(penalties).
    void hessian(Matrix &out) {
      weighted_gram(data_->training.features, curvatures(), out);
      out.diagonal() += penalties();
    }

  private:
    const Vector &scores() {
      return scores_.get([&](Vector &out) { multiply(data_->training.features, this->y(), out); });
    }
    const Vector &penalties() {
      return penalties_.get([&](Vector &out) {
        out.resize(this->y().size());
        for (Index j = 0; j < out.size(); ++j) {
          out[j] = std::exp(this->x()[data_->groups[static_cast<std::size_t>(j)]]);
        }
      });
    }
    const Vector &curvatures() {
      return curvatures_.get([&](Vector &out) {
        const Vector &s = scores();
        out.resize(s.size());
        for (Index i = 0; i < s.size(); ++i) {
          out[i] = Loss::curvature(s[i], data_->training.targets[i]) / data_->training.count();
        }
      });
    }

    const Data *data_;
    Kept<Vector> scores_;
    Kept<Vector> penalties_;
    Kept<Vector> curvatures_;
    Vector rows_;
  };

  using Upper = HeldOutLoss<T, Loss>;

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(data_->held_out); }
  [[nodiscard]] Index x_size() const { return data_->x_size; }
  [[nodiscard]] Index y_size() const { return data_->training.features.cols(); }
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const Vector x = start_near<T>(Eigen::VectorXd::Constant(x_size(), data_->start), 1.0, k);
    return {x.cwiseMin(T(data_->limit)).cwiseMax(T(-data_->limit)), Vector::Zero(y_size()), {}};
  }
  [[nodiscard]] Vector lower_bound() const { return Vector::Constant(x_size(), T(-data_->limit)); }
  [[nodiscard]] Vector upper_bound() const { return Vector::Constant(x_size(), T(data_->limit)); }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
