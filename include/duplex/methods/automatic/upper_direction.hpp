#pragma once
// The move p of x that limited-memory BFGS proposes, and how long the first ones are. Its first matrix is a multiple of
// D², D = diag(x_scale()) where the problem says how large the entries of x are, and ∇²φ itself where that was
// assembled (upper_hessian.hpp); pairs are those since.

#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/upper_hessian.hpp>
#include <duplex/numerics/secant_pairs.hpp>
#include <duplex/problem/offered.hpp>
#include <duplex/space/box.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace duplex::automatic {

template <VectorSpace V> class UpperDirection {
public:
  UpperDirection(std::size_t pairs, const V &x, const V &x_scale = {})
      : pairs_(pairs_for(x, pairs), x, units_from(x_scale)), hessian_(x) {}

  /// p at a point with that slope and value of φ. Before there is any pair, of the length that the last pair says or,
  /// at first, Polyak's step towards F = 0.
  void propose(const V &slope, double value_there, V &move) {
    if (hessian_.is_ready()) {
      pairs_.direction_from([this](V &vector) { hessian_.apply(vector); }, slope, move);
      return;
    }
    pairs_.direction(slope, move);
    scale(pairs_.empty() ? length_without_pairs(-dot(slope, move), value_there) : reach_, move);
  }

  /// As propose() within bounds, with the slope's free part. Where ∇²φ is known, no entry goes farther than the radius,
  /// before the length of all of the move is held to it: one that φ hardly feels may be sent far away, and shortening
  /// the rest for it would leave nothing of that.
  void propose_within(const Box<V> &box, double radius, const Estimate<V> &here, const V &free_slope, V &move) {
    if constexpr (EigenVector<V>) {
      if (box.exists() && !hessian_.is_ready()) {
        propose_on_faces(box, here, free_slope, move);
        return;
      }
      if (hessian_.is_ready()) {
        constexpr double far = 10.0;
        const double most = std::min(radius, far * (1.0 + norm(here.at.x)));
        if (!box.exists()) {
          propose(free_slope, here.value, move);
        }
        if (box.exists() || !(static_cast<double>(move.cwiseAbs().maxCoeff()) <= most)) {
          hessian_.minimize_within(box, most, here, pairs_, move);
        }
        hessian_.keep_unfelt(here.d, move);
        return;
      }
    }
    propose(free_slope, here.value, move);
  }

  /// Learns from a move and the change of d along it, with curvature = pᵀΔd, where that is more than rounding.
  void learn(const V &move, const V &change, double curvature) {
    if (curvature > 100.0 * precision(move) * norm(move) * norm(change)) {
      pairs_.add(move, change, curvature);
      scale_ = curvature / pairs_.first_square(change);
      reach_ = 1.0;
    }
  }
  /// φ bends down along p: farther next time.
  void reach_farther() { reach_ *= 4.0; }

  /// Is told of a step of x. `affordable`: d can be had to many digits at little cost.
  void count_step(bool affordable) { hessian_.count_step(affordable); }
  [[nodiscard]] bool hessian_is_due() const { return hessian_.is_due(); }
  /// ∇²φ in the place of all pairs, by d_beside(j, h, out) as UpperHessian::assemble() asks for.
  template <class Beside> void assemble_hessian(const Estimate<V> &here, const Beside &d_beside) {
    if constexpr (EigenVector<V>) {
      V typical = zeros_like(here.d);
      pairs_.largest_steps(typical);
      hessian_.assemble(here, typical, d_beside);
      if (hessian_.is_ready()) {
        pairs_.forget();
      }
    }
  }

  void forget_pairs() { pairs_.forget(); }
  /// Of a move that no length has made good, along which φ has that slope. Where it leads uphill ∇²φ as it was
  /// assembled is to blame too: it may not be convex, or be of elsewhere.
  void forget_what_led_along(double slope) {
    if (slope < 0.0) {
      forget_pairs();
    } else {
      forget();
    }
  }
  void forget() {
    pairs_.forget();
    scale_ = 0.0;
    reach_ = 1.0;
    hessian_.forget();
  }

  template <class Archive> void archive(Archive &members) {
    members("pairs", pairs_);
    members("scale", scale_);
    members("reach", reach_);
    members("hessian", hessian_);
  }

private:
  /// The move of the entries that are free; those that would leave the box are fixed at their bounds, and the rest is
  /// proposed anew (Bertsekas, 1982).
  void propose_on_faces(const Box<V> &box, const Estimate<V> &here, const V &free_slope,
                        V &move) requires EigenVector<V> {
    constexpr int most_rounds = 20;
    const double first_length = length_without_pairs(pairs_.first_square(free_slope), here.value);
    V free = free_slope;
    free = (free.array() == 0 && here.d.array() != 0).select(V::Zero(free.size()), V::Ones(free.size()));
    V fixed = zeros_like(move);
    for (int round = 0; round < most_rounds; ++round) {
      const bool uses_pairs = pairs_.direction_within(free, here.d, move, first_length);
      scale(uses_pairs ? reach_ : 1.0, move);
      const V reached = here.at.x + move;
      V inside = reached;
      box.project(inside);
      const Eigen::Array<bool, Eigen::Dynamic, 1> leaves = free.array() != 0 && inside.array() != reached.array();
      if (!leaves.any()) {
        break;
      }
      fixed = leaves.select(inside - here.at.x, fixed);
      free = leaves.select(V::Zero(free.size()), free);
    }
    move = (free.array() != 0).select(move, fixed);
  }

  /// Of a move along −D²d, over its length. `square` is dᵀD²d.
  [[nodiscard]] double length_without_pairs(double square, double value_there) const {
    if (scale_ > 0.0) {
      return reach_ * scale_;
    }
    const double value = std::abs(value_there);
    const bool says_something = value > 0.0 && std::isfinite(value) && square > 0.0;
    return says_something ? reach_ * value / square : reach_;
  }

  [[nodiscard]] static V units_from(const V &x_scale) {
    if constexpr (EigenVector<V>) {
      return size(x_scale) > 0 ? units_of(x_scale) : V{};
    } else {
      return {};
    }
  }

  /// More pairs where x is small: they cost little there.
  [[nodiscard]] static std::size_t pairs_for(const V &x, std::size_t pairs) {
    constexpr Index small = 2000;
    return size(x) <= small ? std::clamp(static_cast<std::size_t>(size(x)), pairs, 3 * pairs) : pairs;
  }

  SecantPairs<V> pairs_;
  UpperHessian<V> hessian_;
  double scale_ = 0.0; ///< pᵀΔd/ΔdᵀΔd of the last pair
  double reach_ = 1.0; ///< times the length that would be taken otherwise
};

} // namespace duplex::automatic
