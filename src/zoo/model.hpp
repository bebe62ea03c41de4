#pragma once
// A family's problem over one scalar, its type forgotten, with what the engine does not ask for: the dense Hessian of
// the lower level, ten starts, bounds on x. Values keep their scalar, so that long double stays long double.

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace duplex::zoo {

template <class T> class Model {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  Model() = default;
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  virtual ~Model() = default;

  [[nodiscard]] virtual Index x_size() const = 0;
  [[nodiscard]] virtual Index y_size() const = 0;
  /// k from 0 to 9.
  [[nodiscard]] virtual State<Vector> start(int k) const = 0;
  /// Of x; infinite where there is none.
  [[nodiscard]] virtual Vector lower_bound() const = 0;
  [[nodiscard]] virtual Vector upper_bound() const = 0;
  /// What whoever has this problem would solve instead of iterating, where there is such a thing.
  [[nodiscard]] virtual std::optional<State<Vector>> direct_answer() const = 0;

  /// Moves both levels to a point, which is borrowed.
  virtual void at(const Vector &x, const Vector &y) = 0;

  virtual T lower_value() = 0;
  virtual void lower_grad_y(Vector &out) = 0;
  virtual void lower_hess_yy(const Vector &v, Vector &out) = 0;
  virtual void lower_cross_xy(const Vector &v, Vector &out) = 0;
  virtual void lower_hessian(Matrix &out) = 0;

  virtual T upper_value() = 0;
  virtual void upper_grad_x(Vector &out) = 0;
  virtual void upper_grad_y(Vector &out) = 0;
  virtual void upper_hess_yy(const Vector &v, Vector &out) = 0;
  virtual void upper_cross_xy(const Vector &v, Vector &out) = 0;
};

template <class P> class ModelOf final : public Model<typename P::Vector::Scalar> {
public:
  using T = typename P::Vector::Scalar;
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  explicit ModelOf(P problem) : problem_(std::move(problem)), lower_(problem_.lower()), upper_(problem_.upper()) {}

  [[nodiscard]] Index x_size() const override { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const override { return problem_.y_size(); }
  [[nodiscard]] State<Vector> start(int k) const override { return problem_.start(k); }
  [[nodiscard]] Vector lower_bound() const override {
    if constexpr (requires { problem_.lower_bound(); }) {
      return problem_.lower_bound();
    } else {
      return Vector::Constant(x_size(), -std::numeric_limits<T>::infinity());
    }
  }
  [[nodiscard]] Vector upper_bound() const override {
    if constexpr (requires { problem_.upper_bound(); }) {
      return problem_.upper_bound();
    } else {
      return Vector::Constant(x_size(), std::numeric_limits<T>::infinity());
    }
  }
  [[nodiscard]] std::optional<State<Vector>> direct_answer() const override {
    if constexpr (requires { problem_.direct_answer(); }) {
      return problem_.direct_answer();
    } else {
      return std::nullopt;
    }
  }

  void at(const Vector &x, const Vector &y) override {
    lower_.at(x, y);
    upper_.at(x, y);
  }
  T lower_value() override { return lower_.value(); }
  void lower_grad_y(Vector &out) override { lower_.grad_y(out); }
  void lower_hess_yy(const Vector &v, Vector &out) override { lower_.hess_yy(v, out); }
  void lower_cross_xy(const Vector &v, Vector &out) override { lower_.cross_xy(v, out); }
  void lower_hessian(Matrix &out) override { lower_.hessian(out); }
  T upper_value() override { return upper_.value(); }
  void upper_grad_x(Vector &out) override { upper_.grad_x(out); }
  void upper_grad_y(Vector &out) override { upper_.grad_y(out); }
  void upper_hess_yy(const Vector &v, Vector &out) override { upper_.hess_yy(v, out); }
  void upper_cross_xy(const Vector &v, Vector &out) override { upper_.cross_xy(v, out); }

private:
  P problem_;
  LowerOf<P> lower_;
  UpperOf<P> upper_;
};

} // namespace duplex::zoo
