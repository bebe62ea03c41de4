#pragma once
// A run's trace as it is made, for tools that read along: a line for every observed step, flushed at once.

#include <duplex/observer.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace duplex::experiment {

class TraceFile {
public:
  /// Whether lines are JSON objects or CSV follows from the name. Throws InvalidInput where it ends otherwise or cannot
  /// be written. Begins with the rows that a run which goes on has made before.
  TraceFile(const std::filesystem::path &path, std::vector<std::string> metrics, std::vector<TraceRow> before);

  /// Throws std::runtime_error where the disk takes no more.
  void add(const TraceRow &row);

private:
  void begin();
  [[nodiscard]] std::string line(const TraceRow &row) const;

  std::filesystem::path path_;
  std::vector<TraceRow> before_;
  bool as_json_;
  std::vector<std::string> names_;
  std::ofstream file_;
};

/// Throws InvalidInput where the name of a trace file does not say what it holds.
void require_trace_name(const std::filesystem::path &path);

} // namespace duplex::experiment
