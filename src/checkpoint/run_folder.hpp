#pragma once
// A run owns its folder: nobody else writes there while it runs, and what lies there is of one run.
//
//   manifest.json             who the run is, what it was told, has read and has written, and how it ended
//   checkpoint.dpx            the newest checkpoint; checkpoint.previous.dpx is the one before it
//   .duplex.lock              held while the run lives
//
// Files of an earlier run stay whole until this one writes its first checkpoint or its results; then those that the
// earlier manifest lists are removed, and no others. A file of another origin that has the name of a result is put
// aside. Nothing is written through a link that lies in the folder, nor into another folder that has taken this one's
// name.

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/folder_lock.hpp"
#include "checkpoint/manifest.hpp"
#include "report/files.hpp"

#include <duplex/core/error.hpp>

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace duplex::checkpoint {

/// "duplex: TEXT" on standard error.
void tell_on_standard_error(const std::string &text);

/// Throws InvalidInput, naming the option, where the file is one that a run has written in its folder.
void refuse_files_of_runs(const std::string &option, const std::filesystem::path &file);

class RunFolder {
public:
  enum class Opening : std::uint8_t { make, existing };
  enum class Earlier : std::uint8_t { replaced, kept }; ///< results of earlier runs of the same command
  using Tell = std::function<void(const std::string &)>;

  /// Takes the folder, which it makes where it may, and removes what killed processes had begun to write. Throws
  /// InvalidInput where another process holds it or it cannot be written. `tell` is given what a run survives.
  explicit RunFolder(const std::filesystem::path &folder, Opening opening = Opening::make,
                     Tell tell = tell_on_standard_error);
  RunFolder(const RunFolder &) = delete;
  RunFolder &operator=(const RunFolder &) = delete;
  /// A run that has neither ended nor withdrawn has failed.
  ~RunFolder();

  /// Absolute, so that it stays the same wherever the process goes.
  [[nodiscard]] const std::filesystem::path &path() const { return path_; }
  /// Of the run that has begun or goes on here.
  [[nodiscard]] const Manifest &manifest() const { return manifest_; }

  /// A new run, with an identity of its own, which takes the place of an earlier one: once what it needs is read and
  /// built, and not before. The arguments are those of the process, without its name.
  void begin(const std::string &command, const std::vector<std::string> &arguments,
             Earlier earlier = Earlier::replaced);

  /// Reads the manifest of the run that is to go on. Throws InvalidInput where there is none of that command.
  void find(const std::string &command);
  /// After find(): the newest checkpoint of that run that is whole, and what is wrong with a newer one is told. Throws
  /// InvalidInput, saying why and what to do, where there is none.
  [[nodiscard]] SavedState load() const;
  /// After load(): the run is running again. Throws InvalidInput where a file that it has read is not what it was.
  void go_on();
  /// Back to the folder where the run was started, for the paths that it was told. Throws InvalidInput where there are
  /// such paths and the folder is gone.
  void go_where_it_was_started() const;

  /// A file that the run reads, before it begins or later. Throws InvalidInput where a run that goes on had not read it
  /// before.
  void add_input(const std::filesystem::path &file);
  /// Throws InvalidInput where a file of this name in the folder is one that the run reads.
  void refuse_as_input(const std::string &name) const;

  /// In the place of an earlier checkpoint; whenever the program is killed, a whole one remains. Where it cannot be
  /// written the run goes on: that is told once, and the next one is tried.
  void save(SavedState state);
  /// Removes the checkpoints, where there is nothing to go on with any more.
  void forget_checkpoints();

  /// Results, all of a run's at its first call. Throws std::runtime_error, naming the file, where one cannot be
  /// written.
  void write(std::span<const report::NamedContent> files);

  /// Once. Throws std::runtime_error where the last checkpoint, or this itself, could not be written.
  void end(RunState how);

  /// Does the work of a run. Where it is refused (InvalidInput, NotAvailable) before anything was
  /// written, the folder is as it was before; where it is Interrupted, the run has ended so.
  template <class Work> auto run(const Work &work) {
    try {
      return work();
    } catch (const InvalidInput &) {
      withdraw();
      throw;
    } catch (const NotAvailable &) {
      withdraw();
      throw;
    } catch (const Interrupted &) {
      end(RunState::interrupted);
      throw;
    }
  }

private:
  void withdraw() noexcept;
  void require_own_folder() const;
  void refuse_inputs_that_would_be_replaced() const;
  void put_aside_if_foreign(const std::string &name);
  void write_manifest();
  void write_manifest_if_changed();
  void remove_older();
  void remove_checkpoints() const;
  void refuse_changed_inputs() const;
  [[nodiscard]] SavedState own_checkpoint(const std::filesystem::path &file) const;
  [[noreturn]] void refuse_to_resume(const std::string &reason) const;
  [[nodiscard]] std::filesystem::path file(const char *name) const { return path_ / name; }

  std::string shown_; ///< the folder, as it was given
  std::filesystem::path path_;
  Tell tell_;
  FolderLock lock_;
  Manifest manifest_;
  std::string manifest_before_;      ///< its text, to put it back; empty: there was none
  bool open_ = false;                ///< the run has begun or goes on, and has not ended
  bool goes_on_ = false;             ///< it was resumed
  bool changed_ = false;             ///< the manifest is not what lies on the disk
  bool has_written_ = false;         ///< something besides the manifest
  bool has_written_results_ = false; ///< in this process
  bool has_checkpoint_ = false;      ///< of this run
  bool keeps_results_ = false;       ///< those of earlier runs
  std::string unsaved_;              ///< why the last checkpoint could not be written; empty: it was
  bool told_of_unsaved_ = false;
};

} // namespace duplex::checkpoint
