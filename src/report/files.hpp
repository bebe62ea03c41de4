#pragma once
// Files that are either complete or not there.

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace duplex::report {

/// Takes content piece by piece.
using Sink = std::function<void(std::string_view piece)>;
/// Gives content piece by piece, where it is not to be held in memory.
using Producer = std::function<void(const Sink &sink)>;

/// A file within a folder that is still to be named.
struct NamedContent {
  std::string name;
  std::string content = {};
  Producer produce = {}; ///< what comes behind the content; none: nothing does
};

/// Makes the folder if needed. Throws InvalidInput, naming it and the reason, if
/// files cannot be written there.
void require_writable_folder(const std::filesystem::path &folder);

/// For a file that the user names: a link stays a link, a pipe or a device takes the content as it is. Others are
/// written beside, flushed to the disk and renamed. Throws std::runtime_error, naming the file and the reason, if that
/// fails; a file that was there before is then unharmed.
void write_file(const std::filesystem::path &file, std::string_view content);

/// For a file of Duplex's own: the same, but that whatever has the name, a link too, is replaced and never followed.
void replace_file(const std::filesystem::path &file, std::string_view content);

/// The same of content that is made while it is written. What it throws is thrown, and leaves no file.
void replace_file(const std::filesystem::path &file, const Producer &produce);

/// Gives a file another name in the same folder, on the disk too; what had it is replaced. Throws as write_file() does.
void rename_file(const std::filesystem::path &file, const std::filesystem::path &to);

/// All bytes of a plain file. Throws InvalidInput, naming it and the reason, where it is none or cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path &file);

/// Whether two names are of one file or folder that is there; links are followed.
[[nodiscard]] bool is_same_file(const std::filesystem::path &one, const std::filesystem::path &other);

/// How many files are being written now: a program that is to end at once should let them be finished.
[[nodiscard]] const std::atomic<int> &files_being_written();

/// Removes what processes that were killed had begun to write there. Files of processes that live stay.
void remove_unfinished_files(const std::filesystem::path &folder);

} // namespace duplex::report
