#pragma once
// A run's trace as it is made, for tools that read along: JSON lines, CSV or TensorBoard's events, one for every
// observed step, flushed at once.

#include "report/hash.hpp"

#include <duplex/run/observer.hpp>

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
  /// Makes its folder; what is in the file stays until it begins. `known` is what a run that goes on has said of its
  /// place(), if it has. Throws InvalidInput where the name says no format or the file cannot be written.
  TraceFile(const std::filesystem::path &path, std::vector<std::string> metrics, report::Fingerprint known = {});

  /// Unless it has begun already. Where the file still begins with what is known of it, it is cut there and gone on
  /// with; otherwise it is written anew with the rows that the run has made before.
  void begin(const std::vector<TraceRow> &before);
  /// After begin(). Where the disk takes no more, that is told on standard error, and nothing is added from then on.
  void add(const TraceRow &row);
  /// Why nothing is added any more; empty while it is.
  [[nodiscard]] const std::string &failure() const { return failure_; }
  /// Where nothing was added: the file as it is, or the rows of before.
  void finish(const std::vector<TraceRow> &before);

  /// The file up to the last row that stays when the run goes on.
  [[nodiscard]] report::Fingerprint place() const;

private:
  void write(const std::string &text);
  void refuse_other_content() const;
  [[nodiscard]] bool begins_as_known();
  [[nodiscard]] std::string record(const TraceRow &row) const;
  [[nodiscard]] double wall_time(double seconds) const;

  std::filesystem::path path_;
  TraceFormat format_;
  std::vector<std::string> names_;   ///< of the numbers of a row, after its iteration
  double opened_at_;                 ///< seconds since the epoch
  double seconds_when_opened_ = 0.0; ///< of the run
  report::Fingerprint known_;
  report::Hasher hasher_;   ///< of what stays
  std::uint64_t bytes_ = 0; ///< likewise
  std::ofstream file_;
  std::string failure_;
};

} // namespace duplex::experiment
