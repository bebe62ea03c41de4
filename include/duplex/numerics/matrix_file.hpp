#pragma once
// A matrix from a text file: one row a line, numbers separated by blanks, tabs, or a comma or semicolon each; empty
// lines and lines that start with '#' are passed over, and so is a byte order mark of UTF-8.

#include <Eigen/Core>

#include <string>
#include <string_view>

namespace duplex {

/// Throws InvalidInput, with the name and the line, where the text is not such a matrix.
[[nodiscard]] Eigen::MatrixXd parse_matrix(std::string_view text, const std::string &name);

/// The same of a file. Throws InvalidInput where it cannot be read, too.
[[nodiscard]] Eigen::MatrixXd read_matrix_file(const std::string &path);

} // namespace duplex
