#pragma once
// An investor's portfolio follows from expected returns and risk, and what the investor should expect and fear is
// learned from later returns:
//
//   f = −(Sx')·y + ½ e^{x₀} yᵀΣy + (κ/2)(1·y − 1)² − τ Σ_i log y_i
//   F = −r·y + (γ/2) yᵀΣ'y + (ρ/2)‖x‖²
//
// with signals S of which x' = (x₁, …) is the mixture, and later returns of mean r and covariance Σ'. τ > 0 keeps all
// holdings positive.

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <memory>

namespace duplex::zoo {

struct PortfolioSettings {
  Index assets = 20;
  Index signals = 3;
  Index days = 60;      ///< of returns, both before and after
  double barrier = 0.0; ///< τ
  double prior = 0.01;  ///< ρ
  std::uint64_t seed = 0;
};

template <class T> class Portfolio {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Matrix signals;          ///< S
    Matrix covariance;       ///< Σ
    Matrix later_covariance; ///< Σ'
    Vector later_return;     ///< r
    T budget;                ///< κ
    T barrier;               ///< τ
    T aversion;              ///< γ
    T prior;                 ///< ρ
  };

  explicit Portfolio(const PortfolioSettings &settings) {
    Draws draws(settings.seed);
    const Eigen::MatrixXd loadings = draws.normals(settings.assets, 3);
    const Eigen::VectorXd expected = 0.5 * draws.normals(settings.assets);
    const auto covariance = [&] {
      const Eigen::MatrixXd returns =
          draws.normals(settings.days, 3) * loadings.transpose() + draws.normals(settings.days, settings.assets);
      return Eigen::MatrixXd(returns.transpose() * returns / static_cast<double>(settings.days));
    };
    const Eigen::MatrixXd before = covariance();
    const Eigen::MatrixXd after = covariance();
    Eigen::MatrixXd signals = draws.normals(settings.assets, settings.signals);
    signals.col(0) = expected + 0.5 * signals.col(0);
    const Eigen::VectorXd later = expected + 0.2 * draws.normals(settings.assets);
    data_ =
        std::make_shared<const Data>(Data{rounded<T>(signals), rounded<T>(before), rounded<T>(after), rounded<T>(later),
                                          T(4), rounded<T>(settings.barrier), T(2), rounded<T>(settings.prior)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      risk_.forget();
    }
    [[nodiscard]] T value() {
      const T missing = this->y().sum() - T(1);
      const T barrier = has_barrier() ? data_->barrier * this->y().array().log().sum() : T(0);
      return -mixture().dot(this->y()) + T(0.5) * aversion() * this->y().dot(risk()) +
             T(0.5) * data_->budget * missing * missing - barrier;
    }
    void grad_y(Vector &out) {
      out = aversion() * risk() - mixture();
      out.array() += data_->budget * (this->y().sum() - T(1));
      if (has_barrier()) {
        out.array() -= data_->barrier / this->y().array();
      }
    }
    void hess_yy(const Vector &v, Vector &out) {
      out.noalias() = aversion() * (data_->covariance * v);
      out.array() += data_->budget * v.sum();
      if (has_barrier()) {
        out.array() += data_->barrier * v.array() / this->y().array().square();
      }
    }
    void cross_xy(const Vector &v, Vector &out) {
      out.resize(this->x().size());
      out[0] = aversion() * v.dot(risk());
      out.tail(out.size() - 1).noalias() = -(data_->signals.transpose() * v);
    }
    void hessian(Matrix &out) {
      out = aversion() * data_->covariance;
      out.array() += data_->budget;
      if (has_barrier()) {
        out.diagonal().array() += data_->barrier / this->y().array().square();
      }
    }

  private:
    [[nodiscard]] bool has_barrier() const { return data_->barrier > T(0); }
    [[nodiscard]] T aversion() const { return std::exp(this->x()[0]); }
    [[nodiscard]] Vector mixture() const { return data_->signals * this->x().tail(this->x().size() - 1); }
    /// Σy
    const Vector &risk() {
      return risk_.get([&](Vector &out) { out.noalias() = data_->covariance * this->y(); });
    }

    const Data *data_;
    Kept<Vector> risk_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] T value() const {
      return -data_->later_return.dot(this->y()) +
             T(0.5) * data_->aversion * this->y().dot(data_->later_covariance * this->y()) +
             T(0.5) * data_->prior * this->x().squaredNorm();
    }
    void grad_x(Vector &out) const { out = data_->prior * this->x(); }
    void grad_y(Vector &out) const {
      out.noalias() = data_->aversion * (data_->later_covariance * this->y());
      out -= data_->later_return;
    }
    void hess_yy(const Vector &v, Vector &out) const {
      out.noalias() = data_->aversion * (data_->later_covariance * v);
    }
    void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(this->x().size()); }

  private:
    const Data *data_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return 1 + data_->signals.cols(); }
  [[nodiscard]] Index y_size() const { return data_->signals.rows(); }
  /// No signal is trusted, and the same is held of everything.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    return {start_near<T>(Eigen::VectorXd::Zero(x_size()), 0.5, k),
            Vector::Constant(y_size(), T(1) / static_cast<T>(y_size())),
            {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
