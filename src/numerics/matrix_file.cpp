#include <duplex/numerics/matrix_file.hpp>

#include <duplex/core/error.hpp>
#include <duplex/core/memory.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace duplex {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view separators = " \t\r,;";

class MatrixText {
public:
  MatrixText(std::string_view text, const std::string &name) : rest_(text), name_(name) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (rest_.starts_with(byte_order_mark)) {
      rest_.remove_prefix(byte_order_mark.size());
    }
  }

  [[nodiscard]] Eigen::MatrixXd parse() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      ++line_;
      take_line(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
    if (rows_ == 0) {
      throw InvalidInput(name_ + ": holds no numbers, expected a matrix with one row a line");
    }
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const RowMajor>(entries_.data(), static_cast<Eigen::Index>(rows_),
                                      static_cast<Eigen::Index>(columns_));
  }

private:
  [[noreturn]] void refuse(const std::string &why) const {
    throw InvalidInput(name_ + ":" + std::to_string(line_) + ": " + why);
  }

  void take_line(std::string_view line) {
    if (line.find_first_not_of(blanks) == std::string_view::npos || line.front() == '#') {
      return;
    }
    const std::size_t before = entries_.size();
    take_row(line);
    const std::size_t count = entries_.size() - before;
    if (rows_ > 0 && count != columns_) {
      refuse(std::to_string(count) + " numbers, expected " + std::to_string(columns_) + " as in the rows before");
    }
    columns_ = count;
    ++rows_;
  }

  /// Blanks separate, and so does one comma or semicolon among them; two in a row would hide a number that is missing.
  void take_row(std::string_view line) {
    const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size())); };
    skip_blanks();
    for (std::size_t cell = 1;; ++cell) {
      const std::size_t length = std::min(line.find_first_of(separators), line.size());
      if (length == 0) {
        refuse("cell " + std::to_string(cell) + " is empty, expected a number");
      }
      entries_.push_back(number(line.substr(0, length)));
      line.remove_prefix(length);
      skip_blanks();
      if (line.empty()) {
        return;
      }
      if (line.front() == ',' || line.front() == ';') {
        line.remove_prefix(1);
        skip_blanks();
      }
    }
  }

  [[nodiscard]] double number(std::string_view text) const {
    constexpr std::size_t shown = 40;
    const std::string_view digits = text.starts_with('+') && !text.starts_with("+-") ? text.substr(1) : text;
    double value = 0.0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range && stop == digits.data() + digits.size()) {
      refuse("found '" + std::string(text.substr(0, shown)) + "', which is too large or too small for a double");
    }
    if (error != std::errc{} || stop != digits.data() + digits.size()) {
      refuse("found '" + std::string(text.substr(0, shown)) + "', expected a number");
    }
    return value;
  }

  std::string_view rest_;
  const std::string &name_;
  std::size_t line_ = 0;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<double> entries_;
};

} // namespace

Eigen::MatrixXd parse_matrix(std::string_view text, const std::string &name) { return MatrixText(text, name).parse(); }

Eigen::MatrixXd read_matrix_file(const std::string &path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw InvalidInput(path + ": is a folder, expected a file");
  }
  if (std::filesystem::is_character_file(path, unknown)) {
    throw InvalidInput(path + ": is a device, expected a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw InvalidInput(path + ": cannot be opened for reading");
  }
  if (const auto bytes = std::filesystem::file_size(path, unknown); !unknown) {
    constexpr double most_bytes_a_byte = 5.0; // the text, and a number for every other byte of it
    require_memory(most_bytes_a_byte * static_cast<double>(bytes), path);
  }
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure &) {
    throw InvalidInput(path + ": cannot be read");
  }
  if (file.bad()) {
    throw InvalidInput(path + ": cannot be read");
  }
  return parse_matrix(text, path);
}

} // namespace duplex
