#include "experiment/trace_file.hpp"

#include "experiment/events.hpp"
#include "experiment/experiment.hpp"
#include "report/json_file.hpp"

#include <duplex/core/error.hpp>
#include <duplex/core/fields.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <utility>

namespace duplex::experiment {

TraceFormat trace_format_of(const std::filesystem::path &path) {
  if (path.extension() == ".jsonl") {
    return TraceFormat::json_lines;
  }
  if (path.extension() == ".csv") {
    return TraceFormat::csv;
  }
  if (path.filename().string().find("tfevents") != std::string::npos) {
    return TraceFormat::events;
  }
  throw InvalidInput(fmt::format(
      "--trace {}: expected a name that ends in .jsonl or .csv, or, for TensorBoard, one with 'tfevents' in it",
      path.string()));
}

TraceFile::TraceFile(const std::filesystem::path &path, std::vector<std::string> metrics, report::Fingerprint known)
    : path_(path),
      format_(trace_format_of(path)), names_{"seconds", "direction", "alpha", "beta", "eta", "mu", "recoveries"},
      opened_at_(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()),
      known_(std::move(known)) {
  names_.insert(names_.end(), std::make_move_iterator(metrics.begin()), std::make_move_iterator(metrics.end()));
  std::error_code problem;
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), problem);
  }
  if (known_.hash.empty()) {
    refuse_other_content();
  }
  if (problem || !std::ofstream(path, std::ios::app)) {
    throw InvalidInput(fmt::format("--trace {}: cannot be written: {}", path.string(),
                                   problem ? problem.message() : std::generic_category().message(errno)));
  }
}

/// A file that no run of Duplex has written is somebody's own.
void TraceFile::refuse_other_content() const {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path_, unknown) || std::filesystem::file_size(path_, unknown) == 0) {
    return;
  }
  std::string beginning(64, '\0');
  std::ifstream file(path_, std::ios::binary);
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  const bool is_trace = format_ == TraceFormat::csv          ? beginning.starts_with("iteration,seconds,direction,")
                        : format_ == TraceFormat::json_lines ? beginning.starts_with("{\"iteration\":")
                                                             : beginning.find(event_version) != std::string::npos;
  if (!is_trace) {
    throw InvalidInput(fmt::format("--trace {}: the file is there already and is no trace of Duplex; move it, or name "
                                   "another one",
                                   path_.string()));
  }
}

void TraceFile::begin(const std::vector<TraceRow> &before) {
  if (file_.is_open()) {
    return;
  }
  seconds_when_opened_ = before.empty() ? 0.0 : before.back().seconds;
  if (begins_as_known()) {
    std::filesystem::resize_file(path_, known_.bytes);
    file_.open(path_, std::ios::binary | std::ios::app);
    return;
  }
  file_.open(path_, std::ios::binary);
  if (format_ == TraceFormat::csv) {
    write(fmt::format("iteration,{}\n", fmt::join(names_, ",")));
  } else if (format_ == TraceFormat::events) {
    write(first_event(wall_time(0.0)));
  }
  for (const auto &row : before) {
    write(record(row));
  }
  file_.flush();
}

bool TraceFile::begins_as_known() {
  std::error_code unknown;
  if (known_.hash.empty() || !std::filesystem::is_regular_file(path_, unknown)) {
    return false;
  }
  hasher_ = {};
  bytes_ = hasher_.add_file(path_, known_.bytes);
  if (bytes_ == known_.bytes && hasher_.hash() == known_.hash) {
    return true;
  }
  hasher_ = {};
  bytes_ = 0;
  return false;
}

void TraceFile::finish(const std::vector<TraceRow> &before) {
  if (!file_.is_open() && !begins_as_known()) {
    begin(before);
  }
}

report::Fingerprint TraceFile::place() const {
  return file_.is_open() ? report::Fingerprint{bytes_, hasher_.hash()} : known_;
}

void TraceFile::write(const std::string &text) {
  file_ << text;
  hasher_.add(text);
  bytes_ += text.size();
}

void TraceFile::add(const TraceRow &row) {
  if (!file_) {
    return;
  }
  if (row.extra) { // it goes when the run goes on
    file_ << record(row);
  } else {
    write(record(row));
  }
  file_.flush();
  if (!file_) {
    failure_ = fmt::format("--trace {}: cannot be written any more; is the disk full?", path_.string());
    (void)std::fprintf(stderr, "duplex: %s The run goes on without it\n", failure_.c_str());
  }
}

double TraceFile::wall_time(double seconds) const { return opened_at_ + seconds - seconds_when_opened_; }

std::string TraceFile::record(const TraceRow &row) const {
  std::vector<double> numbers{row.seconds,
                              row.direction_norm,
                              row.steps.alpha,
                              row.steps.beta,
                              row.steps.eta,
                              row.steps.mu,
                              static_cast<double>(row.recoveries)};
  numbers.insert(numbers.end(), row.metrics.begin(), row.metrics.end());
  if (format_ == TraceFormat::events) {
    return scalar_event(wall_time(row.seconds), row.iteration, names_, numbers);
  }
  if (format_ == TraceFormat::json_lines) {
    Json object{{"iteration", row.iteration}};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      object[names_[i]] = json_number(numbers[i]);
    }
    return report::json_text(object) + "\n";
  }
  std::string text = std::to_string(row.iteration);
  for (const double number : numbers) {
    text += "," + (std::isfinite(number) ? number_text(number) : std::string());
  }
  return text + "\n";
}

} // namespace duplex::experiment
