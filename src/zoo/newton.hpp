#pragma once
// y*(x) by Newton's method with the dense Hessian: what everyone would write whose y is small.

#include "zoo/model.hpp"

#include <Eigen/Cholesky>

namespace duplex::zoo {

template <class T> class Newton {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  /// The model must outlive it.
  explicit Newton(Model<T> &model) : model_(&model) {}

  /// Moves y to the minimizer of f(x, ·) that is downhill from it; false where there is none to be found. The model is
  /// left there.
  [[nodiscard]] bool minimize(const Vector &x, Vector &y);

  /// out = H⁻¹·right with the last Hessian.
  void solve(const Vector &right, Vector &out) const { out = factor_.solve(right); }

  /// H at the model's point, factorized; where it is not positive definite, with the absolute values of its
  /// eigenvalues, none of them zero. False where something is not finite.
  [[nodiscard]] bool factorize();
  [[nodiscard]] bool was_positive() const { return was_positive_; }

private:
  [[nodiscard]] bool pivots_are_positive() const;
  /// Halves the step until f falls; false where it never does.
  [[nodiscard]] bool descend(const Vector &x, Vector &y, T value, T slope);

  Model<T> *model_;
  Matrix hessian_;
  Eigen::LLT<Matrix> factor_;
  bool was_positive_ = false;
  Vector gradient_;
  Vector step_;
  Vector trial_;
};

extern template class Newton<float>;
extern template class Newton<double>;
extern template class Newton<long double>;

} // namespace duplex::zoo
