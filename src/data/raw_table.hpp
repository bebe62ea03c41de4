#pragma once
// The cells of a table as they were read, before it is known what a column is: numbers as they are; what is no number
// is a NaN that tells which missing cell or text it is.

#include "data/dataset.hpp"
#include "data/table_plan.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace duplex::data {

struct CellPlace {
  std::uint64_t line = 0; ///< both from 1
  std::uint64_t column = 0;
};

/// Texts of one column, each once, and how many cells of it are missing.
class ColumnTexts {
public:
  /// Of more texts a column is not one of categories, whatever else it is.
  static constexpr std::uint32_t most = std::uint32_t{1} << 17U;

  /// The number of the text, which is `most` for all that come after so many.
  std::uint32_t add(std::string_view text, CellPlace place);
  void add_missing() { ++missing_; }

  [[nodiscard]] const std::vector<std::string> &texts() const { return texts_; }
  /// Where the text was seen first.
  [[nodiscard]] CellPlace place(std::size_t text) const { return places_[text]; }
  [[nodiscard]] bool has_too_many() const { return has_too_many_; }
  [[nodiscard]] std::uint64_t missing() const { return missing_; }

private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::vector<std::string> texts_;
  std::vector<CellPlace> places_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> known_;
  std::uint64_t missing_ = 0;
  bool has_too_many_ = false;
};

inline constexpr std::uint32_t nan_bits = 0x7FC00000U;

[[nodiscard]] inline float missing_cell() { return std::bit_cast<float>(nan_bits); }
[[nodiscard]] inline float text_cell(std::uint32_t number) { return std::bit_cast<float>(nan_bits + 1 + number); }
[[nodiscard]] inline bool is_number_cell(float cell) { return std::bit_cast<std::uint32_t>(cell) << 1U < 0xFF000000U; }
[[nodiscard]] inline bool is_missing_cell(float cell) { return std::bit_cast<std::uint32_t>(cell) == nan_bits; }
[[nodiscard]] inline std::uint32_t text_of_cell(float cell) {
  return std::bit_cast<std::uint32_t>(cell) - nan_bits - 1;
}

/// Numbers that differ by less than this part of their size are counted from the least: a step of float32 is a
/// thousandth of it.
inline constexpr double narrow_range = 1e-4;

/// Beyond it, differences between numbers may be lost where they are kept as float32.
inline constexpr float large_number = 65536.0F;
/// Of so many columns of large numbers all digits are kept.
inline constexpr std::size_t most_followed_columns = 64;

struct RawTable {
  std::string source;             ///< the file, for messages
  std::vector<std::string> names; ///< of the columns that are read; empty without a header
  std::vector<std::size_t> place; ///< of each in the file, from 0
  std::vector<std::size_t> order; ///< of each among the columns that might be features, from 0
  std::size_t width = 0;          ///< columns of the file that might be features, read or not
  FeatureTable cells{Storage::float32, 1};
  std::unordered_map<std::size_t, ColumnTexts> texts; ///< of columns that are not numbers only
  std::unordered_map<std::size_t, std::vector<double>>
      precise; ///< numbers of columns that float32 may hold too coarsely

  [[nodiscard]] std::size_t columns() const { return place.size(); }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(cells.rows()); }
  [[nodiscard]] const float *row(std::size_t index) const {
    return reinterpret_cast<const float *>(cells.data()) + index * columns();
  }
  [[nodiscard]] float cell(std::size_t at_row, std::size_t column) const { return row(at_row)[column]; }
  /// "'age'" or "column 3", for messages
  [[nodiscard]] std::string shown_name(std::size_t column) const;
  /// "file:7, column 3 ('age')"
  [[nodiscard]] std::string shown_place(std::size_t column, CellPlace at) const;
};

struct ChosenPlan {
  TablePlan plan;
  std::vector<std::size_t> column_of; ///< the table's column that each one of the plan is
};

/// Chooses what each column is, and says in `remarks` which are left out and what is changed. Columns that the options
/// keep are not left out. Throws InvalidInput where a column of numbers holds other texts, or nothing is left.
[[nodiscard]] ChosenPlan choose_plan(const RawTable &table, const ReadOptions &options, std::vector<Remark> &remarks);

/// Of the table by the plan; column_of[i] is the table's column that the plan's i-th is. Says in `remarks` which levels
/// are not known. Throws InvalidInput where a cell does not fit its column.
[[nodiscard]] FeatureTable features_of(RawTable &table, const TablePlan &plan,
                                       const std::vector<std::size_t> &column_of, const ReadOptions &options,
                                       std::vector<Remark> &remarks);

} // namespace duplex::data
