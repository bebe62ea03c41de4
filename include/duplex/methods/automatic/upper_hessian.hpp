#pragma once
// ∇²φ by differences of d, one evaluation of d for each entry of x, and the Newton step that follows from it: where x
// is small and secant pairs have cost as many evaluations as that without an end. Entries of x in any units are then
// alike.

#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/numerics/assembled_hessian.hpp>
#include <duplex/numerics/box_quadratic.hpp>
#include <duplex/space/archive.hpp>
#include <duplex/space/box.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

namespace duplex::automatic {

/// Of vectors that are not Eigen's: never.
template <class V> class UpperHessian {
public:
  explicit UpperHessian(const V & /*x*/) {}
  void count_step(bool /*affordable*/) {}
  [[nodiscard]] static bool is_due() { return false; }
  [[nodiscard]] static bool is_ready() { return false; }
  void apply(V & /*vector*/) {}
  void forget() {}
  template <class Archive> void archive(Archive & /*members*/) {}
};

template <EigenVector V> class UpperHessian<V> {
public:
  explicit UpperHessian(const V &x) : columns_(0, 0), scratch_(zeros_like(x)) {}

  /// Is told of a step of x. `affordable`: d can be had to many digits at little cost.
  void count_step(bool affordable) { steps_ += affordable ? 1 : 0; }
  [[nodiscard]] bool is_due() const {
    return scratch_.size() <= rule::largest_assembled_x && steps_ >= wait_ + static_cast<std::int64_t>(scratch_.size());
  }
  [[nodiscard]] bool is_ready() const { return inverse_.is_there(); }

  /// Column by column, from d at `here` and d_beside(j, h, out), d at x + h e_j, with an h
  /// that it may change. `typical` are the changes of x's
  /// entries of late. Where one cannot be had nothing is known, and it is tried again much later.
  template <class Beside> void assemble(const Estimate<V> &here, const V &typical, const Beside &d_beside) {
    const Index n = scratch_.size();
    const double largest = static_cast<double>(typical.maxCoeff());
    columns_.resize(n, n);
    for (Index j = 0; j < n; ++j) {
      const double change = typical[j] > 0 ? static_cast<double>(typical[j]) : largest;
      if (!find_column(j, rule::difference_of_x * change, here.d, d_beside)) {
        give_up();
        return;
      }
    }
    invert_columns();
    steps_ = 0;
  }

  /// vector ← (∇²φ)⁻¹ vector, with the moduli of the eigenvalues where φ is not convex.
  void apply(V &vector) {
    inverse_.apply(vector, scratch_);
    std::swap(vector, scratch_);
  }

  /// What minimizes dᵀp + ½ pᵀBp for x + p in a box and no entry of p beyond the radius, where B is ∇²φ brought up to
  /// date by secant pairs.
  template <class Pairs>
  void minimize_within(const Box<V> &box, double radius, const Estimate<V> &here, const Pairs &pairs, V &move) const {
    dense::Matrix<double> model = columns_.template cast<double>();
    model = (0.5 * (model + model.transpose())).eval();
    pairs.update(model);
    V end = V::Constant(here.d.size(), -std::numeric_limits<Scalar>::max());
    box.project(end);
    const dense::Vector<double> lower = (end - here.at.x).template cast<double>().cwiseMax(-radius);
    end.setConstant(std::numeric_limits<Scalar>::max());
    box.project(end);
    const dense::Vector<double> upper = (end - here.at.x).template cast<double>().cwiseMin(radius);
    move = dense::minimize_in_box(model, here.d.template cast<double>(), lower, upper, rule::accuracy_of_upper_hessian)
               .template cast<Scalar>();
  }

  /// Leaves where it is every entry of x that φ does not feel: neither its slope nor its curvature makes a difference
  /// to what the move promises. Such entries wander off otherwise, with nothing to hold them, until a number overflows.
  void keep_unfelt(const V &d, V &move) const {
    const auto felt = static_cast<Scalar>(rule::share_that_is_felt * std::abs(dot(d, move)) / size(move));
    const auto slope = (move.array() * d.array()).abs();
    const auto bend = move.array().square() * columns_.diagonal().array().abs() / 2;
    move = (slope <= felt && bend <= felt).select(V::Zero(move.size()), move);
  }

  void forget() {
    columns_.resize(0, 0);
    inverse_ = {};
    steps_ = 0;
  }

  template <class Archive> void archive(Archive &members) {
    members("steps", steps_);
    members("wait", wait_);
    auto rows = static_cast<std::int64_t>(columns_.rows());
    members("rows", rows);
    if (rows != 0 && rows != static_cast<std::int64_t>(scratch_.size())) {
      throw InvalidInput("the saved state holds second derivatives of another number of variables");
    }
    columns_.resize(rows, rows);
    for (Index j = 0; j < columns_.cols(); ++j) {
      scratch_ = columns_.col(j);
      members("column " + std::to_string(j), scratch_);
      columns_.col(j) = scratch_;
    }
    if constexpr (!std::same_as<Archive, StateWriter>) {
      inverse_ = {};
      if (rows > 0) {
        invert_columns();
      }
    }
  }

private:
  using Scalar = typename V::Scalar;

  /// By the first of the differences h, 10²h, 10⁴h, … in which d changes by more than its rounding: some entries of x
  /// may have moved by next to nothing so far.
  template <class Beside> [[nodiscard]] bool find_column(Index j, double h, const V &d, const Beside &d_beside) {
    constexpr int most_attempts = 7;
    constexpr double farther = 100.0;
    const double enough = rule::least_change_of_d * norm(d);
    bool found = false;
    for (int attempt = 0; attempt < most_attempts && h > 0.0; ++attempt, h *= farther) {
      double taken = h; // bounds may turn it round or shorten it
      if (!d_beside(j, taken, scratch_) || taken == 0.0) {
        break;
      }
      scratch_ -= d;
      columns_.col(j) = scratch_ / static_cast<Scalar>(taken);
      found = true;
      if (norm(scratch_) > enough) {
        break;
      }
    }
    return found;
  }

  void invert_columns() {
    inverse_ = dense::ScaledInverse<Scalar>(columns_, rule::accuracy_of_upper_hessian);
    if (inverse_.kind() == LinearStatus::not_finite) {
      give_up();
    }
  }
  void give_up() {
    forget();
    wait_ = 4 * std::max<std::int64_t>(wait_, static_cast<std::int64_t>(scratch_.size()));
  }

  dense::Matrix<Scalar> columns_;
  dense::ScaledInverse<Scalar> inverse_;
  V scratch_;
  std::int64_t steps_ = 0; ///< since it was assembled
  std::int64_t wait_ = 0;  ///< more steps than x has entries, after it could not be had
};

} // namespace duplex::automatic
