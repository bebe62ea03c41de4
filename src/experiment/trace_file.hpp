#pragma once
// A run's trace as it is made, for tools that read along: JSON lines, CSV or TensorBoard's events, one for every
// observed step, flushed at once.

#include <duplex/observer.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace duplex::experiment {

enum class TraceFormat : std::uint8_t { json_lines, csv, events };

/// By the file's name: FILE.jsonl, FILE.csv, or one with "tfevents" in it, without which TensorBoard does not see a
/// file. Throws InvalidInput where it is none of these.
[[nodiscard]] TraceFormat trace_format_of(const std::filesystem::path &path);

class TraceFile {
public:
  /// Makes its folder; what is in the file stays until it begins. Throws InvalidInput where the name says no format or
  /// the file cannot be written.
  TraceFile(const std::filesystem::path &path, std::vector<std::string> metrics);

  /// With the rows that a run which goes on has made before, unless it has begun already.
  void begin(const std::vector<TraceRow> &before);
  /// After begin(). Throws std::runtime_error where the disk takes no more.
  void add(const TraceRow &row);

private:
  [[nodiscard]] std::string record(const TraceRow &row) const;
  [[nodiscard]] double wall_time(double seconds) const;

  std::filesystem::path path_;
  TraceFormat format_;
  std::vector<std::string> names_;   ///< of the numbers of a row, after its iteration
  double opened_at_;                 ///< seconds since the epoch
  double seconds_when_opened_ = 0.0; ///< of the run
  std::ofstream file_;
};

} // namespace duplex::experiment
