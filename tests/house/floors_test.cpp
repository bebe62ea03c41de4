// The floors of the house: a file includes what is on its own floor or below it.

#include "support.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string_view>

namespace duplex::testing {
namespace {

namespace fs = std::filesystem;

/// From the ground up. A name with an ending is a file that is a floor of its own.
constexpr std::array<std::string_view, 15> library_floors{"core",    "space",   "kernels",   "softmax",  "numerics",
                                                          "step",    "problem", "measure",   "problems", "method.hpp",
                                                          "methods", "run",     "solve.hpp", "torch",    "duplex.hpp"};
/// Of src/: the library's, and the tool's above them.
constexpr std::array<std::string_view, 24> source_floors{
    "core",     "space",      "kernels", "softmax", "numerics", "step",      "problem", "measure",
    "problems", "methods",    "run",     "torch",   "names",    "data",      "report",  "checkpoint",
    "catalog",  "experiment", "clean",   "fewshot", "zoo",      "reproduce", "python",  "cli"};
/// Made by CMake from the files of the methods and the problems, with which they are on one floor.
const std::set<std::string_view> generated{"catalog.hpp", "methods.hpp", "version.hpp"};

std::string_view floor_of(std::string_view path) { return path.substr(0, path.find('/')); }

/// What is wrong with a line of `file` (a path within the house) that includes `included`; empty where nothing is.
template <std::size_t N>
std::string complaint(const std::array<std::string_view, N> &floors, std::string_view file, std::string_view included) {
  const auto from = std::find(floors.begin(), floors.end(), floor_of(file));
  const auto to = std::find(floors.begin(), floors.end(), floor_of(included));
  if (from == floors.end()) {
    return std::string(file) + " is on no floor of the house";
  }
  if (to == floors.end()) {
    return std::string(file) + " includes " + std::string(included) + ", which is on no floor of the house";
  }
  return to > from ? std::string(file) + " includes " + std::string(included) + ", which is on a floor above it" : "";
}

/// The names between the two characters after every #include of a file.
std::vector<std::string> included_by(const fs::path &file, const std::string &pattern) {
  std::ifstream text(file);
  const std::regex include("^\\s*#\\s*include\\s*" + pattern);
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    if (std::smatch found; std::regex_search(line, found, include)) {
      names.push_back(found[1]);
    }
  }
  return names;
}

template <std::size_t N>
std::string complaints(const std::array<std::string_view, N> &floors, const fs::path &house,
                       const std::string &pattern) {
  std::string all;
  int files = 0;
  for (const auto &entry : fs::recursive_directory_iterator(house)) {
    const auto file = fs::relative(entry.path(), house).generic_string();
    if (!entry.is_regular_file() || std::find(floors.begin(), floors.end(), floor_of(file)) == floors.end()) {
      continue;
    }
    ++files;
    for (const auto &name : included_by(entry.path(), pattern)) {
      if (name.find('/') == std::string::npos ? generated.contains(name) : floor_of(name) == "duplex") {
        continue;
      }
      if (const auto found = complaint(floors, file, name); !found.empty()) {
        all += found + "\n";
      }
    }
  }
  return files > 50 ? all : "the house has only " + std::to_string(files) + " files";
}

TEST(Floors, RefuseAnIncludeThatGoesUp) {
  EXPECT_EQ(complaint(library_floors, "measure/check.hpp", "run/summary.hpp"),
            "measure/check.hpp includes run/summary.hpp, which is on a floor above it");
  EXPECT_EQ(complaint(library_floors, "methods/nosa.hpp", "solve.hpp"),
            "methods/nosa.hpp includes solve.hpp, which is on a floor above it");
  EXPECT_EQ(complaint(library_floors, "problems/ridge.hpp", "methods/nosa.hpp"),
            "problems/ridge.hpp includes methods/nosa.hpp, which is on a floor above it");
  EXPECT_EQ(complaint(library_floors, "attic/box.hpp", "core/error.hpp"), "attic/box.hpp is on no floor of the house");
  EXPECT_EQ(complaint(library_floors, "core/error.hpp", "attic/box.hpp"),
            "core/error.hpp includes attic/box.hpp, which is on no floor of the house");
  EXPECT_EQ(complaint(source_floors, "data/csv.cpp", "cli/command.hpp"),
            "data/csv.cpp includes cli/command.hpp, which is on a floor above it");
  EXPECT_EQ(complaint(source_floors, "measure/check.cpp", "names/suggest.hpp"),
            "measure/check.cpp includes names/suggest.hpp, which is on a floor above it");
  EXPECT_EQ(complaint(library_floors, "methods/nosa.hpp", "method.hpp"), "");
  EXPECT_EQ(complaint(library_floors, "run/loop.hpp", "run/recovery.hpp"), "");
}

TEST(Floors, OfTheLibraryAreKept) {
  const fs::path house = fs::path(DUPLEX_SOURCE) / "include/duplex";
  EXPECT_EQ(complaints(library_floors, house, "<duplex/([^>]+)>"), "");
  for (const auto &entry : fs::directory_iterator(house)) {
    const auto name = entry.path().filename().string();
    EXPECT_NE(std::find(library_floors.begin(), library_floors.end(), name), library_floors.end()) << name;
  }
}

TEST(Floors, OfTheSourcesAreKept) {
  const fs::path house = fs::path(DUPLEX_SOURCE) / "src";
  EXPECT_EQ(complaints(source_floors, house, "\"([^\"]+/[^\"]+)\""), "");
  for (const auto &entry : fs::directory_iterator(house)) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name == "CMakeLists.txt" ||
                std::find(source_floors.begin(), source_floors.end(), name) != source_floors.end())
        << name;
  }
}

TEST(Floors, OfTheLibrarysSourcesAreThoseOfItsHeaders) {
  const fs::path house = fs::path(DUPLEX_SOURCE) / "src";
  for (const auto &entry : fs::recursive_directory_iterator(house)) {
    const auto file = fs::relative(entry.path(), house).generic_string();
    if (!entry.is_regular_file() ||
        std::find(library_floors.begin(), library_floors.end(), floor_of(file)) == library_floors.end()) {
      continue;
    }
    for (const auto &name : included_by(entry.path(), "<duplex/([^>]+)>")) {
      if (!generated.contains(name)) {
        EXPECT_EQ(complaint(library_floors, file, name), "");
      }
    }
  }
}

std::ptrdiff_t lines_of_file(const fs::path &file) {
  std::ifstream text(file);
  return std::count(std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>(), '\n');
}

TEST(Headers, OfTheLoopAndOfMethodsAreReadInOneSitting) {
  const fs::path house = fs::path(DUPLEX_SOURCE) / "include/duplex";
  int files = 0;
  for (const auto *folder : {"run", "methods"}) {
    for (const auto &entry : fs::recursive_directory_iterator(house / folder)) {
      if (entry.is_regular_file()) {
        ++files;
        EXPECT_LE(lines_of_file(entry.path()), 250) << entry.path();
      }
    }
  }
  EXPECT_GT(files, 50);
  EXPECT_LE(lines_of_file(house / "run/loop.hpp"), 200);
  EXPECT_LE(lines_of_file(house / "methods/bagdc.hpp"), 120);
}

} // namespace
} // namespace duplex::testing
