#pragma once
// Where the lower Hessian is singular with null space N, the step along N towards the smallest F:
// −N (NᵀF_yyN)⁻¹ Nᵀ∇yF. NᵀF_yyN is assembled once, and again where it is asked to be.

#include <duplex/numerics/dense.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/space/archive.hpp>

#include <utility>

namespace duplex::automatic {

template <EigenVector V> class NullSpaceChoice {
public:
  using Scalar = typename V::Scalar;
  using Matrix = dense::Matrix<Scalar>;

  NullSpaceChoice(const V &x, const V &y)
      : null_space_(y.size(), 0), x_(zeros_like(x)), y_(zeros_like(y)), image_(zeros_like(y)) {}

  /// Of another null space from now on, given as orthonormal columns.
  void begin(Matrix null_space) {
    null_space_ = std::move(null_space);
    renew();
  }
  void renew() { curvature_ = {}; }
  [[nodiscard]] const Matrix &null_space() const { return null_space_; }

  /// The step from where the upper level stands, at x and y of the state, with its slope in y. False where neither
  /// level chooses: F falls along N and does not bend up.
  template <class Upper> [[nodiscard]] bool propose(Upper &upper, const State<V> &s, const V &slope, V &step) {
    set_zero(step);
    if (null_space_.cols() == 0) {
      return true;
    }
    if (!curvature_.is_there()) {
      assign(s.x, x_);
      assign(s.y, y_);
      assemble(upper, slope);
    }
    const V along = null_space_.transpose() * slope;
    if (is_indifferent_) {
      return norm(along) <= no_slope * norm(slope);
    }
    const LinearStatus kind = curvature_.kind();
    if (kind == LinearStatus::indefinite || kind == LinearStatus::not_finite) {
      return false;
    }
    const V undecided = curvature_.null_space().transpose() * along;
    if (norm(undecided) > no_slope * norm(slope)) {
      return false;
    }
    V length;
    curvature_.apply(along, length);
    step = -(null_space_ * length);
    return true;
  }

  /// Of the null space nothing is written: begin() is called first where a run goes on.
  template <class Archive> void archive(Archive &members) {
    was_there_ = curvature_.is_there();
    members("there", was_there_);
    members("x", x_);
    members("y", y_);
  }
  /// After archive() has read, and begin(): NᵀF_yyN as it was. `upper` is moved to where that was.
  template <class Upper> void restore(Upper &upper) {
    if (was_there_) {
      upper.at(x_, y_);
      V slope = zeros_like(y_);
      upper.grad_y(slope);
      assemble(upper, slope);
    }
  }

private:
  static constexpr double no_slope = 1e-7; ///< of ‖∇yF‖
  static constexpr double nothing = 1e-10; ///< of F_yy along ∇yF

  /// NᵀF_yyN, and whether that is nothing but rounding beside F_yy elsewhere.
  template <class Upper> void assemble(Upper &upper, const V &slope) {
    Matrix curvature(null_space_.cols(), null_space_.cols());
    for (Index j = 0; j < null_space_.cols(); ++j) {
      const V along = null_space_.col(j);
      upper.hess_yy(along, image_);
      curvature.col(j) = null_space_.transpose() * image_;
    }
    double elsewhere = 0.0;
    if (const double length = norm(slope); length > 0.0) {
      upper.hess_yy(slope, image_);
      elsewhere = norm(image_) / length;
    }
    is_indifferent_ = static_cast<double>(curvature.cwiseAbs().maxCoeff()) <= nothing * elsewhere;
    curvature_ = dense::ScaledInverse<Scalar>(curvature);
  }

  Matrix null_space_;                      ///< N
  dense::ScaledInverse<Scalar> curvature_; ///< of NᵀF_yyN
  bool is_indifferent_ = false;            ///< F is as flat as f along N: any y of them will do
  bool was_there_ = false;
  V x_; ///< where NᵀF_yyN was assembled
  V y_;
  V image_;
};

} // namespace duplex::automatic
