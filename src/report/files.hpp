#pragma once
// Files that are either complete or not there.

#include <filesystem>
#include <string_view>

namespace duplex::report {

/// Makes the folder if needed. Throws InvalidInput, naming it and the reason, if
/// files cannot be written there.
void require_writable_folder(const std::filesystem::path &folder);

/// Writes beside the file, then renames. Throws std::runtime_error, naming the file and the
/// reason, if that fails; a file that was there before is then unharmed.
void write_file(const std::filesystem::path &file, std::string_view content);

} // namespace duplex::report
