#pragma once
// Content told apart by 128 bits (XXH3), as 32 hexadecimal digits. They find what was changed by accident or by
// mistake, at the speed of the memory; they are no signature.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace duplex::report {

[[nodiscard]] std::string hash_of(std::string_view bytes);

/// Whether the text could be a hash.
[[nodiscard]] bool is_hash(std::string_view text);

/// Of content that comes piece by piece.
class Hasher {
public:
  Hasher();
  Hasher(Hasher &&) noexcept;
  Hasher &operator=(Hasher &&) noexcept;
  ~Hasher();

  void add(std::string_view bytes);
  /// The first bytes of a file, as many as `most` at most; says how many they are. Throws InvalidInput, naming it and
  /// the reason, where it cannot be read.
  std::uint64_t add_file(const std::filesystem::path &file, std::uint64_t most = ~std::uint64_t{0});
  /// Of all so far.
  [[nodiscard]] std::string hash() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Fingerprint {
  std::uint64_t bytes = 0;
  std::string hash = {};

  bool operator==(const Fingerprint &) const = default;
};

[[nodiscard]] Fingerprint fingerprint_of(std::string_view bytes);
/// Of a file. Throws as Hasher::add_file() does.
[[nodiscard]] Fingerprint fingerprint_of_file(const std::filesystem::path &file);

} // namespace duplex::report
