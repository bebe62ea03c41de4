#include "reproduce/anywhere_rivals.hpp"

#include "data/text.hpp"
#include "report/files.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <sstream>
#include <vector>

namespace duplex::reproduce {

namespace in_anywhere_rivals {
namespace {

constexpr std::string_view rival_columns = "table,noise,trusted,seed,rival,f1,average_precision";

std::vector<std::string> cells_of(const std::string &line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) {
    cells.push_back(cell);
  }
  return cells;
}

} // namespace
} // namespace in_anywhere_rivals

Rivals::Rivals(const std::filesystem::path &file) {
  using namespace in_anywhere_rivals;
  std::istringstream text(report::read_file(file));
  std::string line;
  std::getline(text, line);
  if (line != rival_columns) {
    throw InvalidInput(
        fmt::format("{}:1: found '{}', expected the columns {}, as bench/rivals/cleanlab_baseline.py writes them",
                    file.string(), data::shown(line), rival_columns));
  }
  for (std::size_t number = 2; std::getline(text, line); ++number) {
    const auto cells = cells_of(line);
    float f1 = 0.0F;
    float precision = 0.0F;
    if (cells.size() != 7 || data::parse_number(cells[5], f1) != data::Parsed::ok ||
        data::parse_number(cells[6], precision) != data::Parsed::ok) {
      throw InvalidInput(fmt::format("{}:{}: found '{}', expected {} with two numbers at the end", file.string(),
                                     number, data::shown(line), rival_columns));
    }
    cells_[fmt::format("{},{},{},{}", cells[0], cells[1], cells[2], cells[3])][cells[4]] = {
        static_cast<double>(f1), static_cast<double>(precision)};
  }
}

const RivalScores *Rivals::of(const AnywhereCell &cell) const {
  const auto found = cells_.find(fmt::format(
      "{},{},{},{}", cell.table, anywhere_noise_names[static_cast<std::size_t>(cell.noise)], cell.trusted, cell.seed));
  return found == cells_.end() ? nullptr : &found->second;
}

} // namespace duplex::reproduce
