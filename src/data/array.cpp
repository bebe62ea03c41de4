#include "data/array.hpp"

#include "data/limits.hpp"
#include "data/readers.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace duplex::data {
namespace {

ArrayHeader read_header(ByteSource &source) {
  ArrayHeader header =
      source.peek(2) == std::string_view("\0\0", 2) ? read_idx_header(source) : read_npy_header(source);
  if (header.shape.empty() || header.rows() == 0 || header.row_elements() == 0) {
    throw InvalidInput(fmt::format("{}: the header says shape {}, expected at least one row and one column",
                                   source.name(), header.shape_text()));
  }
  std::uint64_t row_bytes = 0;
  std::uint64_t promised = 0;
  if (__builtin_mul_overflow(header.row_elements(), header.item_bytes, &row_bytes) ||
      __builtin_mul_overflow(row_bytes, header.rows(), &promised)) {
    promised = std::numeric_limits<std::uint64_t>::max();
  }
  const std::uint64_t held = source.size() ? *source.size() - header.header_bytes : promised;
  if (held != promised) {
    throw InvalidInput(fmt::format("{}: the header promises shape {} of {}, {} bytes; found {} bytes", source.name(),
                                   header.shape_text(), header.type, promised, held));
  }
  return header;
}

} // namespace

std::string take_header(ByteSource &source, std::size_t count, std::string_view expected) {
  std::string bytes(count, '\0');
  if (source.read(bytes) < count) {
    throw InvalidInput(
        fmt::format("{}: ends inside the header, expected {}: the file is truncated", source.name(), expected));
  }
  return bytes;
}

std::uint64_t ArrayHeader::row_elements() const {
  std::uint64_t product = 1;
  for (auto size = shape.begin() + 1; size != shape.end(); ++size) {
    if (*size == 0) {
      return 0;
    }
    product = *size >= most_row_elements ? most_row_elements : std::min(product * *size, most_row_elements);
  }
  return product;
}

std::string ArrayHeader::shape_text() const {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::optional<ImageShape> image_of(const ArrayHeader &header) {
  const auto &shape = header.shape;
  const bool grey = shape.size() == 3;
  const bool with_channels = shape.size() == 4 && (shape[3] == 1 || shape[3] == 3);
  if (!grey && !with_channels) {
    return std::nullopt;
  }
  return ImageShape{.width = static_cast<Index>(shape[2]),
                    .height = static_cast<Index>(shape[1]),
                    .channels = grey ? 1 : static_cast<Index>(shape[3])};
}

void require_end(ByteSource &source) {
  char extra = 0;
  if (source.read({&extra, 1}) != 0) {
    throw InvalidInput(fmt::format("{}: found more bytes than the header promises, expected the end", source.name()));
  }
}

Dataset read_arrays(ByteSource &features, ByteSource *labels, const ReadOptions &options) {
  Dataset dataset;
  dataset.source = features.name();
  const ArrayHeader header = read_header(features);
  if (header.shape.size() < 2) {
    throw InvalidInput(
        fmt::format("{}: the features have shape {}, expected rows and columns", features.name(), header.shape_text()));
  }
  if (labels != nullptr) {
    LabelCollector collector;
    const ArrayHeader label_header = read_header(*labels);
    if (label_header.row_elements() != 1) {
      throw InvalidInput(fmt::format("{}: the labels have shape {}, expected one label a row", labels->name(),
                                     label_header.shape_text()));
    }
    if (label_header.rows() != header.rows()) {
      throw InvalidInput(fmt::format("{}: found {} labels, expected {} as there are rows in {}", labels->name(),
                                     label_header.rows(), header.rows(), features.name()));
    }
    read_labels(*labels, label_header, collector);
    collector.finish(dataset);
  }
  dataset.features = read_features(features, header, options);
  dataset.image = image_of(header);
  return dataset;
}

} // namespace duplex::data
