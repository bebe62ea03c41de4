#include "checkpoint/store.hpp"

#include "report/files.hpp"

#include <duplex/error.hpp>

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace duplex::checkpoint {

namespace {

constexpr const char *newest = "checkpoint.dpx";
constexpr const char *previous = "checkpoint.previous.dpx";

SavedState read_checkpoint(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw InvalidInput(fmt::format("{}: no such file, or it cannot be read", file.string()));
  }
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return decoded(bytes, file.string());
}

} // namespace

void save(const std::filesystem::path &folder, const SavedState &state) {
  const std::string bytes = encoded(state);
  const auto file = folder / newest;
  if (std::filesystem::exists(file)) { // two names for one file, so that there is no moment without a checkpoint
    const auto link = folder / "checkpoint.link";
    std::filesystem::remove(link);
    std::error_code no_links;
    std::filesystem::create_hard_link(file, link, no_links);
    if (no_links) {
      std::filesystem::copy_file(file, link);
    }
    std::filesystem::rename(link, folder / previous);
  }
  report::write_file(file, bytes);
}

Found load(const std::filesystem::path &folder) {
  std::string newest_failed;
  try {
    return {read_checkpoint(folder / newest), ""};
  } catch (const InvalidInput &error) {
    newest_failed = error.what();
  }
  try {
    return {read_checkpoint(folder / previous), newest_failed};
  } catch (const InvalidInput &error) {
    throw InvalidInput(fmt::format("nothing to go on from: {}; {}", newest_failed, error.what()));
  }
}

} // namespace duplex::checkpoint
