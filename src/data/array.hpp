#pragma once
// Arrays of numbers as NumPy and IDX files hold them: a header that says type and shape, then
// the elements, last index fastest.

#include "data/labels.hpp"
#include "data/source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::data {

enum class ElementKind : std::uint8_t { unsigned_whole, signed_whole, floating, utf32_text, byte_text };

struct ArrayHeader {
  std::string type; ///< as the file says it
  ElementKind kind = ElementKind::unsigned_whole;
  std::size_t item_bytes = 1;
  bool swapped = false; ///< bytes lie in the other order than this machine's
  std::vector<std::uint64_t> shape;
  std::uint64_t header_bytes = 0;

  [[nodiscard]] std::uint64_t rows() const { return shape.front(); }
  /// Elements of one row; `most_row_elements` where there are that many or more.
  [[nodiscard]] std::uint64_t row_elements() const;
  static constexpr std::uint64_t most_row_elements = std::uint64_t{1} << 40U;
  [[nodiscard]] std::string shape_text() const;
};

/// Reads a header and leaves the source at the first element. Throw InvalidInput where it is not a header, or
/// where it promises another number of bytes than the file holds.
[[nodiscard]] ArrayHeader read_npy_header(ByteSource &source);
[[nodiscard]] ArrayHeader read_idx_header(ByteSource &source);

/// The next bytes of a header. Throws InvalidInput where the file ends before.
[[nodiscard]] std::string take_header(ByteSource &source, std::size_t count, std::string_view expected);

/// N×H×W and N×H×W×C with one or three channels are images.
[[nodiscard]] std::optional<ImageShape> image_of(const ArrayHeader &header);

/// Rows of all dimensions but the first: bytes stay bytes, float16 stays float16, all else becomes float32.
[[nodiscard]] FeatureTable read_features(ByteSource &source, const ArrayHeader &header, const ReadOptions &options);

/// One label a row.
void read_labels(ByteSource &source, const ArrayHeader &header, LabelCollector &labels);

/// Throws InvalidInput unless the source ends here.
void require_end(ByteSource &source);

} // namespace duplex::data
