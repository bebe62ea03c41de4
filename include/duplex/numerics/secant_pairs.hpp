#pragma once
// Pairs (s, Δg) of a step and the change of a gradient along it, and the inverse Hessian B that they stand for: that of
// limited-memory BFGS, by the two-loop recursion (Nocedal and Wright, Algorithm 7.4).

#include <duplex/space/space.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace duplex {

template <VectorSpace V> struct SecantPair {
  V step;               ///< s
  V change;             ///< Δg
  double product = 0.0; ///< sᵀΔg, which must be positive

  template <class Archive> void archive(Archive &members) {
    members("step", step);
    members("change", change);
    members("product", product);
  }
};

/// out ← B out, where apply_first(out) is B₀ before the first pair. `pairs` is a vector of SecantPair or of what is
/// one, the oldest first; `weights` is scratch that is kept between calls.
template <class Pairs, VectorSpace V, class First>
void apply_secant_pairs(const Pairs &pairs, const First &apply_first, std::vector<double> &weights, V &out) {
  weights.resize(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    weights[i] = dot(pairs[i].step, out) / pairs[i].product;
    axpy(-weights[i], pairs[i].change, out);
  }
  apply_first(out);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    axpy(weights[i] - dot(pairs[i].change, out) / pairs[i].product, pairs[i].step, out);
  }
}

/// The last pairs of a minimization. Memory: 2m vectors.
template <VectorSpace V> class SecantPairs {
public:
  SecantPairs(std::size_t most, const V &like) : most_(most), like_(zeros_like(like)) { weights_.reserve(most); }

  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  void forget() { pairs_.clear(); }

  /// Only with product = sᵀΔg > 0. Where there is no room the oldest pair goes.
  void add(const V &step, const V &change, double product) {
    if (most_ == 0) {
      return;
    }
    if (pairs_.size() == most_) {
      std::rotate(pairs_.begin(), pairs_.begin() + 1, pairs_.end()); // the oldest pair's memory serves the newest
    } else {
      pairs_.push_back(blank());
    }
    auto &newest = pairs_.back();
    assign(step, newest.step);
    assign(change, newest.change);
    newest.product = product;
    scale_ = product / dot(change, change);
  }

  /// out = −B gradient, with B₀ = sᵀΔg/‖Δg‖² of the newest pair, or `scale_without_pairs` where there is none.
  void direction(const V &gradient, V &out, double scale_without_pairs = 1.0) {
    const double first = pairs_.empty() ? scale_without_pairs : scale_;
    direction_from([first](V &vector) { scale(first, vector); }, gradient, out);
  }
  /// out = −B gradient with a B₀ of the caller's.
  template <class First> void direction_from(const First &apply_first, const V &gradient, V &out) {
    assign(gradient, out);
    apply_secant_pairs(pairs_, apply_first, weights_, out);
    scale(-1.0, out);
  }

  /// As direction() with the pairs' entries alone where `free` is one; out is zero where it is zero. Says whether there
  /// was such a pair.
  bool direction_within(const V &free, const V &gradient, V &out, double scale_without_pairs) requires EigenVector<V> {
    std::vector<SecantPair<V>> within;
    double first = scale_without_pairs;
    for (const auto &pair : pairs_) {
      SecantPair<V> part{pair.step.cwiseProduct(free), pair.change.cwiseProduct(free), 0.0};
      part.product = dot(part.step, part.change);
      if (part.product > precision(free) * norm(part.step) * norm(part.change)) {
        first = part.product / dot(part.change, part.change);
        within.push_back(std::move(part));
      }
    }
    out = -gradient.cwiseProduct(free);
    apply_secant_pairs(
        within, [first](V &vector) { scale(first, vector); }, weights_, out);
    return !within.empty();
  }

  /// Brings a Hessian up to date (Nocedal and Wright, 6.19).
  template <class Matrix> void update(Matrix &hessian) const requires EigenVector<V> {
    using Scalar = typename Matrix::Scalar;
    for (const auto &pair : pairs_) {
      const Eigen::Matrix<Scalar, Eigen::Dynamic, 1> change = pair.change.template cast<Scalar>();
      const Eigen::Matrix<Scalar, Eigen::Dynamic, 1> step = pair.step.template cast<Scalar>();
      const Eigen::Matrix<Scalar, Eigen::Dynamic, 1> image = hessian * step;
      const Scalar curvature = step.dot(image);
      if (curvature > Scalar(0)) {
        hessian -= image * image.transpose() / curvature;
      }
      hessian += change * change.transpose() / static_cast<Scalar>(pair.product);
    }
  }

  /// The largest change of each entry in the steps of the pairs.
  void largest_steps(V &out) const requires EigenVector<V> {
    set_zero(out);
    for (const auto &pair : pairs_) {
      out = out.cwiseMax(pair.step.cwiseAbs());
    }
  }

  template <class Archive> void archive(Archive &members) {
    members.resized("pairs", pairs_, most_, [this] { return blank(); });
    members("scale", scale_);
  }

private:
  [[nodiscard]] SecantPair<V> blank() const { return {zeros_like(like_), zeros_like(like_), 0.0}; }

  std::size_t most_;
  V like_;
  std::vector<SecantPair<V>> pairs_;
  double scale_ = 1.0; ///< sᵀΔg/‖Δg‖² of the newest pair
  std::vector<double> weights_;
};

} // namespace duplex
