#pragma once
// The classifier D → H ReLU → K on LibTorch, without its headers. Parameters: the hidden layer's H × (D + 1), unit
// after unit, the bias last, then the K × (H + 1) of the classes.

#include "clean/classifier.hpp"

#include <cstdint>
#include <string>

namespace duplex::clean {

struct NetworkSettings {
  Index features = 0;
  Index hidden = 0;
  Index classes = 0;
  double unit = 0.0;          ///< the training samples' mean squared length
  std::string device = "cpu"; ///< or cuda, cuda:N
  int threads = 0;            ///< on the CPU; 0: LibTorch's own choice
  std::uint64_t seed = 0;     ///< of the untrained weights
  const std::atomic<bool> *interrupt = nullptr;
};

/// Throws InvalidInput where there is no such device. Both throw NotAvailable where they are linked without LibTorch.
void require_network_device(const std::string &name);

/// Throws InvalidInput where there is no such device.
[[nodiscard]] std::unique_ptr<Classifier> make_network(const NetworkSettings &settings);

} // namespace duplex::clean
