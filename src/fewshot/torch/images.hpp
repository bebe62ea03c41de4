#pragma once
// Where a training is done, and the images that it is done on.

#include "fewshot/settings.hpp"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <string>

namespace duplex::fewshot {

/// A device by its name, which may be "auto". Throws InvalidInput where there is no such device.
[[nodiscard]] at::Device chosen_device(const std::string &name);

/// Writes the device and the number of threads that were left to be chosen into the settings, so that a run that goes
/// on does not find itself elsewhere, and gets LibTorch ready for them.
[[nodiscard]] at::Device ready_device(Settings &settings);

/// DoubleMNIST on the device, classes · images × 64 · 64 bytes. The last ones made are kept, since a race trains on the
/// same ones again and again. `reads` is called with every file of the data.
[[nodiscard]] at::Tensor double_mnist_on(const at::Device &device, const Settings &settings,
                                         const std::function<void(const std::filesystem::path &file)> &reads);

} // namespace duplex::fewshot
