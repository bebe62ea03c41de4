#include "fewshot/torch/images.hpp"

#include "data/double_mnist.hpp"

#include <duplex/torch/tensors.hpp>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <malloc.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <thread>

namespace duplex::fewshot {

namespace {

/// A step frees and asks again for the same hundreds of megabytes; giving them back to the system in between costs
/// more time than the arithmetic.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int all = std::numeric_limits<int>::max();
  (void)mallopt(M_MMAP_THRESHOLD, all);
  (void)mallopt(M_TRIM_THRESHOLD, all);
#endif
}

} // namespace

at::Device chosen_device(const std::string &name) {
  if (name == "auto") {
    return at::hasCUDA() ? device_named("cuda") : at::Device(at::kCPU);
  }
  return device_named(name);
}

at::Device ready_device(Settings &settings) {
  const auto device = chosen_device(settings.device);
  settings.device = device.str();
  if (settings.threads == 0) {
    settings.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  at::set_num_threads(settings.threads);
  if (device.is_cpu()) {
    keep_freed_memory();
  }
  at::globalContext().setBenchmarkCuDNN(true);
  return device;
}

at::Tensor double_mnist_on(const at::Device &device, const Settings &settings,
                           const std::function<void(const std::filesystem::path &file)> &reads) {
  struct Made {
    std::string folder;
    std::int64_t images_per_class = 0;
    at::Tensor images;
  };
  static std::mutex one_at_a_time;
  static Made last;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  if (!last.images.defined() || last.images.device() != device || last.folder != settings.mnist ||
      last.images_per_class != settings.images_per_class) {
    auto made = data::make_double_mnist(
        {.folder = settings.mnist, .images_per_class = settings.images_per_class, .reading = {.opened = reads}});
    const auto count = data::DoubleMnist::classes * made.images_per_class;
    const auto on_host = at::from_blob(made.bytes.data(), {count, data::DoubleMnist::pixels}, at::kByte);
    last = {settings.mnist, settings.images_per_class, on_host.to(device, at::kByte, false, true)};
  }
  return last.images;
}

} // namespace duplex::fewshot
