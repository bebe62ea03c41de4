#include <duplex/torch/captured.hpp>

#include <duplex/core/error.hpp>

#if DUPLEX_TORCH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <mutex>
#include <optional>
#endif

namespace duplex {

#if DUPLEX_TORCH_CUDA

struct LaunchGraph::Impl {
  c10::DeviceIndex device = 0;
  std::optional<c10::cuda::CUDAStream> side;
  std::unique_ptr<at::cuda::CUDAGraph> graph;

  /// Work on the side stream, ordered after and before that of the current one. One at a time in a process: streams
  /// come from a pool, and a capture would record what another run launches on its stream.
  template <class Work> void beside(const Work &work) {
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    const c10::cuda::CUDAGuard on_device(device);
    if (!side) {
      side = c10::cuda::getStreamFromPool(false, device);
    }
    c10::cuda::getCurrentCUDAStream(device).synchronize();
    {
      const c10::cuda::CUDAStreamGuard guard(*side);
      work();
    }
    side->synchronize();
  }

  /// Ends a capture that failed, so that its stream and the allocator are as before.
  void abandon(const c10::cuda::MempoolId_t &pool) {
    try {
      graph->capture_end();
    } catch (const c10::Error &) { // ended, but invalid; the allocator may still be told to use the graph's pool
      try {
        c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool);
      } catch (const c10::Error &) { // it was not
      }
    }
    graph.reset();
    (void)cudaGetLastError(); // what was refused is no error of what comes next
  }
};

LaunchGraph::LaunchGraph(const Tensors &variables) : impl_(std::make_unique<Impl>()) {
  if (supports(variables)) {
    impl_->device = variables[0].device().index();
  }
}

bool LaunchGraph::supports(const Tensors &variables) { return !variables.empty() && variables[0].is_cuda(); }

void LaunchGraph::warm_up(const std::function<void()> &work) { impl_->beside(work); }

void LaunchGraph::capture(const std::function<void()> &work) {
  std::exception_ptr failure;
  impl_->beside([&] {
    impl_->graph = std::make_unique<at::cuda::CUDAGraph>();
    const auto pool = at::cuda::graph_pool_handle();
    try {
      impl_->graph->capture_begin(pool);
      work();
      impl_->graph->capture_end();
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {
      impl_->abandon(pool);
    }
  });
  if (failure) {
    std::rethrow_exception(failure);
  }
}

bool LaunchGraph::captured() const { return impl_->graph != nullptr; }

void LaunchGraph::replay() {
  const c10::cuda::CUDAGuard on_device(impl_->device);
  impl_->graph->replay();
}

#else

struct LaunchGraph::Impl {};

namespace {

[[noreturn]] void refuse() { throw NotAvailable("CUDA graphs need a LibTorch with CUDA"); }

} // namespace

LaunchGraph::LaunchGraph(const Tensors & /*variables*/) {}
bool LaunchGraph::supports(const Tensors & /*variables*/) { return false; }
void LaunchGraph::warm_up(const std::function<void()> & /*work*/) { refuse(); }
void LaunchGraph::capture(const std::function<void()> & /*work*/) { refuse(); }
bool LaunchGraph::captured() const { return false; }
void LaunchGraph::replay() { refuse(); }

#endif

LaunchGraph::LaunchGraph(LaunchGraph &&) noexcept = default;
LaunchGraph &LaunchGraph::operator=(LaunchGraph &&) noexcept = default;
LaunchGraph::~LaunchGraph() = default;

} // namespace duplex
