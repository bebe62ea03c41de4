#pragma once
// What a claimed x is worth, in long double arithmetic: y*(x) by Newton's method to rounding, v by a factorization of
// the Hessian, and ∇φ from both. It shares nothing with the engine but the problem's formulas.
//
// Where the lower level has many minimizers, φ(x) is the smallest F among them: y is moved within the null space N of
// the Hessian, from an eigendecomposition, until NᵀF_y = 0, and v is H⁺F_y.

#include "zoo/family.hpp"
#include "zoo/newton.hpp"

#include <memory>
#include <string>

namespace duplex::zoo {

struct Truth {
  bool is_known = false;
  std::string why;                  ///< it is not known
  long double value = 0.0L;         ///< φ(x)
  VectorOver<long double> gradient; ///< ∇φ(x)
  long double slope = 0.0L;         ///< ‖∇φ(x)‖ without what bounds hold back
  VectorOver<long double> y;        ///< y*(x)
};

class Reference {
public:
  explicit Reference(const Family &family);

  /// At x, from a guess of y. x out of bounds, or a y* that is not found, is not known.
  [[nodiscard]] Truth at(const VectorOver<long double> &x, const VectorOver<long double> &y_guess);
  [[nodiscard]] Truth at(const Eigen::VectorXd &x, const Eigen::VectorXd &y_guess) {
    return at(VectorOver<long double>(x.cast<long double>()), VectorOver<long double>(y_guess.cast<long double>()));
  }
  /// At the k-th start.
  [[nodiscard]] Truth at_start(int k);

  [[nodiscard]] Model<long double> &model() { return *model_; }

private:
  [[nodiscard]] bool respond_uniquely(const VectorOver<long double> &x, Truth &truth, VectorOver<long double> &v);
  [[nodiscard]] bool descend_in_range(const VectorOver<long double> &x, VectorOver<long double> &y);
  [[nodiscard]] bool respond_best(const VectorOver<long double> &x, Truth &truth, VectorOver<long double> &v);

  std::unique_ptr<Model<long double>> model_;
  bool is_singular_;
  Newton<long double> newton_;
};

/// ‖∇φ(x)‖ over that at the k-th start, and infinity where it is not known.
[[nodiscard]] double relative_slope(const Truth &at_start, const Truth &there);

} // namespace duplex::zoo
