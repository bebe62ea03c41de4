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

/// What the library of the network offers. It is loaded when it is asked for: LibTorch comes with some three hundred
/// libraries, and starting with them takes half a second.
struct NetworkLibrary {
  /// Throws InvalidInput where there is no such device.
  void (*require_device)(const std::string &name);
  std::unique_ptr<Classifier> (*make)(const NetworkSettings &settings);
};

/// Throws NotAvailable where the tool was built without LibTorch or its library cannot be loaded.
[[nodiscard]] const NetworkLibrary &network_library();

} // namespace duplex::clean
