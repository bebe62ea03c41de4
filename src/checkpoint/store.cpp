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

bool is_whole(const std::filesystem::path &file) {
  try {
    (void)read_checkpoint(file);
    return true;
  } catch (const InvalidInput &) {
    return false;
  }
}

} // namespace

void save(const std::filesystem::path &folder, const SavedState &state) {
  const auto file = folder / newest;
  const auto next = folder / "checkpoint.next.dpx";
  report::write_file(next, encoded(state));
  if (is_whole(file)) { // what is damaged must not take the place of what is not
    std::filesystem::rename(file, folder / previous);
  }
  std::filesystem::rename(next, file);
}

void forget(const std::filesystem::path &folder) {
  std::filesystem::remove(folder / newest);
  std::filesystem::remove(folder / previous);
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
