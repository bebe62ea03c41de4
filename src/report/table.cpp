#include "report/table.hpp"

#include "report/text.hpp"

#include <algorithm>

namespace duplex::report {
namespace {

std::vector<std::size_t> widths(const std::vector<std::string> &header,
                                const std::vector<std::vector<std::string>> &rows) {
  std::vector<std::size_t> result;
  const auto widen = [&result](const std::vector<std::string> &row) {
    result.resize(std::max(result.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      result[i] = std::max(result[i], display_width(row[i]));
    }
  };
  widen(header);
  std::ranges::for_each(rows, widen);
  return result;
}

std::string line(const std::vector<std::string> &row, const std::vector<std::size_t> &width) {
  std::string result;
  for (std::size_t i = 0; i < row.size(); ++i) {
    result += i == 0 ? left_aligned(row[i], width[i]) : "  " + right_aligned(row[i], width[i]);
  }
  result.erase(result.find_last_not_of(' ') + 1);
  return result + '\n';
}

} // namespace

std::string Table::text() const {
  const auto width = widths(header_, rows_);
  std::string result;
  if (!header_.empty()) {
    std::vector<std::string> underline;
    for (const std::size_t columns : width) {
      underline.push_back(repeated("─", columns));
    }
    result = line(header_, width) + line(underline, width);
  }
  for (const auto &row : rows_) {
    result += line(row, width);
  }
  return result;
}

} // namespace duplex::report
