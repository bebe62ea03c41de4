#pragma once
// Problems in two numbers, by their derivatives.

#include "support.hpp"

namespace duplex::testing {

/// Problems in two numbers, by their derivatives: f_y, f_yy, f_xy and F, F_x, F_y at (x, y).
struct Scalars {
  double fy, fyy, fxy, value, fx, gy;
};
template <class Formula> class InTwoNumbers {
public:
  using Vector = Vec;
  explicit InTwoNumbers(Formula formula) : formula_(formula) {}
  class Level : public Point<Vec> {
  public:
    explicit Level(const Formula &formula) : formula_(&formula) {}
    [[nodiscard]] double value() const { return now().value; } // F; nothing asks for f
    void hess_yy(const Vec &v, Vec &out) const { out = now().fyy * v; }
    void cross_xy(const Vec &v, Vec &out) const { out = now().fxy * v; }

  protected:
    [[nodiscard]] Scalars now() const { return (*formula_)(this->x()[0], this->y()[0]); }

  private:
    const Formula *formula_;
  };
  class Lower : public Level {
  public:
    using Level::Level;
    void grad_y(Vec &out) const { out = Vec::Constant(1, this->now().fy); }
  };
  class Upper : public Level {
  public:
    using Level::Level;
    void grad_x(Vec &out) const { out = Vec::Constant(1, this->now().fx); }
    void grad_y(Vec &out) const { out = Vec::Constant(1, this->now().gy); }
  };
  [[nodiscard]] Lower lower() const { return Lower(formula_); }
  [[nodiscard]] Upper upper() const { return Upper(formula_); }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 1; }

private:
  Formula formula_;
};

} // namespace duplex::testing
