#pragma once
// Hyper-cleaning problems to measure: FashionMNIST from a folder of .npy files, and synthetic samples of any size.

#include <duplex/methods/bagdc.hpp>
#include <duplex/problems/hyper_cleaning.hpp>

#include <cstdint>
#include <string>

namespace duplex::bench {

inline constexpr Bagdc cleaning_constant_eta{.alpha = 3000.0, .beta = 0.3, .eta = 0.3, .dual = DualStep::constant};
inline constexpr Bagdc cleaning_adaptive_eta{.alpha = 3000.0, .beta = 0.3, .dual = DualStep::adaptive};
inline constexpr Bagdc cleaning_general{
    .alpha = 3000.0, .beta = 0.3, .eta = 0.3, .dual = DualStep::constant, .fused = false};

/// training.npy and trusted.npy with pixels as bytes, training_labels.npy and trusted_labels.npy, in the folder that
/// the environment's DUPLEX_BENCH_DATA names. Features are pixels/255, stored as asked; read once and kept. Throws
/// InvalidInput where there is no such folder.
[[nodiscard]] HyperCleaning<float> fashion_mnist(Storage storage, int threads);

struct SyntheticSize {
  Index training;
  Index trusted;
  Index features;
  Index classes;
};

/// Pixels without meaning, labels in turn.
[[nodiscard]] HyperCleaning<float> synthetic_cleaning(const SyntheticSize &size, Storage storage, int threads);

/// Features of both parts, as they are stored.
[[nodiscard]] double stored_bytes(const HyperCleaning<float> &problem);

} // namespace duplex::bench
