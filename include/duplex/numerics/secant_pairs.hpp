#pragma once
// Pairs (s, Δg) of a step and the change of a gradient along it, and the inverse Hessian B that they stand for: that of
// limited-memory BFGS, by the two-loop recursion (Nocedal and Wright, Algorithm 7.4).

#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
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

/// The last pairs of a minimization. Memory: 2m vectors. B₀ is a multiple of the identity or, where it is said how
/// large the entries of s typically are, of D² with these on the diagonal of D: while the pairs fit to it at least as
/// well, which the cosine of D⁻¹s and DΔg shows beside that of s and Δg (both are one where B₀ is the inverse Hessian).
template <VectorSpace V> class SecantPairs {
public:
  /// `units`: D, in powers of two; empty where nothing is said.
  SecantPairs(std::size_t most, const V &like, V units = {})
      : most_(most), like_(zeros_like(like)), units_(std::move(units)) {
    weights_.reserve(most);
  }

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
    compare_units(newest);
    scale_ = product / first_square(change);
  }

  /// gᵀD²g, or gᵀg where D is not used.
  [[nodiscard]] double first_square(const V &g) const {
    if constexpr (EigenVector<V>) {
      if (uses_units()) {
        return static_cast<double>(g.cwiseProduct(units_).squaredNorm());
      }
    }
    return dot(g, g);
  }

  /// out = −B gradient, with B₀ = sᵀΔg/‖Δg‖² of the newest pair, or `scale_without_pairs` where there is none.
  void direction(const V &gradient, V &out, double scale_without_pairs = 1.0) {
    const double first = pairs_.empty() ? scale_without_pairs : scale_;
    direction_from([&](V &vector) { apply_first(first, vector); }, gradient, out);
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
        first = part.product / first_square(part.change);
        within.push_back(std::move(part));
      }
    }
    out = -gradient.cwiseProduct(free);
    apply_secant_pairs(
        within, [&](V &vector) { apply_first(first, vector); }, weights_, out);
    return !within.empty();
  }

  /// Brings a Hessian up to date, which need not be positive definite: by the symmetric change of rank one that each
  /// pair asks for (Nocedal and Wright, 6.24 and 6.26).
  template <class Matrix> void update(Matrix &hessian) const requires EigenVector<V> {
    using Scalar = typename Matrix::Scalar;
    constexpr double too_little = 1e-8;
    for (const auto &pair : pairs_) {
      const Eigen::Matrix<Scalar, Eigen::Dynamic, 1> step = pair.step.template cast<Scalar>();
      const Eigen::Matrix<Scalar, Eigen::Dynamic, 1> missed = pair.change.template cast<Scalar>() - hessian * step;
      const Scalar along = step.dot(missed);
      if (std::abs(along) > static_cast<Scalar>(too_little) * step.norm() * missed.norm()) {
        hessian.noalias() += missed * missed.transpose() / along;
      }
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
    members("favour of units", favour_of_units_);
  }

private:
  [[nodiscard]] bool uses_units() const { return size(units_) > 0 && favour_of_units_ >= 0.0; }

  /// vector ← first·D² vector.
  void apply_first(double first, V &vector) const {
    if constexpr (EigenVector<V>) {
      if (uses_units()) {
        vector.array() *= units_.array().square();
      }
    }
    scale(first, vector);
  }

  void compare_units(const SecantPair<V> &pair) {
    if constexpr (EigenVector<V>) {
      if (size(units_) > 0) {
        constexpr double forgetting = 0.9;
        const double plainly = norm(pair.step) * norm(pair.change);
        const double in_units = static_cast<double>(pair.step.cwiseQuotient(units_).norm()) *
                                static_cast<double>(pair.change.cwiseProduct(units_).norm());
        favour_of_units_ = forgetting * favour_of_units_ + pair.product / in_units - pair.product / plainly;
      }
    }
  }
  [[nodiscard]] SecantPair<V> blank() const { return {zeros_like(like_), zeros_like(like_), 0.0}; }

  std::size_t most_;
  V like_;
  V units_; ///< D
  std::vector<SecantPair<V>> pairs_;
  double scale_ = 1.0;           ///< sᵀΔg/ΔgᵀD²Δg of the newest pair
  double favour_of_units_ = 0.0; ///< by how much the cosines of late are larger with D
  std::vector<double> weights_;
};

} // namespace duplex
