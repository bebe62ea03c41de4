#include "experiment/trace_file.hpp"

#include "experiment/experiment.hpp"

#include <duplex/error.hpp>
#include <duplex/fields.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace duplex::experiment {

void require_trace_name(const std::filesystem::path &path) {
  if (path.extension() != ".jsonl" && path.extension() != ".csv") {
    throw InvalidInput(fmt::format("--trace {}: expected a name that ends in .jsonl or .csv", path.string()));
  }
}

TraceFile::TraceFile(const std::filesystem::path &path, std::vector<std::string> metrics, std::vector<TraceRow> before)
    : path_(path), before_(std::move(before)),
      as_json_(path.extension() == ".jsonl"), names_{"iteration", "seconds", "direction", "alpha",
                                                     "beta",      "eta",     "mu"} {
  require_trace_name(path);
  names_.insert(names_.end(), std::make_move_iterator(metrics.begin()), std::make_move_iterator(metrics.end()));
  if (!std::ofstream(path, std::ios::app)) { // what is there stays until there is a row to write
    throw InvalidInput(fmt::format("--trace {}: cannot be written", path.string()));
  }
}

void TraceFile::begin() {
  file_.open(path_);
  if (!as_json_) {
    file_ << fmt::format("{}\n", fmt::join(names_, ","));
  }
  for (const auto &row : before_) {
    file_ << line(row);
  }
}

void TraceFile::add(const TraceRow &row) {
  if (!file_.is_open()) {
    begin();
  }
  file_ << line(row) << std::flush;
  if (!file_) {
    throw std::runtime_error(fmt::format("--trace {}: cannot be written any more; is the disk full?", path_.string()));
  }
}

std::string TraceFile::line(const TraceRow &row) const {
  std::vector<double> numbers{row.seconds,    row.direction_norm, row.steps.alpha,
                              row.steps.beta, row.steps.eta,      row.steps.mu};
  numbers.insert(numbers.end(), row.metrics.begin(), row.metrics.end());
  if (as_json_) {
    Json object{{names_[0], row.iteration}};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      object[names_[i + 1]] = json_number(numbers[i]);
    }
    return object.dump() + "\n";
  }
  std::string text = std::to_string(row.iteration);
  for (const double number : numbers) {
    text += "," + (std::isfinite(number) ? number_text(number) : std::string());
  }
  return text + "\n";
}

} // namespace duplex::experiment
