#include "report/hash.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

namespace duplex::report {

namespace {

std::string digits_of(const XXH128_hash_t &hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

} // namespace

struct Hasher::State {
  XXH3_state_t xxh;
};

std::string hash_of(std::string_view bytes) { return digits_of(XXH3_128bits(bytes.data(), bytes.size())); }

bool is_hash(std::string_view text) {
  constexpr std::size_t digits = 32;
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Hasher::Hasher() : state_(std::make_unique<State>()) { (void)XXH3_128bits_reset(&state_->xxh); }
Hasher::Hasher(Hasher &&) noexcept = default;
Hasher &Hasher::operator=(Hasher &&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::add(std::string_view bytes) { (void)XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()); }

std::uint64_t Hasher::add_file(const std::filesystem::path &file, std::uint64_t most) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw InvalidInput(
        fmt::format("{}: cannot be opened for reading: {}", file.string(), std::generic_category().message(errno)));
  }
  std::uint64_t done = 0;
  std::vector<char> buffer(std::size_t{1} << 20U);
  while (stream && done < most) {
    stream.read(buffer.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(buffer.size(), most - done)));
    const auto count = static_cast<std::size_t>(stream.gcount());
    add({buffer.data(), count});
    done += count;
  }
  if (stream.bad()) {
    throw InvalidInput(fmt::format("{}: cannot be read", file.string()));
  }
  return done;
}

std::string Hasher::hash() const { return digits_of(XXH3_128bits_digest(&state_->xxh)); }

Fingerprint fingerprint_of(std::string_view bytes) { return {bytes.size(), hash_of(bytes)}; }

Fingerprint fingerprint_of_file(const std::filesystem::path &file) {
  Hasher hasher;
  const std::uint64_t bytes = hasher.add_file(file);
  return {bytes, hasher.hash()};
}

} // namespace duplex::report
