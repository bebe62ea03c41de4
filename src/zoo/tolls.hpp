#pragma once
// Tolls on a road network. Drivers spread over the routes y of their trip so that cost and entropy balance, and fewer
// of them drive where the trip is dear. With the flows v = Δᵀy on the roads,
//
//   f = Σ_a (t_a v_a + ½ b_a v_a²) + Σ_{a tolled} x_a v_a + θ Σ_r y_r (log y_r − 1) + (κ/2) Σ_w (Σ_{r∈w} y_r − D_w)²
//
// for y > 0, and the owner of the tolled roads wants revenue: F = −Σ_{a tolled} x_a v_a, with tolls from 0 to a limit.

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <memory>

namespace duplex::zoo {

struct TollSettings {
  Index trips = 4;
  Index routes_of_trip = 4;
  Index roads = 12;
  Index tolled = 5;
  double highest = 20.0;
  std::uint64_t seed = 0;
};

template <class T> class Tolls {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Matrix roads_of_route; ///< Δ, a row for each route
    Matrix tolled;         ///< its columns of the tolled roads
    Matrix trip_of_route;  ///< one where a route is of a trip
    Vector time;           ///< t
    Vector congestion;     ///< b
    Vector demand;         ///< D
    T spread;              ///< θ
    T elasticity;          ///< κ
    T highest;
  };

  explicit Tolls(const TollSettings &settings) {
    Draws draws(settings.seed);
    const Index routes = settings.trips * settings.routes_of_trip;
    Eigen::MatrixXd uses = Eigen::MatrixXd::Zero(routes, settings.roads);
    Eigen::MatrixXd trips = Eigen::MatrixXd::Zero(routes, settings.trips);
    for (Index r = 0; r < routes; ++r) {
      trips(r, r / settings.routes_of_trip) = 1.0;
      for (int leg = 0; leg < 3; ++leg) {
        uses(r, static_cast<Index>(draws.uniform() * static_cast<double>(settings.roads))) = 1.0;
      }
    }
    const Eigen::VectorXd time = 1.0 + draws.uniforms(settings.roads).array();
    const Eigen::VectorXd congestion = 0.1 + 0.2 * draws.uniforms(settings.roads).array();
    const Eigen::VectorXd demand = 8.0 + 4.0 * draws.uniforms(settings.trips).array();
    data_ = std::make_shared<const Data>(
        Data{rounded<T>(uses), rounded<T>(Eigen::MatrixXd(uses.leftCols(settings.tolled))), rounded<T>(trips),
             rounded<T>(time), rounded<T>(congestion), rounded<T>(demand), T(1), T(1), rounded<T>(settings.highest)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      flows_.forget();
      surplus_.forget();
    }
    [[nodiscard]] T value() {
      const auto y = this->y().array();
      return data_->time.dot(flows()) + T(0.5) * (data_->congestion.array() * flows().array().square()).sum() +
             this->x().dot(data_->tolled.transpose() * this->y()) + data_->spread * (y * (y.log() - T(1))).sum() +
             T(0.5) * data_->elasticity * surplus().squaredNorm();
    }
    void grad_y(Vector &out) {
      out.noalias() = data_->roads_of_route * (data_->time + data_->congestion.cwiseProduct(flows()));
      out.noalias() += data_->tolled * this->x();
      out.noalias() += data_->elasticity * (data_->trip_of_route * surplus());
      out.array() += data_->spread * this->y().array().log();
    }
    void hess_yy(const Vector &v, Vector &out) {
      out.noalias() = data_->roads_of_route * data_->congestion.cwiseProduct(data_->roads_of_route.transpose() * v);
      out.noalias() += data_->elasticity * (data_->trip_of_route * (data_->trip_of_route.transpose() * v));
      out.array() += data_->spread * v.array() / this->y().array();
    }
    void cross_xy(const Vector &v, Vector &out) { out.noalias() = data_->tolled.transpose() * v; }
    void hessian(Matrix &out) {
      out.noalias() = data_->roads_of_route * data_->congestion.asDiagonal() * data_->roads_of_route.transpose();
      out.noalias() += data_->elasticity * (data_->trip_of_route * data_->trip_of_route.transpose());
      out.diagonal().array() += data_->spread / this->y().array();
    }

  private:
    const Vector &flows() {
      return flows_.get([&](Vector &out) { out.noalias() = data_->roads_of_route.transpose() * this->y(); });
    }
    /// Of each trip, drivers less demand.
    const Vector &surplus() {
      return surplus_.get([&](Vector &out) { out = data_->trip_of_route.transpose() * this->y() - data_->demand; });
    }

    const Data *data_;
    Kept<Vector> flows_;
    Kept<Vector> surplus_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] T value() const { return -this->x().dot(data_->tolled.transpose() * this->y()); }
    void grad_x(Vector &out) const { out.noalias() = -(data_->tolled.transpose() * this->y()); }
    void grad_y(Vector &out) const { out.noalias() = -(data_->tolled * this->x()); }
    void hess_yy(const Vector &v, Vector &out) const { out.setZero(v.size()); }
    void cross_xy(const Vector &v, Vector &out) const { out.noalias() = -(data_->tolled.transpose() * v); }

  private:
    const Data *data_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return data_->tolled.cols(); }
  [[nodiscard]] Index y_size() const { return data_->tolled.rows(); }
  /// Tolls of one, a driver on every route.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const Vector x = start_near<T>(Eigen::VectorXd::Ones(x_size()), 1.0, k).cwiseAbs();
    return {x.cwiseMin(data_->highest), Vector::Ones(y_size()), {}};
  }
  [[nodiscard]] Vector lower_bound() const { return Vector::Zero(x_size()); }
  [[nodiscard]] Vector upper_bound() const { return Vector::Constant(x_size(), data_->highest); }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
