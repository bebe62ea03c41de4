#pragma once
// What a run says of itself in its folder, as manifest.json: who it is, what it was told, what it has read, what it has
// written and how it ended.

#include "report/hash.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::checkpoint {

enum class RunState : std::uint8_t { running, finished, failed, interrupted };
inline constexpr std::array<std::string_view, 4> run_state_names{"running", "finished", "failed", "interrupted"};
constexpr const auto &names_of(RunState /*unused*/) { return run_state_names; }

/// A file that a run reads.
struct InputFile {
  std::string given; ///< as the run was told
  std::string path;  ///< absolute
  /// Without a hash where it is no plain file, such as a pipe: what was read from it is gone.
  report::Fingerprint content = {};
};

/// A file that a run writes, in its folder.
struct ResultFile {
  std::string name;
  report::Fingerprint content = {}; ///< without a hash while it is being written
};

/// Texts are bytes as the system gives them, UTF-8 or not.
struct Manifest {
  std::string id; ///< 32 hexadecimal digits, drawn at random
  std::string command;
  std::vector<std::string> arguments; ///< with the command, without the tool's name
  std::string started_in;             ///< absolute
  std::string version;                ///< of Duplex
  std::string started;                ///< UTC
  std::string ended = {};             ///< UTC; empty: it has not
  RunState state = RunState::running;
  std::vector<InputFile> inputs = {};
  std::vector<ResultFile> results = {};
  std::vector<std::string> older = {}; ///< names of files of earlier runs that this one is to remove
};

[[nodiscard]] std::string manifest_text(const Manifest &manifest);

/// Throws InvalidInput, with the name, where the text is not what manifest_text() wrote, or says what cannot be: names
/// of files, for one, must lie in the folder.
[[nodiscard]] Manifest parse_manifest(std::string_view text, const std::string &name);

/// Whether the text, damaged as it may be, was one.
[[nodiscard]] bool is_manifest_of_duplex(std::string_view text);

/// Whether a run may write, and remove, a file of that name in its folder.
[[nodiscard]] bool is_result_name(std::string_view name);

/// For a person to begin the run again: duplex ARGUMENTS, in the folder where it was started.
[[nodiscard]] std::string command_line(const Manifest &manifest);

inline constexpr const char *manifest_name = "manifest.json";

} // namespace duplex::checkpoint
