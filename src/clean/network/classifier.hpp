#pragma once
// The network as cleaning's classifier.

#include "clean/network.hpp"

namespace duplex::clean {

/// Throws InvalidInput where there is no such device.
[[nodiscard]] std::unique_ptr<Classifier> make_network(const NetworkSettings &settings);

void require_network_device(const std::string &name);

} // namespace duplex::clean
