#include "data/text_reader.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <cstring>

namespace duplex::data {

bool TextReader::more() {
  if (is_full()) {
    return false;
  }
  std::memmove(buffer_.get(), begin(), size());
  last_ -= first_;
  first_ = 0;
  const std::size_t count = source_->read({buffer_.get() + last_, window_ - last_});
  last_ += count;
  return count > 0;
}

void skip_byte_order_mark(TextReader &text) {
  (void)text.at(2);
  const std::string_view start(text.begin(), std::min<std::size_t>(text.size(), 3));
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    throw InvalidInput(fmt::format("{}:1: found UTF-16 text, expected UTF-8", text.name()));
  }
  if (start == "\xEF\xBB\xBF") {
    text.skip(start.size());
  }
  if (text.at(0) < 0) {
    throw InvalidInput(fmt::format("{}: is empty, expected rows of data", text.name()));
  }
}

} // namespace duplex::data
