// Lower levels with many minimizers, kinks, and problems that have no answer.

#include "zoo/family.hpp"
#include "zoo/least_squares.hpp"
#include "zoo/losses.hpp"
#include "zoo/penalized.hpp"
#include "zoo/pricing.hpp"
#include "zoo/rescaled.hpp"
#include "zoo/separable.hpp"

namespace duplex::zoo {

namespace {

Family least_squares(const std::string &name, const std::string &title, const LeastSquaresSettings &settings) {
  return {{.name = name, .title = title, .is_singular = true},
          [settings]<class T>() { return LeastSquares<T>(settings); }};
}

/// F = ½‖y − c‖² + ½Σ|y_i|, which bends at y_i = 0. Where |c_i| is at least 1 the answer is away from there, on one
/// side or the other; where c_i = 0, as for every other entry if it is to be so, the answer is there.
SeparableSettings kink_settings(bool answer_is_there) {
  Draws draws(70);
  constexpr Index size = 12;
  SeparableSettings settings{.coupling = draw_spd(draws, size, 0.1, 2.0),
                             .tilt = Eigen::MatrixXd::Identity(size, size) + 0.1 * draws.normals(size, size),
                             .wanted = draws.normals(size),
                             .first_x = Eigen::VectorXd::Ones(size),
                             .kink = 0.5,
                             .prior = 1e-3};
  for (Index i = 0; i < size; ++i) {
    settings.wanted[i] += settings.wanted[i] > 0.0 ? 1.0 : -1.0;
    if (answer_is_there && i % 2 == 1) {
      settings.wanted[i] = 0.0;
    }
  }
  return settings;
}

PenalizedSettings mistaken_settings() {
  Draws draws(71);
  return {.model = {.targets = Targets::signs, .weights = sparse_weights(draws, 16, 6), .noise = 1.0},
          .training = 48,
          .validation = 64,
          .groups = groups_of(16, 4),
          .prior = 0.01,
          .start = -3.0,
          .seed = 72};
}

} // namespace

std::vector<Family> degenerate_families() {
  std::vector<Family> out;
  out.push_back(least_squares("singular-15x40", "least squares with many solutions, 15 × 40",
                              {.rows = 15, .columns = 40, .rank = 15, .x_size = 10, .seed = 60}));
  out.push_back(least_squares("singular-20x50", "least squares with many solutions, 20 × 50",
                              {.rows = 20, .columns = 50, .rank = 20, .x_size = 15, .seed = 61}));
  out.push_back(least_squares("singular-30x60", "least squares with many solutions, 30 × 60",
                              {.rows = 30, .columns = 60, .rank = 30, .x_size = 20, .seed = 62}));
  out.push_back(least_squares("inconsistent", "least squares with dependent columns and no exact solution, 60 × 30",
                              {.rows = 60, .columns = 30, .rank = 20, .x_size = 10, .seed = 63}));
  out.push_back({{.name = "kink", .title = "F with |y|, whose answer is away from the kinks"},
                 [settings = kink_settings(false)]<class T>() { return Separable<T, Square>(settings); }});
  out.push_back({{.name = "kink-at-answer", .title = "F with |y|, whose answer is at the kinks", .cause = "kink"},
                 [settings = kink_settings(true)]<class T>() { return Separable<T, Square>(settings); }});
  out.push_back({{.name = "unbounded", .title = "prices for profit, two of which nobody feels", .cause = "unbounded"},
                 []<class T>() { return Pricing<T>({.goods = 6, .captive = 2, .seed = 64}); }});
  out.push_back(
      {{.name = "wrong-cross", .title = "logistic regression with a mistake in ∂/∂x (∇y f·v)", .cause = "derivative"},
       []<class T>() { return WithWrongCross(Penalized<T, LogisticLoss>(mistaken_settings())); },
       []<class T>() { return Penalized<T, LogisticLoss>(mistaken_settings()); }});
  return out;
}

} // namespace duplex::zoo
