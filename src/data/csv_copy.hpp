#pragma once
// A CSV file again, byte by byte as it was, but for rows that are left out, labels that are changed and columns that
// are added.

#include "data/source.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::data {

struct CopiedRow {
  bool is_left_out = false;
  const std::string *label = nullptr;  ///< in the place of the one that is there; null: that stays
  std::vector<std::string> added = {}; ///< cells behind the others
};

struct CsvCopy {
  bool has_header = false;
  std::size_t label = 0; ///< its column, from 0
  std::size_t rows = 0;  ///< that are expected
  std::vector<std::string> added =
      {}; ///< names of the columns that are added; where one is taken, "duplex_" goes before it
  std::function<CopiedRow(std::size_t row)> change = {};
};

/// Gives the text piece by piece. Throws InvalidInput where the rows are not as many as are expected.
void copy_csv(ByteSource &source, const CsvCopy &copy, const std::function<void(std::string_view)> &write);

} // namespace duplex::data
