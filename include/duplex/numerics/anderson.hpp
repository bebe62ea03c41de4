#pragma once
// Anderson mixing of a fixed-point step z + s f(z), f(z*) = 0 (Walker and Ni, SIAM J. Numer.
// Anal. 49, 2011, type II). With the differences Z = (Δz), G = (Δf) of the last m points:
//
//   γ = argmin ‖f − G γ‖² + ridge,    z⁺ = z − Z γ + s (f − G γ)
//
// The columns of G are scaled to length one and the ridge is small beside one. The sign and the
// scale of f do not matter to γ. Memory: 2m + 3 vectors; a step costs 2m + 3 products of vectors.
//
// The safeguard: what mixing adds to the plain step s f is at most as long as the way gone so far, so that the first
// differences, which know one direction or two, do not throw the point far away; and differences are forgotten where
// ‖f‖ grows in spite of them.

#include <duplex/core/error.hpp>
#include <duplex/core/fields.hpp>
#include <duplex/space/space.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace duplex {

inline constexpr int most_mixed_pairs = 20;
/// Of an option that says how many, where 0 is none.
inline constexpr Bound mixing_bound{.low = 0.0, .high = most_mixed_pairs};

namespace detail {

using MixingMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_mixed_pairs, most_mixed_pairs>;
using MixingVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_mixed_pairs, 1>;

/// γ from GᵀG and Gᵀf; not finite where it does not exist.
[[nodiscard]] MixingVector mixing_weights(const MixingMatrix &gram, const MixingVector &slopes);

} // namespace detail

template <VectorSpace V> class AndersonMixing {
public:
  /// pairs: 1 to most_mixed_pairs, else InvalidInput.
  AndersonMixing(int pairs, const V &like)
      : pairs_(pairs), last_point_(zeros_like(like)), last_f_(zeros_like(like)), addition_(zeros_like(like)) {
    if (pairs < 1 || pairs > most_mixed_pairs) {
      throw InvalidInput("mixing: pairs = " + std::to_string(pairs) + ", expected 1 to " +
                         std::to_string(most_mixed_pairs));
    }
    moves_.assign(static_cast<std::size_t>(pairs), zeros_like(like));
    changes_.assign(static_cast<std::size_t>(pairs), zeros_like(like));
    gram_.setZero(pairs, pairs);
  }

  /// Moves the point by a mixed step. f must be the same function of the point but for slow changes.
  void move(double step, const V &f, V &point) {
    const double length = norm(f);
    if (!std::isfinite(length) || (has_last_ && length > growth_that_restarts * last_length_)) {
      forget(); // what was learnt misleads
      ++restarts_;
    } else if (has_last_) {
      learn(f, point);
    }
    assign(point, last_point_);
    assign(f, last_f_);
    last_length_ = length;
    has_last_ = true;
    axpy(step, f, point);
    if (known_ > 0 && length > 0.0) {
      mix(step, f, point);
    }
  }

  /// Times that ‖f‖ grew so much, or was not finite, that what was known was forgotten.
  [[nodiscard]] std::int64_t restarts() const { return restarts_; }

  template <class Archive> void archive(Archive &members) {
    members("known", known_);
    members("next", next_);
    if (known_ < 0 || known_ > pairs_ || next_ < 0 || next_ >= pairs_) {
      throw InvalidInput("mixing: " + std::to_string(known_) + " pairs are known and " + std::to_string(next_) +
                         " is the next in the saved state, expected at most " + std::to_string(pairs_));
    }
    members("last length", last_length_);
    members("has last", has_last_);
    members("last point", last_point_);
    members("last f", last_f_);
    members("moves", moves_);
    members("changes", changes_);
    members("way", way_);
    members("restarts", restarts_);
    members("gram", std::span<double>(gram_.data(), static_cast<std::size_t>(gram_.size())));
  }

private:
  static constexpr double growth_that_restarts = 2.0;

  void learn(const V &f, const V &point) {
    const auto slot = static_cast<std::size_t>(next_);
    difference(point, last_point_, moves_[slot]);
    difference(f, last_f_, changes_[slot]);
    way_ += norm(moves_[slot]);
    known_ = std::max(known_, next_ + 1);
    for (int i = 0; i < known_; ++i) {
      gram_(next_, i) = gram_(i, next_) = dot(changes_[slot], changes_[static_cast<std::size_t>(i)]);
    }
    next_ = (next_ + 1) % pairs_;
  }

  void forget() {
    known_ = 0;
    next_ = 0;
  }

  static void difference(const V &a, const V &b, V &out) {
    assign(a, out);
    axpy(-1.0, b, out);
  }

  void mix(double step, const V &f, V &point) {
    detail::MixingVector slopes(known_);
    for (int i = 0; i < known_; ++i) {
      slopes[i] = dot(changes_[static_cast<std::size_t>(i)], f);
    }
    const auto weights = detail::mixing_weights(gram_.topLeftCorner(known_, known_), slopes);
    if (!weights.allFinite()) {
      forget();
      return;
    }
    set_zero(addition_);
    for (int i = 0; i < known_; ++i) {
      axpy(-weights[i], moves_[static_cast<std::size_t>(i)], addition_);
      axpy(-weights[i] * step, changes_[static_cast<std::size_t>(i)], addition_);
    }
    const double length = norm(addition_);
    axpy(length > way_ ? way_ / length : 1.0, addition_, point);
  }

  int pairs_;
  int known_ = 0;
  int next_ = 0;
  double last_length_ = 0.0; ///< ‖f‖
  bool has_last_ = false;
  std::int64_t restarts_ = 0;
  double way_ = 0.0; ///< gone so far
  V last_point_;
  V last_f_;
  V addition_;
  std::vector<V> moves_;      ///< Δz
  std::vector<V> changes_;    ///< Δf
  detail::MixingMatrix gram_; ///< products of the Δf
};

/// A mixed step, or a plain one where there is no mixing.
template <VectorSpace V> void advance(AndersonMixing<V> *mixing, double step, const V &f, V &point) {
  if (mixing != nullptr) {
    mixing->move(step, f, point);
  } else {
    axpy(step, f, point);
  }
}

/// Moves a point plainly or, with pairs, by Anderson mixing.
template <VectorSpace V> class Mover {
public:
  Mover(int pairs, const V &point) {
    if (pairs > 0) {
      mixing_.emplace(pairs, point);
    }
  }
  void move(double step, const V &f, V &point) { advance(mixing(), step, f, point); }
  /// Null where the moves are plain.
  [[nodiscard]] AndersonMixing<V> *mixing() { return mixing_ ? &*mixing_ : nullptr; }
  template <class Archive> void archive(Archive &members) { members("mixing", mixing_); }

private:
  std::optional<AndersonMixing<V>> mixing_;
};

} // namespace duplex
