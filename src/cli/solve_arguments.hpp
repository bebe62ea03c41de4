#pragma once
// What `duplex solve` is told, and how a run that goes on is told it again.

#include "checkpoint/run_folder.hpp"

#include <duplex/core/saved_state.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace duplex::cli {

struct SolveArguments {
  std::string problem = {};
  std::string solver = "automatic";
  std::string metrics = "kkt,upper";
  std::string target = {};
  std::string out = {};
  std::string resume = {};
  std::string trace = {};  ///< absolute
  bool gave_trace = false; ///< now, rather than when the run began
  std::int64_t every = 1;
  std::int64_t batch = 0; ///< samples of each level that a step sees; 0: all
  std::int64_t held_out_patience = 0;
  double save_every = 10.0;
  bool gave_save_every = false; ///< now, rather than when the run began
  bool as_json = false;
  bool explain = false;
  bool certify = false;
  std::vector<std::string> more = {}; ///< options of the problem, the solver and the run
};

/// Into a checkpoint.
void put_told(const SolveArguments &arguments, SavedState &state);

/// The arguments of the run that goes on; options given now come after, and so in place of, its own. Throws
/// InvalidInput where the checkpoint does not hold them.
void take_told(const SavedState &state, SolveArguments &arguments);

/// Going on, only what ends a run may change. Throws InvalidInput, naming what else was given.
void refuse_other_options(const std::vector<std::string> &more);

/// Where a run that goes on writes its trace, by what its checkpoint says: a plain file in the run's folder. One that
/// lies elsewhere is not touched, since the checkpoint alone asks for it, and is told of; then the result is empty.
[[nodiscard]] std::filesystem::path trace_to_go_on(const std::string &told, const checkpoint::RunFolder &folder);

} // namespace duplex::cli
