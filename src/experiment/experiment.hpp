#pragma once
// An experiment: runs, what they showed, and what was claimed. It is printed for
// people and written as JSON, CSV and SVG for everything else.

#include "catalog/catalog.hpp"
#include "report/figure.hpp"
#include "report/files.hpp"

#include <duplex/core/saving.hpp>
#include <duplex/measure/last_direction.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace duplex::experiment {

using catalog::Problem;
using catalog::Vector;
using Json = nlohmann::ordered_json;

/// One run with its trace.
struct Series {
  std::string name;
  std::string solver; ///< as a spec: name:option=value:...
  Summary summary;
  State<Vector> state; ///< where it ended
  std::vector<std::string> metric_names;
  std::vector<TraceRow> rows;
  std::vector<std::pair<std::string, double>> extra;        ///< further final numbers, such as a closed form
  Json certificate = {};                                    ///< where one was asked for
  std::optional<LastDirection<Vector>> last_direction = {}; ///< where it was asked for
  std::string trace_failure = {};                           ///< why the trace in a file is not complete; empty: it is

  [[nodiscard]] double final_metric(std::string_view metric) const;
  /// The metric over iterations (or over seconds) as a curve.
  [[nodiscard]] report::Curve curve(std::string_view metric, bool over_seconds = false) const;
  /// "diverged" or whatever ended it; never a number that is not one.
  [[nodiscard]] std::string status() const { return std::string(name_of(summary.termination)); }
};

/// A statement that the numbers bear out or not.
struct Claim {
  std::string id;
  std::string text;
  std::string paper; ///< what the paper, or a closed form, says
  std::string measured;
  bool holds = false;
};

struct Experiment {
  std::string name;
  std::string title;
  Json options = Json::object();
  std::uint64_t seed = 0;
  std::vector<Series> series = {};
  std::vector<Claim> claims = {};
  report::Figure figure = {};
  std::vector<std::string> tables = {}; ///< as text, printed in order
  std::string_view reference = "paper"; ///< what its claims are held against
  bool interrupted = false;

  [[nodiscard]] bool holds() const;
  void claim(std::string id, std::string text, std::string paper, std::string measured, bool holds_now) {
    claims.push_back({std::move(id), std::move(text), std::move(paper), std::move(measured), holds_now});
  }
};

struct RunRequest {
  const Problem &problem;
  std::string solver; ///< spec
  std::string name;   ///< of the series
  Options options = {};
  std::vector<std::string> metrics = {};
  std::optional<Target> target = {};
  std::optional<HoldOut> hold_out = {};
  Cadence cadence = {};
  Cadence kept = {};                       ///< of the looks, those whose rows stay in the series
  std::optional<State<Vector>> start = {}; ///< the problem's own unless given
  Observer<Vector> *observer = nullptr;
  const catalog::SampledProblem *in_batches = nullptr; ///< on whose batches steps are done; null: on the whole
  bool keeps_direction = false;                        ///< of the last step, for a certificate
  std::optional<Saving> saving = {};                   ///< with the trace
  std::filesystem::path trace_file = {};               ///< empty: none
  std::function<bool(const Progress<Vector> &)> stop_when = {};
};

/// Runs one solver and keeps its trace.
[[nodiscard]] Series run_series(const RunRequest &request);
[[nodiscard]] Series run_series(const RunRequest &request, const catalog::ConfiguredSolver &solver);

/// The same; where a metric is not defined at a point that the run comes to, a run that failed.
[[nodiscard]] Series run_series_or_fail(const RunRequest &request, const catalog::ConfiguredSolver &solver);

/// The truth at where a run ended, as extra numbers of it: ‖∇φ(x)‖ and, where the answer is known, the errors of x and
/// of φ, all with y*(x) solved anew.
void measure_truth(const Problem &problem, const std::optional<Answer<Vector>> &answer, Series &series);

[[nodiscard]] Json to_json(const Experiment &experiment);
/// Tidy: series, iteration, seconds, direction, then one column per metric.
[[nodiscard]] std::string to_csv(const Experiment &experiment);

/// Tables, then the claims.
void print(const Experiment &experiment);

/// NAME.json, .csv and .svg.
[[nodiscard]] std::vector<report::NamedContent> files_of(const Experiment &experiment);

/// A number for a JSON file: null where it is not finite.
[[nodiscard]] Json json_number(double value);

} // namespace duplex::experiment
