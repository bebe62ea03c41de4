#pragma once
// Samples by features, row after row, in as few bytes as hold them exactly or as the
// user asks: a pass over the data is bound by its bytes. The value of feature j is
//
//   shift_j + scale_j · stored,      or what is stored where there is no scaling.
//
// A sparse table holds the entries that are not zero, row after row with their columns (CSR). It has no scaling but
// what is multiplied into its entries: a shift would fill it.
//
// A dense table grows in place (realloc), so that reading a file of unknown length needs no
// second copy of it.

#include <duplex/space/space.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace duplex {

enum class Storage : std::uint8_t { float32, float16, byte, sparse };

/// Of a feature; of a sparse table, of an entry: its value and its column.
[[nodiscard]] constexpr std::size_t bytes_of(Storage storage) {
  return storage == Storage::sparse ? 8 : storage == Storage::float32 ? 4 : storage == Storage::float16 ? 2 : 1;
}

/// What a sparse table is made of. Row i has the entries from ends[i − 1] (0 for the first) up to ends[i].
struct SparseEntries {
  std::vector<std::size_t> ends;
  std::vector<std::uint32_t> columns; ///< from 0, ascending within a row
  std::vector<float> values;
};

/// One row of it.
struct SparseRow {
  std::span<const std::uint32_t> columns;
  std::span<const float> values;
};

class FeatureTable {
public:
  /// An empty table of rows to come. Throws InvalidInput unless columns >= 1.
  FeatureTable(Storage storage, Index columns);
  /// A sparse table. Throws InvalidInput where the entries are not in order or not within the columns.
  FeatureTable(SparseEntries entries, Index columns);
  FeatureTable(FeatureTable &&) noexcept = default;
  FeatureTable &operator=(FeatureTable &&) noexcept = default;
  FeatureTable &operator=(const FeatureTable &) = delete;
  ~FeatureTable() = default;

  [[nodiscard]] Storage storage() const { return storage_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Of a dense table.
  [[nodiscard]] const std::byte *data() const { return row(0); }

  [[nodiscard]] bool is_sparse() const { return storage_ == Storage::sparse; }
  /// Values that are kept: rows × columns of a dense table.
  [[nodiscard]] std::size_t entries() const;
  /// Of a sparse table.
  [[nodiscard]] SparseRow sparse_row(Index row) const {
    const std::size_t at = static_cast<std::size_t>(first_ + row);
    const std::size_t begin = at == 0 ? 0 : sparse_->ends[at - 1];
    const std::size_t count = sparse_->ends[at] - begin;
    return {{sparse_->columns.data() + begin, count}, {sparse_->values.data() + begin, count}};
  }
  /// The bytes that hold its values and where they are, piece by piece: for checksums.
  [[nodiscard]] std::vector<std::span<const std::byte>> memory() const;
  /// Sum of a row's squared values.
  [[nodiscard]] double squared_length(Index row) const;

  /// Room for that many rows in all; throws std::bad_alloc where there is none.
  void reserve(Index rows);
  /// Gives back what was reserved and not used.
  void shrink();
  /// Appends whole rows of values as they are stored. Throws InvalidInput where they are not that; so does
  /// whatever changes a table whose memory a slice shares.
  void append(std::span<const float> rows);        ///< storage must be float32
  void append(std::span<const std::uint8_t> rows); ///< storage must be byte
  /// Appends whole rows that the caller fills, as they are stored.
  [[nodiscard]] std::byte *append_rows(Index rows);

  /// What is stored, without the scaling.
  [[nodiscard]] float stored(Index row, Index column) const;
  [[nodiscard]] float value(Index row, Index column) const;

  /// Empty where values are as stored.
  [[nodiscard]] const std::vector<float> &scale() const { return scale_; }
  [[nodiscard]] const std::vector<float> &shift() const { return shift_; }
  /// One number per column each, or both empty.
  void set_scaling(std::vector<float> scale, std::vector<float> shift);
  /// Rewrites float32 rows as shift_j + scale_j·stored, so that no scaling is left to do; of a sparse table,
  /// scale_j·stored where every shift is zero. Throws InvalidInput otherwise.
  void apply_scaling(std::span<const float> scale, std::span<const float> shift);

  /// The rows first … first + count − 1, sharing the memory: neither may grow or change while both live.
  [[nodiscard]] FeatureTable slice(Index first, Index count) const;
  /// A table of its own with these rows, in this order.
  [[nodiscard]] FeatureTable gather(std::span<const Index> rows) const;
  /// Row i becomes what row order[i] was, in place; order is a permutation.
  void reorder(std::span<const Index> order);

  /// float32 → byte, in place, where every value is a whole number in 0..255; says whether it was.
  bool store_as_bytes_if_exact();
  /// float32 → float16, in place, rounding to nearest. Throws InvalidInput where a value is too large for it.
  void store_as_half();
  /// float32 → sparse: the values that are not zero.
  void store_as_sparse();
  /// sparse → float32.
  void store_as_dense();

private:
  FeatureTable(const FeatureTable &) = default; // shares the memory: for slice() alone
  [[nodiscard]] std::size_t row_bytes() const { return bytes_of(storage_) * static_cast<std::size_t>(columns_); }
  struct Memory {
    std::byte *bytes = nullptr;
    Memory() = default;
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory();
  };

  [[nodiscard]] std::byte *row(Index index) const {
    return memory_->bytes + row_bytes() * static_cast<std::size_t>(first_ + index);
  }
  void reallocate(Index rows);
  void require_whole_rows(Storage storage, std::size_t values) const;
  void require_own_memory() const;
  void require_floats() const;
  void require_dense() const;
  [[nodiscard]] float stored_sparsely(Index row, Index column) const;
  void require_permutation(std::span<const Index> order) const;
  Storage storage_;
  Index columns_;
  Index rows_ = 0;
  Index capacity_ = 0;
  Index first_ = 0; ///< of the memory, where this is a slice
  std::shared_ptr<Memory> memory_;
  std::shared_ptr<SparseEntries> sparse_; ///< null where the table is dense
  std::vector<float> scale_;
  std::vector<float> shift_;
};

} // namespace duplex
