#include "experiment/experiment.hpp"

#include "experiment/trace_file.hpp"
#include "report/json_file.hpp"

#include <duplex/measure/exact.hpp>
#include <duplex/run/kept_direction.hpp>
#include <duplex/run/metrics.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::experiment {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Json counters_json(const Counters &counters) {
  return {{"values", counters.values},
          {"gradients", counters.gradients},
          {"hessian_products", counters.hessian_products},
          {"cross_products", counters.cross_products}};
}

Json series_json(const Series &series) {
  Json json{{"name", series.name},
            {"solver", series.solver},
            {"iterations", series.summary.iterations},
            {"seconds", series.summary.seconds},
            {"status", series.status()},
            {"message", series.summary.message},
            {"explanation", series.summary.explanation},
            {"recoveries", series.summary.recoveries},
            {"evaluations", counters_json(series.summary.counters)}};
  Json metrics = Json::object();
  if (!series.summary.failed()) {
    metrics["direction"] = json_number(series.summary.direction_norm);
  }
  for (const auto &[name, value] : series.summary.metrics) {
    metrics[name] = json_number(value);
  }
  for (const auto &[name, value] : series.extra) {
    metrics[name] = json_number(value);
  }
  json["metrics"] = std::move(metrics);
  if (!series.certificate.is_null()) {
    json["certificate"] = series.certificate;
  }
  return json;
}

std::string csv_field(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos) {
    return text;
  }
  std::string quoted(1, '"');
  for (const char c : text) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  quoted += '"';
  return quoted;
}

std::string csv_number(double value) { return std::isfinite(value) ? number_text(value) : std::string(); }

/// Keeps the rows of a run, and writes them to a file where there is one.
class KeptTrace final : public Observer<Vector> {
public:
  explicit KeptTrace(const RunRequest &request) : request_(&request) {}

  void observe(const Progress<Vector> &progress) override {
    if (!trace_.rows().empty() && is_passing(trace_.rows().back())) {
      trace_.drop_last();
    }
    if (file_) {
      file_->begin(trace_.rows());
    }
    trace_.observe(progress);
    if (file_) {
      file_->add(trace_.rows().back());
    }
    note(trace_.rows().back());
  }
  /// With the rows of before where the run goes on.
  void begin(const SavedState *from) {
    report::Fingerprint in_file;
    if (from != nullptr) {
      trace_.restore(from->get<SavedState::Doubles>("trace"), request_->metrics.size());
      for (const auto &row : trace_.rows()) {
        note(row);
      }
      in_file = place_in_file(*from);
    }
    if (!request_->trace_file.empty()) {
      file_.emplace(request_->trace_file, request_->metrics, in_file);
    }
  }
  void finish() {
    if (file_) {
      file_->finish(trace_.rows());
    }
  }
  [[nodiscard]] const Trace<Vector> &trace() const { return trace_; }
  [[nodiscard]] std::string failure() const { return file_ ? file_->failure() : std::string(); }
  void save(SavedState &into) const {
    into.put("trace", trace_.numbers());
    if (const auto place = file_ ? file_->place() : report::Fingerprint(); !place.hash.empty()) {
      into.put(bytes_entry, SavedState::Integers{static_cast<std::int64_t>(place.bytes)});
      into.put(hash_entry, place.hash);
    }
  }

private:
  /// An extra row does not move what is kept: a run that goes on keeps what one that was not interrupted would have.
  void note(const TraceRow &row) {
    if (!row.extra) {
      last_is_kept_ = row.iteration >= next_;
      next_ = last_is_kept_ ? request_->kept.after(row.iteration) : next_;
    }
  }

  static constexpr const char *bytes_entry = "trace file bytes";
  static constexpr const char *hash_entry = "trace file hash";

  [[nodiscard]] static report::Fingerprint place_in_file(const SavedState &from) {
    if (!from.has(bytes_entry) || !from.has(hash_entry)) {
      return {};
    }
    return {static_cast<std::uint64_t>(
                saved_integer<std::int64_t>(from.first<SavedState::Integers>(bytes_entry), bytes_entry)),
            from.get<std::string>(hash_entry)};
  }

  const RunRequest *request_;
  Trace<Vector> trace_;
  std::optional<TraceFile> file_;
  /// A row that stays only if it is the last of all: of the end of a run that has gone on, or not to be kept.
  [[nodiscard]] bool is_passing(const TraceRow &row) const { return row.extra || !last_is_kept_; }

  std::int64_t next_ = 1;
  bool last_is_kept_ = true;
};

} // namespace

double Series::final_metric(std::string_view metric) const {
  for (const auto *list : {&summary.metrics, &extra}) {
    for (const auto &[metric_name, value] : *list) {
      if (metric_name == metric) {
        return value;
      }
    }
  }
  return not_a_number;
}

report::Curve Series::curve(std::string_view metric, bool over_seconds) const {
  report::Curve curve{.label = name, .x = {}, .y = {}};
  const auto found = std::find(metric_names.begin(), metric_names.end(), metric);
  for (const auto &row : rows) {
    curve.x.push_back(over_seconds ? row.seconds : static_cast<double>(row.iteration));
    curve.y.push_back(found == metric_names.end()
                          ? row.direction_norm
                          : row.metrics[static_cast<std::size_t>(found - metric_names.begin())]);
  }
  return curve;
}

bool Experiment::holds() const {
  return std::all_of(claims.begin(), claims.end(), [](const Claim &claim) { return claim.holds; });
}

Series run_series(const RunRequest &request) { return run_series(request, *catalog::make_solver(request.solver)); }

Series run_series(const RunRequest &request, const catalog::ConfiguredSolver &solver) {
  Series series{.name = request.name.empty() ? request.solver : request.name,
                .solver = request.solver,
                .summary = {},
                .state = request.start ? *request.start : request.problem.start(),
                .metric_names = request.metrics,
                .rows = {},
                .extra = {}};
  Counters ignored;
  WorkLimit limit(request.options.interrupt, request.options.max_wall_seconds); // for measuring, which may take long
  const Problem limited(Counted<Problem>(request.problem, ignored, &limit));
  const MetricBook<Problem> book(limited);
  KeptTrace trace(request);
  Monitor<Vector> monitor;
  monitor.cadence = request.cadence;
  monitor.target = request.target;
  monitor.hold_out = request.hold_out;
  monitor.stop_when = request.stop_when;
  for (const auto &metric : request.metrics) {
    monitor.metrics.push_back(book.metric(metric));
  }
  if (!request.metrics.empty() || !request.trace_file.empty()) {
    monitor.observers.push_back(&trace);
  }
  if (request.observer != nullptr) {
    monitor.observers.push_back(request.observer);
  }
  KeptDirection<Vector> direction(solver.traits().penalizes, request.in_batches != nullptr);
  if (request.keeps_direction) {
    monitor.observers.push_back(&direction);
  }
  Options options = request.options;
  Saving saving;
  if (request.saving) {
    saving = *request.saving;
    saving.add = [&](SavedState &state) { trace.save(state); };
    options.saving = &saving;
  }
  trace.begin(saving.from);
  series.summary = request.in_batches != nullptr ? solver.run(*request.in_batches, series.state, options, monitor)
                                                 : solver.run(request.problem, series.state, options, monitor);
  trace.finish();
  series.rows = trace.trace().rows();
  series.last_direction = direction.last();
  series.trace_failure = trace.failure();
  return series;
}

Series run_series_or_fail(const RunRequest &request, const catalog::ConfiguredSolver &solver) {
  try {
    return run_series(request, solver);
  } catch (const NotAvailable &reason) {
    Series series;
    series.name = request.name;
    series.solver = request.solver;
    series.state = request.problem.start();
    series.metric_names = request.metrics;
    series.summary.solver = solver.name();
    series.summary.termination = Termination::step_failed;
    series.summary.message = reason.what();
    return series;
  }
}

void measure_truth(const Problem &problem, const std::optional<Answer<Vector>> &answer, Series &series) {
  if (series.summary.failed()) {
    return;
  }
  if (answer) {
    Vector scratch;
    series.extra.emplace_back("true-x-error", relative_x_error(series.state.x, *answer, scratch));
  }
  try {
    ExactSolver<Problem> exact(problem);
    const auto &point = exact.at(series.state.x, series.state.y);
    Vector scratch;
    series.extra.emplace_back("true-hypergradient",
                              box_of(problem).free_norm(series.state.x, point.hypergradient, scratch));
    if (answer) {
      series.extra.emplace_back("true-phi-gap", relative_phi_gap(point.value, *answer));
    }
  } catch (const NotAvailable &) { // the lower level has many minimizers: only x can be judged
  }
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const Experiment &experiment) {
  Json json{{"experiment", experiment.name}, {"title", experiment.title}, {"options", experiment.options},
            {"seed", experiment.seed},       {"version", version},        {"interrupted", experiment.interrupted},
            {"series", Json::array()},       {"claims", Json::array()}};
  for (const auto &series : experiment.series) {
    json["series"].push_back(series_json(series));
  }
  for (const auto &claim : experiment.claims) {
    json["claims"].push_back({{"id", claim.id},
                              {"text", claim.text},
                              {"paper", claim.paper},
                              {"measured", claim.measured},
                              {"holds", claim.holds}});
  }
  return json;
}

std::string to_csv(const Experiment &experiment) {
  std::vector<std::string> metrics;
  for (const auto &series : experiment.series) {
    for (const auto &metric : series.metric_names) {
      if (metric != "direction" && std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
        metrics.push_back(metric);
      }
    }
  }
  std::string csv = "series,iteration,seconds,direction";
  for (const auto &metric : metrics) {
    csv += ',';
    csv += csv_field(metric);
  }
  csv += "\n";
  for (const auto &series : experiment.series) {
    const std::string name = csv_field(series.name);
    for (const auto &row : series.rows) {
      csv += fmt::format("{},{},{},{}", name, row.iteration, csv_number(row.seconds), csv_number(row.direction_norm));
      for (const auto &metric : metrics) {
        const auto found = std::find(series.metric_names.begin(), series.metric_names.end(), metric);
        csv += ',';
        if (found != series.metric_names.end()) {
          csv += csv_number(row.metrics[static_cast<std::size_t>(found - series.metric_names.begin())]);
        }
      }
      csv += "\n";
    }
  }
  return csv;
}

void print(const Experiment &experiment) {
  fmt::print("{}: {}\n\n", experiment.name, experiment.title);
  for (const auto &table : experiment.tables) {
    fmt::print("{}\n", table);
  }
  if (experiment.claims.empty()) {
    return;
  }
  fmt::print("claims\n");
  for (const auto &claim : experiment.claims) {
    const std::string reference = claim.paper.empty() ? "" : fmt::format("{}: {}; ", experiment.reference, claim.paper);
    fmt::print("  {} {}: {}\n        {}measured: {}\n", claim.holds ? "holds" : "FAILS", claim.id, claim.text,
               reference, claim.measured);
  }
  const auto held =
      std::count_if(experiment.claims.begin(), experiment.claims.end(), [](const Claim &claim) { return claim.holds; });
  fmt::print("{} of {} claims hold\n", held, experiment.claims.size());
}

std::vector<report::NamedContent> files_of(const Experiment &experiment) {
  return {{experiment.name + ".json", report::json_text(to_json(experiment), 2) + "\n"},
          {experiment.name + ".csv", to_csv(experiment)},
          {experiment.name + ".svg", report::to_svg(experiment.figure)}};
}

} // namespace duplex::experiment
