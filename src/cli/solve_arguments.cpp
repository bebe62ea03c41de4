#include "cli/solve_arguments.hpp"

#include "catalog/options.hpp"
#include "report/text.hpp"

#include <duplex/core/conversion.hpp>
#include <duplex/run/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace duplex::cli {

namespace {

constexpr const char *problem_entry = "told problem";
constexpr const char *solver_entry = "told solver";
constexpr const char *metrics_entry = "told metrics";
constexpr const char *target_entry = "told target";
constexpr const char *trace_entry = "told trace";
constexpr const char *every_entry = "told every";
constexpr const char *batch_entry = "told batch";
constexpr const char *patience_entry = "told held-out patience";
constexpr const char *save_every_entry = "told save-every";
constexpr const char *more_entry = "told more";

/// Arguments hold any byte but zero, which ends each.
std::string joined(const std::vector<std::string> &words) {
  std::string all;
  for (const auto &word : words) {
    all += word + '\0';
  }
  return all;
}

std::vector<std::string> split(const std::string &all) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    words.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string text_in(const SavedState &state, const char *entry) {
  const auto &text = state.get<std::string>(entry);
  if (text.find('\0') != std::string::npos) {
    throw InvalidInput(fmt::format("'{}' of the checkpoint holds a zero byte", entry));
  }
  return text;
}

std::int64_t count_in(const SavedState &state, const char *entry) {
  return saved_integer<std::int64_t>(state.first<SavedState::Integers>(entry),
                                     fmt::format("'{}' of the checkpoint", entry));
}

bool lies_in(const std::filesystem::path &file, const std::filesystem::path &folder) {
  std::error_code unknown;
  const auto real_file = std::filesystem::weakly_canonical(file, unknown);
  const auto real_folder = std::filesystem::canonical(folder, unknown);
  if (unknown) {
    return false;
  }
  const auto [rest, _] = std::mismatch(real_folder.begin(), real_folder.end(), real_file.begin(), real_file.end());
  return rest == real_folder.end();
}

} // namespace

void put_told(const SolveArguments &arguments, SavedState &state) {
  state.put(problem_entry, arguments.problem);
  state.put(solver_entry, arguments.solver);
  state.put(metrics_entry, arguments.metrics);
  state.put(target_entry, arguments.target);
  state.put(trace_entry, arguments.trace);
  state.put(every_entry, SavedState::Integers{arguments.every});
  state.put(batch_entry, SavedState::Integers{arguments.batch});
  state.put(patience_entry, SavedState::Integers{arguments.held_out_patience});
  state.put(save_every_entry, SavedState::Doubles{arguments.save_every});
  state.put(more_entry, joined(arguments.more));
}

void take_told(const SavedState &state, SolveArguments &arguments) {
  arguments.problem = text_in(state, problem_entry);
  arguments.solver = text_in(state, solver_entry);
  arguments.metrics = text_in(state, metrics_entry);
  if (arguments.target.empty()) {
    arguments.target = text_in(state, target_entry);
  }
  if (arguments.trace.empty()) {
    arguments.trace = text_in(state, trace_entry);
  }
  arguments.every = count_in(state, every_entry);
  arguments.batch = state.has(batch_entry) ? count_in(state, batch_entry) : 0;
  arguments.held_out_patience = count_in(state, patience_entry);
  if (!arguments.gave_save_every) {
    arguments.save_every = number_within(state.first<SavedState::Doubles>(save_every_entry), positive,
                                         fmt::format("'{}' of the checkpoint", save_every_entry));
  }
  auto all = split(state.get<std::string>(more_entry));
  all.insert(all.end(), arguments.more.begin(), arguments.more.end());
  arguments.more = std::move(all);
}

void refuse_other_options(const std::vector<std::string> &more) {
  const auto run_options = catalog::describe(Options{});
  for (const auto &argument : more) {
    const auto name = argument.substr(0, argument.find('='));
    const bool ends = name == "--tolerance" || // of runs that choose their steps
                      std::any_of(run_options.begin(), run_options.end(),
                                  [&](const catalog::OptionInfo &info) { return name == "--" + info.name; });
    if (argument.starts_with("--") && !ends) {
      throw InvalidInput(name + " cannot change when a run goes on; what ends it can, such as --iterations");
    }
  }
}

std::filesystem::path trace_to_go_on(const std::string &told, const checkpoint::RunFolder &folder) {
  std::error_code unknown;
  const auto status = std::filesystem::symlink_status(told, unknown);
  const bool is_plain = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  if (told.empty() || (is_plain && lies_in(told, folder.path()))) {
    return told;
  }
  checkpoint::tell_on_standard_error(
      fmt::format("the trace '{0}' of this run is no plain file in its folder, and is not written any more; "
                  "--trace {1} goes on with it",
                  told, report::shell_quoted(told)));
  return {};
}

} // namespace duplex::cli
