// Runs that are made to go wrong: steps far too long, a product that is NaN once, a lower level that is not convex, or
// one without curvature. Each must come to the exact answer, or end with the right diagnosis.

#include "report/table.hpp"
#include "reproduce/checked_claims.hpp"
#include "reproduce/quadratic_runs.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/measure/curvature.hpp>

#include <Eigen/LU>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

namespace duplex::reproduce {

namespace in_sabotage {
namespace {

using Vector = Eigen::VectorXd;

enum class Sabotage : std::uint8_t { long_steps, one_nan, not_convex, no_curvature };

constexpr std::array<std::string_view, 4> sabotage_names{"steps 10 to 1000 times too long", "NaN in one product",
                                                         "lower level not convex", "lower Hessian zero"};

/// A quadratic whose products are counted, one of which is NaN.
class Poisoned {
public:
  using Vector = Eigen::VectorXd;

  Poisoned(Quadratic<double> problem, std::int64_t poisoned) : problem_(std::move(problem)), left_(poisoned) {}

  template <class Evaluation> class Level : public Evaluation {
  public:
    Level(Evaluation evaluation, std::int64_t *left) : Evaluation(std::move(evaluation)), left_(left) {}
    void grad_y(Vector &out) {
      Evaluation::grad_y(out);
      spoil(out);
    }
    void hess_yy(const Vector &v, Vector &out) {
      Evaluation::hess_yy(v, out);
      spoil(out);
    }
    void cross_xy(const Vector &v, Vector &out) {
      Evaluation::cross_xy(v, out);
      spoil(out);
    }

  private:
    void spoil(Vector &out) {
      if (--*left_ == 0) {
        out[0] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    std::int64_t *left_;
  };

  [[nodiscard]] auto lower() const { return Level(problem_.lower(), &left_); }
  [[nodiscard]] auto upper() const { return Level(problem_.upper(), &left_); }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] State<Vector> start() const { return problem_.start(); }

private:
  Quadratic<double> problem_;
  mutable std::int64_t left_; ///< one run at a time
};

struct Sabotaged {
  Sabotage kind{};
  std::string solver;
  Summary summary;
  bool breaks_anyway =
      false; ///< the same run without sabotage and recoveries does not converge: its steps are too long by themselves
  double error = infinity; ///< at the end: of x, over that of the start; infinite where there is no answer

  [[nodiscard]] bool claims() const { return summary.converged(); }
  [[nodiscard]] bool lies() const { return claims() && !(error <= 1e-2); }
  [[nodiscard]] bool explains() const {
    const auto says = [&](std::string_view text) { return summary.message.find(text) != std::string::npos; };
    const bool blames_steps = says("too long") || says("smaller");
    switch (kind) {
    case Sabotage::long_steps:
      return blames_steps;
    case Sabotage::one_nan:
      return says("NaN") || says("not finite") || (breaks_anyway && blames_steps);
    case Sabotage::not_convex:
      return says("not convex");
    case Sabotage::no_curvature:
      return says("singular");
    }
    return false;
  }
  [[nodiscard]] bool right() const { return (claims() && !lies()) || (!claims() && explains()); }
};

/// Without curvature f is minimal anywhere in y where Cᵀx + b = 0 and nowhere else: minimizes F on that, if it exists.
std::optional<Vector> answer_without_curvature(const Quadratic<double> &problem) {
  const auto &data = problem.data();
  const Index n = problem.x_size();
  const Index m = problem.y_size();
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n + 2 * m, n + 2 * m);
  system.topLeftCorner(n + m, n + m) = data.upper_hessian;
  system.block(n + m, 0, m, n) = data.cross.transpose();
  system.block(0, n + m, n, m) = data.cross;
  Vector right(n + 2 * m);
  right << -data.upper_linear, -data.lower_linear;
  const Vector solution = system.fullPivLu().solve(right);
  if ((system * solution - right).norm() > 1e-9 * right.norm()) {
    return std::nullopt;
  }
  return solution.head(n);
}

std::optional<Vector> answer_of(Sabotage kind, const Quadratic<double> &problem) {
  switch (kind) {
  case Sabotage::not_convex:
    return std::nullopt;
  case Sabotage::no_curvature:
    return answer_without_curvature(problem);
  default:
    return problem.answer()->x;
  }
}

Sabotaged run_sabotaged(Sabotage kind, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto uniform = [&] { return static_cast<double>(generator() >> 11U) * 0x1p-53; };
  QuadraticSettings settings;
  settings.n = 2 + static_cast<Index>(20.0 * uniform());
  settings.m = 2 + static_cast<Index>(20.0 * uniform());
  settings.condition = std::pow(10.0, 1.5 * uniform());
  settings.coupling = 0.5;
  settings.seed = generator();
  auto data = settings.generate<double>().data();
  const double curvature =
      largest_curvature(Quadratic<double>(data), Vector::Zero(settings.n), Vector::Zero(settings.m));
  if (kind == Sabotage::not_convex) {
    data.lower_hessian.diagonal().array() -= (1.0 / settings.condition + 0.1 + 0.5 * uniform()) * curvature;
  } else if (kind == Sabotage::no_curvature) {
    data.lower_hessian.setZero();
  }
  const Quadratic<double> problem(data);

  const int mode = static_cast<int>(3.0 * uniform());
  const bool is_automatic = mode == 2 && kind != Sabotage::long_steps;
  Bagdc given{.alpha = 0.05 / settings.condition, .beta = 1.0 / curvature, .eta = 1.0 / curvature};
  given.dual = mode == 0 ? DualStep::constant : mode == 1 ? DualStep::adaptive : DualStep::relaxed;
  if (kind == Sabotage::long_steps) {
    const double factor = std::pow(10.0, 1.0 + 2.0 * uniform());
    const bool has_eta = given.dual == DualStep::constant; // elsewhere a line search finds it
    const int which = has_eta ? static_cast<int>(4.0 * uniform()) : static_cast<int>(2.0 * uniform());
    given.alpha *= which == 0 || which == 3 ? factor : 1.0;
    given.beta *= which == 1 || which == 3 ? factor : 1.0;
    given.eta *= which == 2 || which == 3 ? factor : 1.0;
  }
  const Options options{
      .max_iterations = 300'000, .kkt_tolerance = is_automatic ? 0.0 : 1e-6, .recoveries = 12, .patience = 10'000};
  const auto run = [&](const auto &sabotaged, State<Vector> &state, const Options &with) {
    return is_automatic ? solve(sabotaged, Automatic{}, state, with) : solve(sabotaged, given, state, with);
  };
  Sabotaged result;
  result.kind = kind;
  result.solver = is_automatic ? "automatic" : field_text(given.dual);
  auto state = problem.start();
  const Vector start = state.x;
  if (kind == Sabotage::one_nan) {
    auto healthy = problem.start();
    Options without_recoveries = options;
    without_recoveries.recoveries = 0;
    result.breaks_anyway = !run(problem, healthy, without_recoveries).converged();
    result.summary = run(Poisoned(problem, 1 + static_cast<std::int64_t>(300.0 * uniform())), state, options);
  } else {
    result.summary = run(problem, state, options);
  }
  if (const auto answer = answer_of(kind, problem)) {
    result.error = (state.x - *answer).norm() / (start - *answer).norm();
  }
  return result;
}

} // namespace
} // namespace in_sabotage

Experiment sabotage(const Settings &settings) {
  using namespace in_sabotage;
  Experiment result{.name = "sabotage",
                    .title = std::string(title_of("sabotage")),
                    .options = {{"runs", 300}},
                    .seed = settings.seed,
                    .reference = "target"};
  struct Part {
    Sabotage kind;
    int runs;
  };
  constexpr std::array<Part, 4> parts{
      {{Sabotage::long_steps, 100}, {Sabotage::one_nan, 50}, {Sabotage::not_convex, 25}, {Sabotage::no_curvature, 25}}};
  report::Table table({"sabotage", "runs", "converged", "explained", "wrong", "recoveries", "most steps"});
  report::Table wrongs({"wrong", "steps", "what it said"});
  int wrong = 0;
  int lies = 0;
  int done = 0;
  std::mt19937_64 seeds(settings.seed);
  for (const auto &[kind, runs] : parts) {
    int converged = 0;
    int explained = 0;
    int bad = 0;
    std::size_t recoveries = 0;
    std::int64_t most_steps = 0;
    for (int i = 0; i < runs && !settings.interrupted(); ++i) {
      const auto run = run_sabotaged(kind, seeds());
      ++done;
      converged += run.claims() && !run.lies() ? 1 : 0;
      explained += !run.claims() && run.explains() ? 1 : 0;
      bad += run.right() ? 0 : 1;
      lies += run.lies() ? 1 : 0;
      recoveries += run.summary.recoveries.size();
      most_steps = std::max(most_steps, run.summary.iterations);
      if (!run.right()) {
        wrongs.add({fmt::format("{}, {}", sabotage_names[static_cast<std::size_t>(kind)], run.solver),
                    std::to_string(run.summary.iterations), run.summary.brief()});
      }
    }
    wrong += bad;
    table.add({std::string(sabotage_names[static_cast<std::size_t>(kind)]), std::to_string(runs),
               std::to_string(converged), std::to_string(explained), std::to_string(bad), std::to_string(recoveries),
               std::to_string(most_steps)});
  }
  constexpr int runs_of_a_family = 25;
  for (const auto family :
       {ClaimFamily::singular, ClaimFamily::nearly_singular, ClaimFamily::scaled, ClaimFamily::relative_kkt}) {
    int converged = 0;
    int bad = 0;
    for (int i = 0; i < runs_of_a_family && !settings.interrupted(); ++i) {
      const auto claim = check_claim(family, seeds());
      ++done;
      converged += claim.claimed && !claim.is_false() ? 1 : 0;
      bad += claim.is_false() ? 1 : 0;
      if (claim.is_false()) {
        wrongs.add({claim.problem, "", claim.said});
      }
    }
    wrong += bad;
    lies += bad;
    table.add({std::string(title_of(family)), std::to_string(runs_of_a_family), std::to_string(converged),
               std::to_string(runs_of_a_family - converged - bad), std::to_string(bad), "", ""});
  }
  result.interrupted = settings.interrupted();
  result.tables.push_back(table.text());
  if (wrong > 0) {
    result.tables.push_back(wrongs.text());
  }
  result.claim("sabotage.right", "every run converges or ends with the right diagnosis", "all of 300",
               fmt::format("{} of {}", done - wrong, done), wrong == 0);
  result.claim("sabotage.honest", "no run claims success that the exact answer denies", "none", std::to_string(lies),
               lies == 0);
  return result;
}

} // namespace duplex::reproduce
