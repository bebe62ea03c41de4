#pragma once
// One reader for each format. All throw InvalidInput.

#include "data/dataset.hpp"
#include "data/source.hpp"

namespace duplex::data {

[[nodiscard]] Dataset read_csv(ByteSource &source, const ReadOptions &options);
[[nodiscard]] Dataset read_libsvm(ByteSource &source, const ReadOptions &options);
/// Features from a NumPy or IDX array, labels from another one or, where that is null, none.
[[nodiscard]] Dataset read_arrays(ByteSource &features, ByteSource *labels, const ReadOptions &options);

enum class Format : std::uint8_t { csv, libsvm, npy, idx };

/// By the first bytes where they tell, else by the extension. Throws InvalidInput where neither does.
[[nodiscard]] Format format_of(const std::filesystem::path &file, std::string_view first_bytes);
inline constexpr std::size_t bytes_that_tell_the_format = 6;

} // namespace duplex::data
