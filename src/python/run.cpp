#include "python/run.hpp"

#include "checkpoint/run_folder.hpp"
#include "experiment/experiment.hpp"
#include "experiment/step_search.hpp"
#include "python/interrupt.hpp"
#include "python/results.hpp"
#include "python/source.hpp"
#include "python/told.hpp"

#include <duplex/core/conversion.hpp>
#include <duplex/run/metrics.hpp>

#include <omp.h>
#include <pybind11/stl.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace duplex::python {

namespace {

using experiment::Series;

constexpr const char *told_method = "told method";
constexpr const char *told_metrics = "told metrics";
constexpr const char *command = "minimize";

/// Tells a function of the user's what was measured; a true answer ends the run.
bool ask(const py::object &callback, const std::vector<std::string> &metrics, const Progress<Vector> &progress,
         Failure &failure) {
  failure.require_none();
  const py::gil_scoped_acquire lock;
  try {
    py::dict seen;
    seen["iteration"] = progress.iteration;
    seen["seconds"] = progress.seconds;
    seen["direction_norm"] = progress.direction_norm;
    seen["x"] = array_of(progress.state.x);
    seen["y"] = array_of(progress.state.y);
    seen["v"] = array_of(progress.state.v);
    py::dict values;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      values[py::str(metrics[i])] = progress.metrics[i];
    }
    seen["metrics"] = values;
    return PyObject_IsTrue(callback(seen).ptr()) == 1;
  } catch (py::error_already_set &error) {
    if (error.matches(PyExc_StopIteration)) {
      return true;
    }
    error.restore();
    failure.leave();
  }
}

/// While it lives, kernels that this thread calls take so many threads; 0 leaves it to them.
class ThreadCount {
public:
  explicit ThreadCount(std::int64_t count) : before_(omp_get_max_threads()) {
    constexpr double most = 1024;
    (void)number_within(static_cast<double>(count), Bound{.low = 0, .high = most}, "threads");
    if (count > 0) {
      omp_set_num_threads(static_cast<int>(count));
    }
  }
  ThreadCount(const ThreadCount &) = delete;
  ThreadCount &operator=(const ThreadCount &) = delete;
  ~ThreadCount() { omp_set_num_threads(before_); }

private:
  int before_;
};

/// The metrics that were asked for; the norm of d is known of every step anyway.
std::vector<std::string> metrics_of(const py::dict &request) {
  auto metrics = request["metrics"].cast<std::vector<std::string>>();
  const std::vector<std::string> known(metric_names.begin(), metric_names.end());
  const auto require = [&](const std::string &name) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InvalidInput(names::unknown_name("metric", name, known));
    }
  };
  for (const auto &name : metrics) {
    require(name);
  }
  if (const py::object target = request["target"]; !target.is_none()) {
    const auto name = target.cast<std::pair<std::string, double>>().first;
    require(name);
    if (std::find(metrics.begin(), metrics.end(), name) == metrics.end()) {
      metrics.push_back(name);
    }
  }
  if (metrics.empty()) {
    metrics.emplace_back("direction");
  }
  return metrics;
}

State<Vector> start_of(const py::dict &request, const catalog::Problem &problem) {
  State<Vector> start;
  const auto given = [&](const char *name) { return !py::object(request[name]).is_none(); };
  if (given("x0") && given("y0")) {
    start = {vector_of(request["x0"], "x0"), vector_of(request["y0"], "y0"), {}};
  } else {
    start = problem.start();
    if (given("x0")) {
      start.x = vector_of(request["x0"], "x0");
    }
    if (given("y0")) {
      start.y = vector_of(request["y0"], "y0");
      start.v = Vector::Zero(start.y.size());
    }
  }
  if (given("v0")) {
    start.v = vector_of(request["v0"], "v0");
  }
  return start;
}

checkpoint::RunState state_of(const Summary &summary) {
  using checkpoint::RunState;
  return summary.failed()                                  ? RunState::failed
         : summary.termination == Termination::interrupted ? RunState::interrupted
                                                           : RunState::finished;
}

/// Writes what a run leaves in its folder, as the tool does.
void write_results(checkpoint::RunFolder &folder, const Series &series, const std::string &title) {
  experiment::Experiment result{.name = command, .title = title, .series = {series}};
  result.interrupted = series.summary.termination == Termination::interrupted;
  result.figure.title = title;
  for (const auto &metric : series.metric_names) {
    result.figure.panels.push_back(
        {.title = metric, .x_label = "iteration", .y_label = metric, .curves = {series.curve(metric)}});
  }
  folder.write(files_of(result));
  folder.end(state_of(series.summary));
}

/// One run, from what Python has asked for.
class Minimization {
public:
  Minimization(const std::shared_ptr<ProblemSource> &source, const py::dict &request)
      : request_(request), failure_(std::make_shared<Failure>()),
        messages_(std::make_shared<std::vector<std::string>>()) {
    open_folder();
    auto spec = request["method"].is_none() ? std::string("automatic") : request["method"].cast<std::string>();
    if (saved_) {
      spec = method_to_go_on(spec);
    }
    solver_ = catalog::make_solver(spec);
    if (request["usual_steps"].cast<bool>()) {
      (void)experiment::give_missing_steps(*solver_);
    }
    options_ = catalog::run_of_the_tool();
    set_options(request["options"].cast<py::dict>(), *solver_, options_,
                request["own_names"].cast<std::vector<std::string>>());
    options_.max_wall_seconds = options_.max_seconds;
    options_.interrupt = &failure_->asked_to_end();
    options_.functions_may_leave = source->calls_python();
    const auto batch = request["batch"].cast<Index>();
    if (batch > 0) {
      in_batches_.emplace(source->bind_in_batches(batch));
      options_.seed = request["seed"].is_none() ? source->seed() : request["seed"].cast<std::uint64_t>();
    }
    problem_.emplace(in_batches_ ? in_batches_->whole() : source->bind(failure_));
    metrics_ = saved_ ? metrics_to_go_on() : metrics_of(request);
  }

  [[nodiscard]] py::dict run() {
    const ThreadCount threads(request_["threads"].cast<std::int64_t>());
    experiment::RunRequest request = prepared();
    if (folder_ && !saved_) {
      folder_->begin(command, {spec()});
    } else if (folder_) {
      folder_->go_on();
    }
    std::optional<Series> series;
    {
      const HearsInterrupt hears(failure_->asked_to_end(), request_["is_main"].cast<bool>());
      if (PyErr_CheckSignals() != 0) { // of a moment ago, when nobody heard it
        failure_->keep();
      }
      try {
        const py::gil_scoped_release others_may_run;
        series = in_folder([&] {
          auto done = experiment::run_series(request, *solver_);
          done.solver = spec();
          if (request_measures_truth_ && !failure_->exists()) {
            experiment::measure_truth(*problem_, problem_->answer(), done);
          }
          if (folder_) {
            write_results(*folder_, done, fmt::format("{} from Python", solver_->name()));
          }
          return done;
        });
      } catch (const Cancelled &) { // before the first step: there is nothing to show
      }
    }
    if (!failure_->exists() && PyErr_CheckSignals() != 0) { // Ctrl-C, of which the interpreter was not asked until now
      failure_->keep();
    }
    py::dict out;
    out["error"] = failure_->value();
    out["result"] = series ? py::object(series_dict(*series)) : py::none();
    out["fun"] =
        series && !failure_->exists() && !series->summary.failed() ? py::cast(upper_value(series->state)) : py::none();
    out["messages"] = *messages_;
    return out;
  }

private:
  void open_folder() {
    const py::object out = request_["out"];
    const py::object resume = request_["resume"];
    const auto tell = [messages = messages_](const std::string &text) { messages->push_back(text); };
    if (!resume.is_none()) {
      folder_.emplace(resume.cast<std::string>(), checkpoint::RunFolder::Opening::existing, tell);
      folder_->find(command);
      saved_ = folder_->load();
    } else if (!out.is_none()) {
      folder_.emplace(out.cast<std::string>(), checkpoint::RunFolder::Opening::make, tell);
    }
  }

  /// The method that the run was told, where it goes on. Throws InvalidInput where another one is asked for.
  [[nodiscard]] std::string method_to_go_on(const std::string &asked) const {
    const auto &told = saved_->get<std::string>(told_method);
    if (!request_["method"].is_none() && names::parse_spec(asked).name != names::parse_spec(told).name) {
      throw InvalidInput(fmt::format("method: the run that goes on is one of {}, expected that or none", told));
    }
    return names::parse_spec(told).name + text_of(names::parse_spec(told).settings);
  }
  [[nodiscard]] static std::string text_of(const names::OptionValues &settings) {
    std::string text;
    for (const auto &[name, value] : settings) {
      text += ":" + name + "=" + value;
    }
    return text;
  }
  [[nodiscard]] std::vector<std::string> metrics_to_go_on() const {
    std::vector<std::string> metrics;
    const auto &text = saved_->get<std::string>(told_metrics);
    for (std::size_t begin = 0; begin < text.size();) {
      const auto end = std::min(text.find(',', begin), text.size());
      metrics.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return metrics;
  }

  [[nodiscard]] std::string spec() const { return catalog::spec_text(solver_->name(), solver_->options()); }

  [[nodiscard]] experiment::RunRequest prepared() {
    constexpr double growth = 0.01;
    experiment::RunRequest request{.problem = *problem_,
                                   .solver = spec(),
                                   .name = std::string(solver_->name()),
                                   .options = options_,
                                   .metrics = metrics_,
                                   .cadence = {.every = request_["every"].cast<std::int64_t>(), .growth = growth},
                                   .kept = {.growth = growth},
                                   .start = start_of(request_, *problem_),
                                   .in_batches = in_batches_ ? &*in_batches_ : nullptr};
    if (request.cadence.every < 1) {
      throw InvalidInput(fmt::format("every = {}, expected a whole number >= 1", request.cadence.every));
    }
    if (const py::object target = request_["target"]; !target.is_none()) {
      const auto [metric, value] = target.cast<std::pair<std::string, double>>();
      request.target = Target{metric, value};
    }
    if (const auto patience = request_["held_out_patience"].cast<std::int64_t>(); patience > 0) {
      request.hold_out = HoldOut{.patience = patience};
      if (std::find(request.metrics.begin(), request.metrics.end(), request.hold_out->metric) ==
          request.metrics.end()) {
        request.metrics.push_back(request.hold_out->metric);
      }
    }
    if (const py::object callback = request_["callback"]; !callback.is_none()) {
      request.stop_when = [callback = held_without_lock(py::object(callback)), metrics = request.metrics,
                           failure = failure_](const Progress<Vector> &progress) {
        return ask(*callback, metrics, progress, *failure);
      };
    }
    if (request.target || request.hold_out || request.stop_when || options_.measures_kkt()) {
      request.cadence.growth = 0.0;
    }
    if (folder_) {
      request.saving = Saving{.save =
                                  [this, metrics = request.metrics](const SavedState &state) {
                                    SavedState told = state;
                                    told.put(told_method, spec());
                                    told.put(told_metrics, fmt::format("{}", fmt::join(metrics, ",")));
                                    folder_->save(std::move(told));
                                  },
                              .every_seconds = request_["save_every"].cast<double>(),
                              .from = saved_ ? &*saved_ : nullptr};
    }
    request_measures_truth_ = request_["truth"].cast<bool>();
    return request;
  }

  template <class Work> Series in_folder(const Work &work) { return folder_ ? folder_->run(work) : work(); }

  [[nodiscard]] double upper_value(const State<Vector> &state) {
    return without_lock(*failure_, [&] {
      auto upper = problem_->upper();
      upper.at(state.x, state.y);
      return upper.value();
    });
  }

  const py::dict &request_;
  std::shared_ptr<Failure> failure_;
  std::shared_ptr<std::vector<std::string>> messages_;
  std::optional<checkpoint::RunFolder> folder_;
  std::optional<SavedState> saved_;
  std::unique_ptr<catalog::ConfiguredSolver> solver_;
  Options options_;
  std::optional<catalog::SampledProblem> in_batches_;
  std::optional<catalog::Problem> problem_;
  std::vector<std::string> metrics_;
  bool request_measures_truth_ = false;
};

py::dict check_problem(const std::shared_ptr<ProblemSource> &source, const py::dict &request) {
  const auto failure = std::make_shared<Failure>();
  const auto problem = source->bind(failure);
  const auto start = start_of(request, problem);
  const CheckOptions options{.seed = request["seed"].cast<std::uint64_t>(),
                             .points = request["points"].cast<int>(),
                             .spread = request["spread"].cast<double>(),
                             .tolerance = request["tolerance"].cast<double>()};
  const auto report = without_lock(*failure, [&] { return source->check(failure, start, options); });
  return report_dict(report);
}

} // namespace

void add_runs(py::module_ &module) {
  module.def("minimize", [](const std::shared_ptr<ProblemSource> &source, const py::dict &request) {
    return Minimization(source, request).run();
  });
  module.def("check", &check_problem);
  module.def("methods", &described_methods);
  module.def("problems", &described_problems);
  module.def("run_options", &described_run);
  module.def("options_of_method", &options_of_method);
  module.def("chooses_its_steps", [](const std::string &spec) {
    const auto solver = catalog::make_solver(spec);
    (void)experiment::give_missing_steps(*solver);
    return solver->traits().chooses_its_steps();
  });
  module.def("unknown_name", &names::unknown_name);
  module.attr("metrics") = py::cast(std::vector<std::string>(metric_names.begin(), metric_names.end()));
  py::list members;
  for (const char *name : member_names) {
    members.append(name);
  }
  module.attr("members") = py::tuple(members);
}

} // namespace duplex::python
