#include "experiment/step_search.hpp"

#include <duplex/core/clock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
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

/// η counts only where no line search finds the multiplier's step.
Point steps_of(const ConfiguredSolver &solver, const std::vector<std::string> &given) {
  const auto options = solver.options();
  const bool searches = std::any_of(options.begin(), options.end(),
                                    [](const catalog::OptionInfo &info) { return info.role == Role::multiplier_cap; });
  Point point;
  for (const auto &[role, otherwise] : usual_steps) {
    for (const auto &info : options) {
      double value = 0.0;
      const bool is_given =
          solver.is_pinned(info.name) || std::find(given.begin(), given.end(), info.name) != given.end();
      if (info.role == role && !is_given && !(role == Role::multiplier_step && searches) &&
          catalog::read_field(info.value, value)) {
        point.push_back({info.name, value > 0.0 ? value : otherwise});
      }
    }
  }
  return point;
}

/// How good a trial was.
struct Score {
  std::int64_t arrived = 0;
  double value = infinity; ///< seconds where all arrived, otherwise the largest metric

  [[nodiscard]] bool better_than(const Score &other) const {
    return arrived != other.arrived ? arrived > other.arrived : value < other.value;
  }
};

class Search {
public:
  Search(std::span<const RunRequest> requests, const ConfiguredSolver &solver, double budget)
      : requests_(requests), solver_(&solver), left_(budget),
        longest_(budget / (40.0 * static_cast<double>(requests.size()))), most_wall_(3.0 * budget) {
    wall_.start();
    found_.steps = solver.traits().chooses_its_steps() ? "its own" : "as given";
    found_.solver = copy_of(solver);
  }

  FoundSteps run(const Point &start) {
    (void)score_of(with_steps(*solver_, start), start.empty() ? found_.steps : text_of(start));
    if (!start.empty()) {
      decades(start);
      for (const double factor : {3.0, 1.5}) {
        refine(factor);
      }
    }
    return std::move(found_);
  }

private:
  /// The first steps over two decades to either side, every one beside every other.
  void decades(const Point &start) {
    constexpr std::array<double, 5> factors{1.0, 0.1, 10.0, 0.01, 100.0};
    best_point_ = start;
    for (const double first : factors) {
      for (const double second : factors) {
        Point point = start;
        point[0].value *= first;
        if (point.size() > 1) {
          point[1].value *= second;
        } else if (second != 1.0) {
          continue;
        }
        (void)improves(point);
      }
    }
  }

  void refine(double factor) {
    for (bool improved = true; improved && !spent();) {
      improved = false;
      for (std::size_t i = 0; i < best_point_.size(); ++i) {
        for (const double change : {factor, 1.0 / factor}) {
          Point point = best_point_;
          point[i].value *= change;
          improved = improves(point) || improved;
        }
      }
    }
  }

  bool improves(const Point &point) {
    const Score score = score_of(with_steps(*solver_, point), text_of(point));
    if (!score.better_than(best_score_)) {
      return false;
    }
    best_score_ = score;
    best_point_ = point;
    return true;
  }

  [[nodiscard]] bool spent() const {
    const auto *interrupt = requests_.front().options.interrupt;
    return left_ <= 0.0 || wall_.seconds_while_running() > most_wall_ || (interrupt != nullptr && interrupt->load());
  }

  [[nodiscard]] bool all_arrived() const { return found_.arrived == std::ssize(requests_); }

  Score score_of(std::unique_ptr<ConfiguredSolver> solver, const std::string &steps) {
    Score score;
    if (spent()) {
      return score;
    }
    const bool is_first = found_.trials == 0;
    double seconds = 0.0;
    double largest = 0.0;
    std::size_t done = 0;
    for (RunRequest request : requests_) {
      const double enough = all_arrived() ? found_.best : infinity;
      request.options.max_seconds = std::min({left_, longest_, std::max(1e-9, enough - seconds)});
      request.cadence.patience = std::min(request.cadence.patience, longest_);
      const Series series = run_series_or_fail(request, *solver);
      seconds += series.summary.seconds;
      left_ -= series.summary.seconds;
      const double metric = series.final_metric(request.metrics.back());
      score.arrived += series.summary.converged() ? 1 : 0;
      largest = series.summary.failed() || !std::isfinite(metric) ? infinity : std::max(largest, metric);
      ++done;
      if (spent() || (all_arrived() && !series.summary.converged())) { // it cannot become the best
        break;
      }
    }
    ++found_.trials;
    found_.seconds += seconds;
    if (done < requests_.size() && !is_first) { // it cannot be compared, or cannot be the best
      return {};
    }
    score.value = score.arrived == std::ssize(requests_) ? seconds : largest;
    if (is_first || score.better_than({found_.arrived, found_.best})) {
      found_.solver = std::move(solver);
      found_.steps = steps;
      found_.arrived = score.arrived;
      found_.best = score.value;
    }
    return score;
  }

  std::span<const RunRequest> requests_;
  const ConfiguredSolver *solver_;
  double left_;
  double longest_;   ///< of a run
  double most_wall_; ///< of all, with what is measured
  Stopwatch wall_;
  Point best_point_;
  Score best_score_;
  FoundSteps found_;
};

} // namespace

std::string give_missing_steps(ConfiguredSolver &solver) {
  std::string text;
  for (const auto &[role, usual] : usual_steps) {
    for (const auto &info : solver.options()) {
      if (info.role == role && info.value == "0") {
        solver.set(info.name, number_text(usual));
        text += ":" + info.name + "=" + number_text(usual);
      }
    }
  }
  return text;
}

FoundSteps search_steps(std::span<const RunRequest> requests, const ConfiguredSolver &solver,
                        const std::vector<std::string> &given, double budget) {
  return Search(requests, solver, budget).run(steps_of(solver, given));
}

} // namespace duplex::experiment
