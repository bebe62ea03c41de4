#pragma once
// What moving goods costs, learned from what is moved (inverse optimal transport). The lower level is the dual of
// entropic transport from a to b, y = (u, w):
//
//   f = ε Σ_ij P_ij − a·u − b·w,   P_ij = exp((u_i + w_j − C_ij)/ε),   C = Σ_k x_k Φ_k,
//
// and F = (s/2) Σ_ij (P_ij − O_ij)² + (ρ/2)‖x‖² with an observed plan O. Adding a number to u and taking it from w
// changes no P: the last entry of w is held at zero, or, where it is not, the lower level has a line of minimizers.

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace duplex::zoo {

struct TransportSettings {
  Index sources = 12;
  Index targets = 10;
  Index costs = 4;        ///< entries of x
  bool holds_last = true; ///< w_m = 0
  double noise = 0.2;     ///< of the logarithms of the observed plan
  std::uint64_t seed = 0;
};

/// Of doubles, before they are rounded.
struct TransportData {
  std::vector<Eigen::MatrixXd> costs;
  Eigen::MatrixXd observed;
};
[[nodiscard]] TransportData draw_transport(const TransportSettings &settings);

template <class T> class Transport {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    std::vector<Matrix> costs; ///< Φ
    Matrix observed;           ///< O
    Vector supply;             ///< a
    Vector demand;             ///< b
    T smoothing;               ///< ε
    T scale;                   ///< s
    T prior;                   ///< ρ
    bool holds_last;

    [[nodiscard]] Index sources() const { return supply.size(); }
    [[nodiscard]] Index targets() const { return demand.size(); }
    /// Those of w that are variables.
    [[nodiscard]] Index free_targets() const { return targets() - (holds_last ? 1 : 0); }
  };

  explicit Transport(const TransportSettings &settings);

  /// What both levels need of a plan.
  class Plan : public Point<Vector> {
  public:
    explicit Plan(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      plan_.forget();
    }

  protected:
    const Matrix &plan();
    /// (v_u)_i + (v_w)_j, the change of the exponents times ε.
    void exponents(const Vector &v, Matrix &out) const;
    /// out = sums of the rows, then of the columns that are variables.
    void sums(const Matrix &matrix, Vector &out) const;
    /// out_k = factor · Σ Φ_k ∘ matrix
    void against_costs(const Matrix &matrix, T factor, Vector &out) const;

    const Data *data_;
    Matrix change_;

  private:
    Kept<Matrix> plan_;
  };

  class Lower : public Plan {
  public:
    using Plan::Plan;
    [[nodiscard]] T value();
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);
    void hessian(Matrix &out);
  };

  class Upper : public Plan {
  public:
    using Plan::Plan;
    [[nodiscard]] T value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);

  private:
    [[nodiscard]] Matrix slope();   ///< of F in the exponents: s (P − O)∘P
    [[nodiscard]] Matrix bending(); ///< its derivative in them: s (2P − O)∘P
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return static_cast<Index>(data_->costs.size()); }
  [[nodiscard]] Index y_size() const { return data_->sources() + data_->free_targets(); }
  /// All costs of one weight.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    return {start_near<T>(Eigen::VectorXd::Ones(x_size()), 0.5, k), Vector::Zero(y_size()), {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

extern template class Transport<double>;
extern template class Transport<long double>;

} // namespace duplex::zoo
