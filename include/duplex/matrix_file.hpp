#pragma once
// A matrix from a text file: one row a line, numbers separated by commas, blanks
// or tabs; empty lines and lines that start with '#' are passed over.

#include <duplex/error.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace duplex {

namespace detail {

inline void read_matrix_row(const std::string &path, std::size_t line_number, std::string_view line,
                            std::vector<double> &row) {
  constexpr std::string_view separators = " \t\r,;";
  row.clear();
  for (std::size_t begin = line.find_first_not_of(separators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
    const std::string_view text = line.substr(begin, end - begin);
    const std::string_view digits = text.front() == '+' ? text.substr(1) : text;
    double value = 0.0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || stop != digits.data() + digits.size()) {
      throw InvalidInput(path + ":" + std::to_string(line_number) + ": found '" + std::string(text) +
                         "', expected a number");
    }
    row.push_back(value);
    begin = line.find_first_not_of(separators, end);
  }
}

} // namespace detail

/// Throws InvalidInput with file and line where the file is not such a matrix.
[[nodiscard]] inline Eigen::MatrixXd read_matrix_file(const std::string &path) {
  std::ifstream file(path);
  if (!file) {
    throw InvalidInput(path + ": cannot be opened for reading");
  }
  std::vector<double> entries;
  std::vector<double> row;
  std::size_t columns = 0;
  std::size_t rows = 0;
  std::string line;
  for (std::size_t line_number = 1; std::getline(file, line); ++line_number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#') {
      continue;
    }
    detail::read_matrix_row(path, line_number, line, row);
    if (row.empty()) {
      throw InvalidInput(path + ":" + std::to_string(line_number) + ": found only separators, expected numbers");
    }
    if (rows > 0 && row.size() != columns) {
      throw InvalidInput(path + ":" + std::to_string(line_number) + ": " + std::to_string(row.size()) +
                         " numbers, expected " + std::to_string(columns) + " as in the rows before");
    }
    columns = row.size();
    ++rows;
    entries.insert(entries.end(), row.begin(), row.end());
  }
  if (rows == 0) {
    throw InvalidInput(path + ": holds no numbers, expected a matrix with one row a line");
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(entries.data(), static_cast<Eigen::Index>(rows),
                                    static_cast<Eigen::Index>(columns));
}

} // namespace duplex
