#pragma once
// Limited-memory BFGS pairs (s, Δd) of the upper level, and the direction −Bd that they give (Nocedal and Wright,
// Algorithm 7.4). Memory: 2m vectors.

#include <duplex/space/space.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace duplex::automatic {

template <VectorSpace V> class SecantPairs {
public:
  SecantPairs(std::size_t most, const V &like) : most_(most), like_(zeros_like(like)) { weights_.resize(most); }

  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  void forget() { pairs_.clear(); }

  /// Only with sᵀΔd > 0.
  void add(const V &step, const V &change, double product) {
    if (pairs_.size() == most_) {
      std::rotate(pairs_.begin(), pairs_.begin() + 1, pairs_.end()); // the oldest pair's memory serves the newest
    } else {
      pairs_.push_back(blank());
    }
    auto &newest = pairs_.back();
    assign(step, newest.step);
    assign(change, newest.change);
    newest.product = product;
    newest.square = dot(change, change);
  }

  void direction(const V &d, V &out) {
    assign(d, out);
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      weights_[i] = dot(pairs_[i].step, out) / pairs_[i].product;
      axpy(-weights_[i], pairs_[i].change, out);
    }
    if (!pairs_.empty()) {
      scale(pairs_.back().product / pairs_.back().square, out);
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      axpy(weights_[i] - dot(pairs_[i].change, out) / pairs_[i].product, pairs_[i].step, out);
    }
    scale(-1.0, out);
  }

  template <class Archive> void archive(Archive &members) {
    members.resized("pairs", pairs_, most_, [this] { return blank(); });
  }

private:
  struct Pair {
    V step;
    V change;
    double product = 0.0; ///< sᵀΔd
    double square = 0.0;  ///< ‖Δd‖²

    template <class Archive> void archive(Archive &members) {
      members("step", step);
      members("change", change);
      members("product", product);
      members("square", square);
    }
  };
  [[nodiscard]] Pair blank() const { return {zeros_like(like_), zeros_like(like_), 0.0, 0.0}; }

  std::size_t most_;
  V like_;
  std::vector<Pair> pairs_;
  std::vector<double> weights_;
};

} // namespace duplex::automatic
