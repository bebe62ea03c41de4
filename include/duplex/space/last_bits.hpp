#pragma once
// The same point but for the last bits of its entries: what is computed there differs by what rounding does.

#include <duplex/space/space.hpp>

#include <cstdint>
#include <random>

namespace duplex {

inline constexpr std::uint64_t usual_last_bits = 8;

/// Each entry by one up to `most` units in its last place, so that none changes its sign or leaves a domain. Backends
/// other than Eigen move all entries by the same part.
template <VectorSpace V, std::uniform_random_bit_generator Generator>
void change_last_bits(const V &from, Generator &generator, V &to, std::uint64_t most = usual_last_bits) {
  const auto units = [&] {
    const std::uint64_t drawn = generator() % (2 * most);
    return drawn < most ? static_cast<double>(drawn + 1) : -static_cast<double>(drawn - most + 1);
  };
  assign(from, to);
  if constexpr (EigenVector<V>) {
    for (auto &entry : to) {
      entry *= static_cast<typename V::Scalar>(1.0 + units() * precision(from));
    }
  } else {
    scale(1.0 + units() * precision(from), to);
  }
}

} // namespace duplex
