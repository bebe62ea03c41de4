#include "experiment/step_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace duplex::experiment {

namespace {

using catalog::ConfiguredSolver;

struct Step {
  std::string name;
  double value;
};
using Point = std::vector<Step>;

std::unique_ptr<ConfiguredSolver> copy_of(const ConfiguredSolver &solver) {
  return catalog::make_solver(catalog::spec_text(solver.name(), solver.options()));
}

std::unique_ptr<ConfiguredSolver> with_steps(const ConfiguredSolver &solver, const Point &point) {
  auto changed = copy_of(solver);
  for (const auto &step : point) {
    changed->set(step.name, fmt::format("{}", step.value));
  }
  return changed;
}

std::string text_of(const Point &point) {
  std::string text;
  for (const auto &step : point) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", step.name, short_number(step.value));
  }
  return text;
}

/// η counts only where the multiplier's step is not searched for in every step.
Point steps_of(const ConfiguredSolver &solver, const std::vector<std::string> &given) {
  constexpr std::array<std::pair<std::string_view, double>, 3> usual{{{"alpha", 0.1}, {"beta", 0.2}, {"eta", 1.0}}};
  const auto options = solver.options();
  const bool searches_eta = std::any_of(options.begin(), options.end(), [](const catalog::OptionInfo &info) {
    return info.name == "dual" && info.value != "constant";
  });
  Point point;
  for (const auto &[name, otherwise] : usual) {
    for (const auto &info : options) {
      double value = 0.0;
      const bool is_given = solver.is_pinned(info.name) || std::find(given.begin(), given.end(), name) != given.end();
      if (info.name == name && !is_given && !(name == "eta" && searches_eta) &&
          catalog::read_field(info.value, value)) {
        point.push_back({std::string(name), value > 0.0 ? value : otherwise});
      }
    }
  }
  return point;
}

class Search {
public:
  Search(const RunRequest &request, const ConfiguredSolver &solver, double budget)
      : request_(&request), solver_(&solver), left_(budget), longest_(budget / 20.0) {
    found_.steps = "as given";
    found_.solver = copy_of(solver);
  }

  FoundSteps run(const Point &start) {
    try_solver(copy_of(*solver_), "as given");
    if (start.empty()) {
      return std::move(found_);
    }
    decades(start);
    for (const double factor : {3.0, 1.5}) {
      refine(factor, start);
    }
    return std::move(found_);
  }

private:
  /// The first steps over two decades to either side, every one beside every other.
  void decades(const Point &start) {
    constexpr std::array<double, 5> factors{1.0, 0.1, 10.0, 0.01, 100.0};
    for (const double first : factors) {
      for (const double second : factors) {
        Point point = start;
        point[0].value *= first;
        if (point.size() > 1) {
          point[1].value *= second;
        } else if (second != 1.0) {
          continue;
        }
        try_point(point);
      }
    }
  }

  void refine(double factor, const Point &start) {
    for (bool improved = true; improved && !spent();) {
      improved = false;
      for (std::size_t i = 0; i < start.size(); ++i) {
        for (const double change : {factor, 1.0 / factor}) {
          Point point = best_ ? *best_ : start;
          point[i].value *= change;
          improved = try_point(point) || improved;
        }
      }
    }
  }

  bool try_point(const Point &point) {
    if (!try_solver(with_steps(*solver_, point), text_of(point))) {
      return false;
    }
    best_ = point;
    return true;
  }

  [[nodiscard]] bool spent() const {
    return left_ <= 0.0 || (request_->options.interrupt != nullptr && request_->options.interrupt->load());
  }

  /// Whether it is the best so far.
  bool try_solver(std::unique_ptr<ConfiguredSolver> solver, const std::string &steps) {
    if (spent()) {
      return false;
    }
    RunRequest request = *request_;
    request.options.max_seconds = std::min({left_, longest_, found_.arrived ? found_.best : infinity});
    Series series;
    try {
      series = run_series_or_fail(request, *solver);
    } catch (const InvalidInput &) { // an option of the solver that goes with its own steps alone
      if (found_.trials == 0) {
        throw;
      }
      return false;
    }
    left_ -= series.summary.seconds;
    found_.seconds += series.summary.seconds;
    const bool is_first = found_.trials++ == 0;
    const bool arrived = series.summary.converged();
    const double metric = series.final_metric(request.metrics.back());
    const double score = arrived                                             ? series.summary.seconds
                         : series.summary.failed() || !std::isfinite(metric) ? infinity
                                                                             : metric;
    const bool better = is_first || (arrived != found_.arrived ? arrived : score < found_.best);
    if (better) {
      found_.solver = std::move(solver);
      found_.steps = steps;
      found_.arrived = arrived;
      found_.best = score;
    }
    return better;
  }

  const RunRequest *request_;
  const ConfiguredSolver *solver_;
  double left_;
  double longest_;
  std::optional<Point> best_;
  FoundSteps found_;
};

} // namespace

FoundSteps search_steps(const RunRequest &request, const ConfiguredSolver &solver,
                        const std::vector<std::string> &given, double budget) {
  return Search(request, solver, budget).run(steps_of(solver, given));
}

} // namespace duplex::experiment
