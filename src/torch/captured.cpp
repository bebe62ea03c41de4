#include <duplex/torch/captured.hpp>

#include <duplex/error.hpp>

#if DUPLEX_TORCH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace duplex {

#if DUPLEX_TORCH_CUDA

struct LaunchGraph::Impl {
  at::cuda::CUDAGraph graph;
};

bool LaunchGraph::supports(const Tensors &variables) { return !variables.empty() && variables[0].is_cuda(); }

namespace {

/// Work on a side stream, ordered after and before that of the current one.
template <class Work> void on_side_stream(const Work &work) {
  static const auto side = at::cuda::getStreamFromPool();
  const auto here = at::cuda::getCurrentCUDAStream();
  here.synchronize();
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    work();
  }
  side.synchronize();
}

} // namespace

void LaunchGraph::warm_up(const std::function<void()> &work) { on_side_stream(work); }

void LaunchGraph::capture(const std::function<void()> &work) {
  impl_ = std::make_unique<Impl>();
  on_side_stream([&] {
    impl_->graph.capture_begin();
    work();
    impl_->graph.capture_end();
  });
}

void LaunchGraph::replay() { impl_->graph.replay(); }

#else

struct LaunchGraph::Impl {};

namespace {

[[noreturn]] void refuse() { throw NotAvailable("CUDA graphs need a LibTorch with CUDA"); }

} // namespace

bool LaunchGraph::supports(const Tensors & /*variables*/) { return false; }
void LaunchGraph::warm_up(const std::function<void()> & /*work*/) { refuse(); }
void LaunchGraph::capture(const std::function<void()> & /*work*/) { refuse(); }
void LaunchGraph::replay() { refuse(); }

#endif

LaunchGraph::LaunchGraph() = default;
LaunchGraph::LaunchGraph(LaunchGraph &&) noexcept = default;
LaunchGraph &LaunchGraph::operator=(LaunchGraph &&) noexcept = default;
LaunchGraph::~LaunchGraph() = default;

} // namespace duplex
