// Lower levels with a shape: quartic, exponential, barrier, entropy; and large quadratics in bad units.

#include "zoo/family.hpp"
#include "zoo/rescaled.hpp"
#include "zoo/separable.hpp"

#include <cmath>

namespace duplex::zoo {

namespace {

/// y from x by a tilt of normal numbers, wanted as it would be at some x, with noise.
SeparableSettings tilted(Index x_size, Index y_size, std::uint64_t seed) {
  Draws draws(seed);
  return {.coupling = {},
          .tilt = draws.normals(y_size, x_size) / std::sqrt(static_cast<double>(x_size)),
          .wanted = draws.normals(y_size),
          .first_x = Eigen::VectorXd::Zero(x_size),
          .prior = 0.01};
}

SeparableSettings quartic_settings() {
  auto settings = tilted(10, 30, 50);
  Draws draws(51);
  settings.coupling = draw_spd(draws, 30, 0.01, 1.0);
  return settings;
}

/// A positive tilt of a positive x, whose logarithm is to be what is wanted.
SeparableSettings exponential_settings() {
  auto settings = tilted(8, 25, 52);
  settings.tilt = settings.tilt.cwiseAbs();
  settings.first_x.setOnes();
  settings.starts_positive = true;
  settings.spread = 0.5;
  settings.prior = 1e-3;
  Draws draws(53);
  const Eigen::VectorXd x = 0.5 + draws.uniforms(8).array();
  settings.wanted = (settings.tilt * x).array().log().matrix() + 0.1 * draws.normals(25);
  return settings;
}

SeparableSettings barrier_settings() {
  auto settings = tilted(10, 40, 54);
  settings.wanted = settings.wanted.cwiseAbs();
  return settings;
}

SeparableSettings entropy_settings() {
  auto settings = tilted(10, 40, 55);
  settings.wanted = settings.wanted.cwiseAbs();
  return settings;
}

/// A Hessian of 500 variables and condition 10⁴; the one that the square itself adds to the diagonal is taken off.
SeparableSettings large_settings() {
  auto settings = tilted(100, 500, 56);
  Draws draws(57);
  settings.coupling = draw_spd(draws, 500, 1.0, 1e4);
  settings.coupling.diagonal().array() -= 0.9375;
  settings.wanted *= 0.25;
  settings.prior = 1e-3;
  return settings;
}

enum class Level : std::uint8_t { x, y };

/// Named after the level whose units are spread over 10^±power.
Family large_quadratic(Level level, int power) {
  const std::string letter = level == Level::x ? "x" : "y";
  const std::string name = "quadratic-" + letter + std::to_string(power);
  const std::string title =
      "a quadratic of 500 variables and condition 1e4, " + letter + " in units of 1e±" + std::to_string(power);
  const double largest = std::pow(10.0, power);
  return {{.name = name, .title = title}, [level, largest]<class T>() {
            Separable<T, Square> problem(large_settings());
            const Index m = problem.x_size();
            const Index n = problem.y_size();
            using Vector = VectorOver<T>;
            const Vector x_units =
                level == Level::x ? rounded<T>(spread_units(m, largest, 58)) : Vector(Vector::Ones(m));
            const Vector y_units =
                level == Level::y ? rounded<T>(spread_units(n, largest, 59)) : Vector(Vector::Ones(n));
            return Rescaled(std::move(problem), x_units, y_units);
          }};
}

template <class G> Family curved(const std::string &name, const std::string &title, const SeparableSettings &settings) {
  return {{.name = name, .title = title}, [settings]<class T>() { return Separable<T, G>(settings); }};
}

} // namespace

std::vector<Family> curved_families() {
  std::vector<Family> out;
  out.push_back(
      curved<Quartic>("quartic", "a quartic lower level, all but flat at zero, with couplings", quartic_settings()));
  out.push_back(curved<Exponential>("exponential", "an exponential lower level, bounded below where Bx is positive",
                                    exponential_settings()));
  out.push_back(
      curved<LogBarrier>("log-barrier", "a projection onto positive numbers by a barrier", barrier_settings()));
  out.push_back(curved<Entropy>("entropy", "y log y − y − (Bx)·y for positive y", entropy_settings()));
  out.push_back(large_quadratic(Level::y, 2));
  out.push_back(large_quadratic(Level::y, 4));
  out.push_back(large_quadratic(Level::x, 2));
  out.push_back(large_quadratic(Level::x, 4));
  return out;
}

} // namespace duplex::zoo
