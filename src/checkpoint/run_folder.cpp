#include "checkpoint/run_folder.hpp"

#include "data/text.hpp"
#include "report/page.hpp"
#include "report/text.hpp"

#include <duplex/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

namespace duplex::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr const char *newest = "checkpoint.dpx";
constexpr const char *previous = "checkpoint.previous.dpx";
constexpr const char *next = "checkpoint.next.dpx";
constexpr const char *id_entry = "run id";

fs::path opened_folder(const fs::path &folder, RunFolder::Opening opening) {
  if (opening == RunFolder::Opening::existing && !fs::is_directory(folder)) {
    throw InvalidInput(fmt::format("nothing to go on from: there is no folder '{}'", folder.string()));
  }
  report::require_writable_folder(folder);
  return fs::canonical(folder);
}

std::string drawn_id() {
  std::random_device source;
  std::string digits;
  for (int part = 0; part < 4; ++part) {
    digits += fmt::format("{:08x}", source());
  }
  return digits;
}

bool is_whole(const fs::path &file) {
  try {
    (void)decoded(report::read_file(file), file.string());
    return true;
  } catch (const InvalidInput &) {
    return false;
  }
}

void add_name(std::vector<std::string> &names, const std::string &name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

/// What has the name of a file of a run's, unless it is a folder, which no run has made.
void remove_if_file(const fs::path &file) {
  std::error_code not_removed; // what stays is of no run that goes on, and the next one tries again
  if (!fs::is_directory(fs::symlink_status(file, not_removed))) {
    fs::remove(file, not_removed);
  }
}

/// The text of an earlier run's manifest; empty where there is none. A file of somebody else's is not to be lost.
std::string manifest_to_replace(const fs::path &file) {
  if (!fs::is_regular_file(fs::symlink_status(file))) {
    return {};
  }
  std::string text = report::read_file(file);
  if (!text.empty() && !is_manifest_of_duplex(text)) {
    throw InvalidInput(fmt::format("'{}' is not of a run of Duplex, and would be lost: move it, or name another folder",
                                   file.string()));
  }
  return text;
}

/// Why an input is not what it was; empty where it is.
std::string change_of(const InputFile &input) {
  if (input.content.hash.empty()) {
    return "is no plain file, so that it cannot be told whether it is the same";
  }
  std::error_code unknown;
  if (!fs::exists(input.path, unknown)) {
    return "is not there any more";
  }
  if (!fs::is_regular_file(input.path, unknown)) {
    return "is not a plain file any more";
  }
  report::Fingerprint now;
  try {
    now = report::fingerprint_of_file(input.path);
  } catch (const InvalidInput &) {
    return "cannot be read any more";
  }
  if (now.bytes != input.content.bytes) {
    return fmt::format("has {} bytes, and had {}", now.bytes, input.content.bytes);
  }
  return now.hash == input.content.hash ? "" : fmt::format("has other content in its {} bytes", now.bytes);
}

} // namespace

void tell_on_standard_error(const std::string &text) { (void)std::fprintf(stderr, "duplex: %s\n", text.c_str()); }

void refuse_files_of_runs(const std::string &option, const fs::path &file) {
  const fs::path folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
  const std::string name = file.filename().string();
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown) || !fs::is_regular_file(folder / manifest_name, unknown)) {
    return;
  }
  Manifest manifest;
  try {
    manifest = parse_manifest(report::read_file(folder / manifest_name), manifest_name);
  } catch (const InvalidInput &) { // not of Duplex, or damaged
    return;
  }
  const bool is_of_run = name == manifest_name || name.starts_with("checkpoint.") ||
                         std::any_of(manifest.results.begin(), manifest.results.end(),
                                     [&](const ResultFile &result) { return result.name == name; });
  if (is_of_run) {
    throw InvalidInput(fmt::format("{} {}: that is a file of the run in '{}', and would be lost; name another one",
                                   option, file.string(), folder.string()));
  }
}

RunFolder::RunFolder(const fs::path &folder, Opening opening, Tell tell)
    : shown_(folder.string()), path_(opened_folder(folder, opening)), tell_(std::move(tell)), lock_(path_, shown_) {
  report::remove_unfinished_files(path_);
}

RunFolder::~RunFolder() {
  if (open_) {
    try {
      unsaved_.clear();
      end(RunState::failed);
    } catch (const std::exception &) { // the manifest says "running", as after a kill
      open_ = false;
    }
  }
}

void RunFolder::begin(const std::string &command, const std::vector<std::string> &arguments, Earlier earlier) {
  manifest_ = {.id = drawn_id(),
               .command = command,
               .arguments = arguments,
               .started_in = fs::current_path().string(),
               .version = version,
               .started = report::utc_now(),
               .inputs = std::move(manifest_.inputs)};
  manifest_before_ = manifest_to_replace(file(manifest_name));
  try {
    const Manifest before = parse_manifest(manifest_before_, manifest_name);
    keeps_results_ = earlier == Earlier::kept && before.command == command;
    manifest_.older = before.older;
    if (keeps_results_) {
      manifest_.results = before.results;
    } else {
      for (const auto &result : before.results) {
        add_name(manifest_.older, result.name);
      }
    }
  } catch (const InvalidInput &) { // there is none, or it is damaged: nothing is known of an earlier run
    manifest_.older.clear();
  }
  refuse_inputs_that_would_be_replaced();
  write_manifest();
  open_ = true;
}

void RunFolder::refuse_inputs_that_would_be_replaced() const {
  for (const auto &input : manifest_.inputs) {
    const fs::path read = input.path;
    const bool is_result =
        std::find(manifest_.older.begin(), manifest_.older.end(), read.filename().string()) != manifest_.older.end();
    if (is_result && report::is_same_file(read.parent_path(), path_)) {
      throw InvalidInput(fmt::format("'{}' is a result of the run that was in '{}' before, and this one would take its "
                                     "place: copy it elsewhere, or name another folder",
                                     input.given, shown_));
    }
  }
}

void RunFolder::find(const std::string &command) {
  try {
    manifest_before_ = report::read_file(file(manifest_name));
  } catch (const InvalidInput &error) {
    throw InvalidInput(fmt::format("nothing to go on from: {}", error.what()));
  }
  manifest_ = parse_manifest(manifest_before_, file(manifest_name).string());
  if (manifest_.command != command) {
    throw InvalidInput(fmt::format("--resume {}: its run is of duplex {}, expected duplex {}",
                                   report::shell_quoted(shown_), data::shown(manifest_.command), command));
  }
}

void RunFolder::refuse_to_resume(const std::string &reason) const {
  throw InvalidInput(fmt::format("nothing to go on from in '{}': {}; begin it again with `{}`", shown_, reason,
                                 command_line(manifest_)));
}

SavedState RunFolder::own_checkpoint(const fs::path &checkpoint) const {
  SavedState state = decoded(report::read_file(checkpoint), checkpoint.string());
  if (!state.has(id_entry) || state.get<std::string>(id_entry) != manifest_.id) {
    throw InvalidInput(fmt::format("{}: is of an earlier run", checkpoint.string()));
  }
  return state;
}

SavedState RunFolder::load() const {
  std::string failure;
  try {
    return own_checkpoint(file(newest));
  } catch (const InvalidInput &error) {
    failure = error.what();
  }
  try {
    SavedState state = own_checkpoint(file(previous));
    tell_(failure + "; going on from the one before");
    return state;
  } catch (const InvalidInput &error) {
    failure += std::string("; ") + error.what();
  }
  if (manifest_.state == RunState::finished) {
    throw InvalidInput(fmt::format("nothing to go on from: the run in '{}' has finished ({})", shown_, failure));
  }
  const auto is_damaged = [&](const char *name) { return fs::exists(file(name)) && !is_whole(file(name)); };
  refuse_to_resume(fmt::format("{} ({})",
                               is_damaged(newest) || is_damaged(previous) ? "what the run has saved cannot be read"
                                                                          : "the run ended before its first save",
                               failure));
}

void RunFolder::refuse_changed_inputs() const {
  for (const auto &input : manifest_.inputs) {
    if (const std::string change = change_of(input); !change.empty()) {
      throw InvalidInput(fmt::format("'{}', which the run in '{}' has read, {}: put back what it was, or begin a new "
                                     "run with `{}`",
                                     input.path, shown_, change, command_line(manifest_)));
    }
  }
}

void RunFolder::go_on() {
  refuse_changed_inputs();
  goes_on_ = has_checkpoint_ = true;
  manifest_.state = RunState::running;
  manifest_.ended.clear();
  write_manifest();
  open_ = true;
}

void RunFolder::go_where_it_was_started() const {
  std::error_code gone;
  fs::current_path(manifest_.started_in, gone);
  const auto needed = std::find_if(manifest_.inputs.begin(), manifest_.inputs.end(),
                                   [](const InputFile &input) { return fs::path(input.given).is_relative(); });
  if (gone && needed != manifest_.inputs.end()) {
    throw InvalidInput(
        fmt::format("'{}', where the run in '{}' was started and '{}' is looked up, cannot be entered: {}",
                    manifest_.started_in, shown_, needed->given, gone.message()));
  }
}

void RunFolder::add_input(const fs::path &read) {
  InputFile input{.given = read.string(), .path = fs::absolute(read).string()};
  const bool known = std::any_of(manifest_.inputs.begin(), manifest_.inputs.end(),
                                 [&](const InputFile &other) { return other.path == input.path; });
  if (known) {
    return;
  }
  if (goes_on_) {
    throw InvalidInput(
        fmt::format("'{}' would be read, which the run in '{}' has not read before it was saved", input.path, shown_));
  }
  if (fs::is_regular_file(read)) {
    input.content = report::fingerprint_of_file(read);
  }
  manifest_.inputs.push_back(std::move(input));
  changed_ = true;
}

void RunFolder::save(SavedState state) {
  try {
    require_own_folder();
    write_manifest_if_changed(); // no checkpoint without what it was made from
    state.put(id_entry, manifest_.id);
    report::replace_file(file(next), encoded(state));
    has_written_ = true;
    if (!has_checkpoint_) {
      remove_if_file(file(previous));    // of an earlier run
    } else if (is_whole(file(newest))) { // what is damaged must not take the place of what is not
      fs::rename(file(newest), file(previous));
    }
    report::rename_file(file(next), file(newest)); // flushes both names
    has_checkpoint_ = true;
    remove_older();
    unsaved_.clear();
  } catch (const std::exception &error) { // no space, or no memory for a copy
    unsaved_ = error.what();
    if (!std::exchange(told_of_unsaved_, true)) {
      tell_(fmt::format("no checkpoint: {}; the run goes on, and tries again", unsaved_));
    }
  }
}

void RunFolder::forget_checkpoints() {
  remove_checkpoints();
  unsaved_.clear();
}

void RunFolder::remove_checkpoints() const {
  for (const char *checkpoint : {newest, previous, next}) {
    remove_if_file(file(checkpoint));
  }
}

namespace {

report::Fingerprint written_as(const fs::path &path, const report::NamedContent &written) {
  report::Hasher hasher;
  std::uint64_t bytes = 0;
  report::replace_file(path, [&](const report::Sink &sink) {
    const auto take = [&](std::string_view piece) {
      hasher.add(piece);
      bytes += piece.size();
      sink(piece);
    };
    take(written.content);
    if (written.produce) {
      written.produce(take);
    }
  });
  return {bytes, hasher.hash()};
}

} // namespace

void RunFolder::write(std::span<const report::NamedContent> files) {
  const auto is_written = [&](const std::string &name) {
    return std::any_of(files.begin(), files.end(), [&](const auto &written) { return written.name == name; });
  };
  require_own_folder();
  for (const auto &written : files) {
    put_aside_if_foreign(written.name);
  }
  if (!std::exchange(has_written_results_, true) && !keeps_results_) { // those of the run's own past are replaced
    for (const auto &result : manifest_.results) {
      add_name(manifest_.older, result.name);
    }
    manifest_.results.clear();
  }
  std::erase_if(manifest_.older, is_written);
  std::erase_if(manifest_.results, [&](const ResultFile &result) { return is_written(result.name); });
  for (const auto &written : files) {
    manifest_.results.push_back({written.name});
  }
  write_manifest(); // whenever the program is killed, it is known what may lie there
  has_written_ = true;
  for (std::size_t i = 0; i < files.size(); ++i) {
    manifest_.results[manifest_.results.size() - files.size() + i].content =
        written_as(path_ / files[i].name, files[i]);
  }
  if (!has_checkpoint_) {
    remove_checkpoints(); // of an earlier run
  }
  changed_ = true;
  remove_older();
}

void RunFolder::refuse_as_input(const std::string &name) const {
  const bool is_input = std::any_of(manifest_.inputs.begin(), manifest_.inputs.end(), [&](const InputFile &input) {
    std::error_code unknown;
    return fs::equivalent(path_ / name, input.path, unknown);
  });
  if (is_input) {
    throw InvalidInput(fmt::format("'{}' in '{}' is read by the run, which would write its result of that name there: "
                                   "choose another --out",
                                   name, shown_));
  }
}

/// A file that no run is known to have written is somebody's own: it gets another name, and that is told.
void RunFolder::put_aside_if_foreign(const std::string &name) {
  refuse_as_input(name);
  const bool is_known = std::find(manifest_.older.begin(), manifest_.older.end(), name) != manifest_.older.end() ||
                        std::any_of(manifest_.results.begin(), manifest_.results.end(),
                                    [&](const ResultFile &result) { return result.name == name; });
  std::error_code unknown;
  if (is_known || !fs::is_regular_file(fs::symlink_status(path_ / name, unknown))) {
    return;
  }
  const std::string aside = fmt::format("{}.before-{}", name, manifest_.id.substr(0, 8));
  report::rename_file(path_ / name, path_ / aside);
  tell_(fmt::format("'{}' in '{}' is of no run of Duplex: it is '{}' now", name, shown_, aside));
}

/// What earlier runs have left and this one does not write.
void RunFolder::remove_older() {
  for (const auto &name : manifest_.older) {
    remove_if_file(path_ / name);
  }
  changed_ |= !manifest_.older.empty();
  manifest_.older.clear();
  write_manifest_if_changed();
}

void RunFolder::end(RunState how) {
  if (!std::exchange(open_, false)) {
    return;
  }
  manifest_.state = how;
  manifest_.ended = report::utc_now();
  write_manifest();
  if (!unsaved_.empty()) {
    throw std::runtime_error(unsaved_);
  }
}

void RunFolder::withdraw() noexcept {
  if (!open_) {
    return;
  }
  try {
    if (has_written_) {
      end(RunState::failed);
      return;
    }
    open_ = false;
    if (manifest_before_.empty()) {
      fs::remove(file(manifest_name));
    } else {
      report::replace_file(file(manifest_name), manifest_before_);
    }
  } catch (const std::exception &error) { // why the run is refused matters more, and is told after it
    tell_(error.what());
  }
}

/// Whoever has made another folder of that name has not given it to this run.
void RunFolder::require_own_folder() const {
  if (!lock_.is_still_there()) {
    throw std::runtime_error(
        fmt::format("the folder '{}' was moved, replaced or emptied while the run was at work there", shown_));
  }
}

void RunFolder::write_manifest() {
  require_own_folder();
  report::replace_file(file(manifest_name), manifest_text(manifest_));
  changed_ = false;
}

void RunFolder::write_manifest_if_changed() {
  if (changed_) {
    write_manifest();
  }
}

} // namespace duplex::checkpoint
