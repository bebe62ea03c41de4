#pragma once
// A lower level with many minimizers: its Hessian H is singular, and y may move along its null space N without changing
// f. The upper level chooses, φ(x) = min {F(x, y) : y minimizes f(x, ·)}, and with v = H⁺∇yF again
// ∇φ(x) = ∇xF − ∇²xy f·v, provided that
//
//   HN = 0 is more than rounding, and ∇²xy f·N = 0: otherwise f has minimizers for some x alone
//   NᵀF_yyN is positive definite: otherwise neither level chooses, unless F does not see N at all
//
// which is looked at. Only where H is assembled.

#include <duplex/measure/response.hpp>
#include <duplex/space/last_bits.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace duplex {

template <EigenVector V> class Selection {
public:
  /// At the response's y, which minimizes f. Throws SingularLowerLevel where one of the conditions does not hold.
  void begin(Response<V> &response) {
    if (!response.problem().offers_aggregation()) {
      throw SingularLowerLevel("the lower Hessian is singular, and the problem lacks upper().hess_yy(v, out) and "
                               "upper().cross_xy(v, out), by which the upper level could choose among its minimizers");
    }
    basis_ = response.hessian().null_space();
    image_ = V::Zero(basis_.rows());
    require_flat(response);
    auto &upper = response.upper();
    upper.at(response.x(), response.y());
    Matrix curvature(basis_.cols(), basis_.cols());
    for (Index j = 0; j < basis_.cols(); ++j) {
      const V direction = basis_.col(j);
      upper.hess_yy(direction, image_);
      curvature.col(j) = basis_.transpose() * image_;
    }
    factor_ = dense::SymmetricFactor<Scalar>(curvature);
    is_indifferent_ = curvature.allFinite() && leaves_the_choice_open(response, curvature);
    if (is_indifferent_) {
      return;
    }
    if (!curvature.allFinite() || !factor_.is_positive_definite()) {
      throw SingularLowerLevel(
          "the lower Hessian is singular, and F has no single minimizer where f is flat: neither level "
          "chooses y");
    }
  }

  /// The Newton step along N towards the smallest F, from where its gradient in y is `slope`.
  void step(const V &slope, V &out) const {
    if (is_indifferent_) {
      out = V::Zero(basis_.rows());
      return;
    }
    V along;
    factor_.solve(V(basis_.transpose() * slope), along);
    out = -(basis_ * along);
  }

  /// ‖Nᵀ slope‖
  [[nodiscard]] double part_in_null_space(const V &slope) const {
    return static_cast<double>((basis_.transpose() * slope).norm());
  }

private:
  using Scalar = typename V::Scalar;
  using Matrix = dense::Matrix<Scalar>;

  /// Whether F does not see along which minimizer of f it is taken: neither its slope nor its curvature along N is more
  /// than rounding beside what they are elsewhere. φ and ∇φ are then those of any of them.
  [[nodiscard]] bool leaves_the_choice_open(Response<V> &response, const Matrix &curvature) {
    constexpr double nothing = 1e-10;
    auto &upper = response.upper();
    V slope = image_;
    upper.grad_y(slope);
    const double length = norm(slope);
    if (!(length > 0.0)) {
      return false;
    }
    upper.hess_yy(slope, image_);
    return part_in_null_space(slope) <= nothing * length &&
           static_cast<double>(curvature.cwiseAbs().maxCoeff()) <= nothing * norm(image_) / length;
  }

  /// HN and ∇²xy f·N are zero but for rounding. A product that is all rounding is not homogeneous, H(sw) ≠ sHw, and
  /// changes with the last bits of w.
  void require_flat(Response<V> &response) {
    auto &lower = response.lower();
    V across = V::Zero(size(response.x()));
    constexpr Index some = 8; // of many dimensions, so many mixtures
    std::mt19937_64 generator(11);
    V mixture = V::Zero(basis_.cols());
    for (Index j = 0; j < std::min(some, basis_.cols()); ++j) {
      fill_normal(generator, mixture);
      mixture.normalize();
      V w = basis_.cols() <= some ? V(basis_.col(j)) : V(basis_ * mixture);
      V in_range = w;
      for (int refinement = 0; refinement < 2; ++refinement) { // what rounding has left in w of other eigenvectors
        lower.hess_yy(w, image_);
        response.hessian().invert(image_, in_range);
        w -= in_range;
      }
      if (!is_rounding([&](const V &in, V &out) { lower.hess_yy(in, out); }, w, generator, image_)) {
        throw SingularLowerLevel(
            "the lower Hessian is all but singular: whether f has one minimizer or many cannot be told at "
            "this precision");
      }
      if (!is_rounding([&](const V &in, V &out) { lower.cross_xy(in, out); }, w, generator, across)) {
        throw SingularLowerLevel("the lower Hessian is singular, and f(x, ·) has minimizers for some x alone, or "
                                 "curvatures that cannot be told from rounding");
      }
    }
    require_no_slope(response);
  }

  /// Leaves the product in out.
  template <class Product>
  [[nodiscard]] bool is_rounding(const Product &product, const V &w, std::mt19937_64 &generator, V &out) {
    constexpr int samples = 6;
    product(w, out);
    double noise = 0.0;
    V again = out;
    V moved = w;
    for (const double length : {0.7310585786300049, 1.3130352854993313, 0.9241418199787566}) {
      moved = static_cast<Scalar>(length) * w;
      product(moved, again);
      again -= static_cast<Scalar>(length) * out;
      noise = std::max(noise, norm(again));
    }
    for (int i = 0; i < samples; ++i) { // w is known to its last bits at best
      change_last_bits(w, generator, moved, 1);
      product(moved, again);
      again -= out;
      noise = std::max(noise, norm(again));
    }
    return norm(out) <= of_noise * noise;
  }

  /// Where H is flat ∇y f must vanish, here and at another x with y following: a slope beyond its rounding belongs to a
  /// curvature that is too small to be seen.
  void require_no_slope(Response<V> &response) {
    auto &lower = response.lower();
    const V &x = response.x();
    V x_beside = x;
    std::mt19937_64 generator(10);
    fill_normal(generator, x_beside);
    const double length = norm(x);
    scale((length > 0.0 ? length : 1.0) / norm(x_beside), x_beside);
    axpy(1.0, x, x_beside);
    response.box().project(x_beside);
    V y_beside = response.y();
    V step = y_beside;
    for (int newton = 0; newton < 2; ++newton) {
      lower.at(x_beside, y_beside);
      lower.grad_y(image_);
      response.hessian().invert(image_, step);
      y_beside -= step;
    }
    const bool slopes = slopes_beyond_rounding(response, x, response.y(), generator) ||
                        slopes_beyond_rounding(response, x_beside, y_beside, generator);
    lower.at(x, response.y());
    if (slopes) {
      throw SingularLowerLevel(
          "the lower Hessian is all but singular, and ∇y f does not vanish where it seems flat: f has no "
          "minimizer, or one that cannot be found at this precision");
    }
  }

  /// False where the place is outside of what f is defined on.
  [[nodiscard]] bool slopes_beyond_rounding(Response<V> &response, const V &x, const V &y, std::mt19937_64 &generator) {
    auto &lower = response.lower();
    constexpr int samples = 6;
    constexpr double of_samples = 4.0;
    V gradient = image_;
    V x_moved = x;
    V y_moved = y;
    lower.at(x, y);
    lower.grad_y(gradient);
    double noise = precision(gradient) * norm(gradient); // of the part itself
    for (int i = 0; i < samples; ++i) {
      change_last_bits(x, generator, x_moved);
      response.box().project(x_moved);
      change_last_bits(y, generator, y_moved);
      lower.at(x_moved, y_moved);
      lower.grad_y(image_);
      image_ -= gradient;
      noise = std::max(noise, part_in_null_space(image_));
    }
    return all_finite(gradient) && part_in_null_space(gradient) > of_samples * noise;
  }

  static constexpr double of_noise = 4.0;

  Matrix basis_; ///< N
  bool is_indifferent_ = false;
  dense::SymmetricFactor<Scalar> factor_;
  V image_;
};

} // namespace duplex
