#include <duplex/torch/sampled_problem.hpp>

#include <duplex/core/random.hpp>
#include <duplex/torch/memory.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

namespace duplex {

namespace {

/// Throws InvalidInput, with the tensor's number, unless the draw gives what the first one gave (where there was one).
void require_like_first(const std::vector<at::Tensor> &drawn, const std::vector<at::Tensor> &first) {
  const auto text = [](const at::Tensor &tensor) {
    std::ostringstream out;
    out << tensor.sizes() << " of " << tensor.scalar_type();
    return out.str();
  };
  if (drawn.empty()) {
    throw InvalidInput("draw: gives no tensors, expected at least one");
  }
  if (!first.empty() && drawn.size() != first.size()) {
    throw InvalidInput("draw: gives " + std::to_string(drawn.size()) + " tensors, the first draw gave " +
                       std::to_string(first.size()));
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const std::string name = "draw: tensor " + std::to_string(i);
    if (!drawn[i].defined()) {
      throw InvalidInput(name + " is undefined, expected numbers");
    }
    if (!first.empty() && (drawn[i].sizes() != first[i].sizes() || drawn[i].scalar_type() != first[i].scalar_type())) {
      throw InvalidInput(name + " is " + text(drawn[i]) + ", in the first draw it was " + text(first[i]) +
                         "; expected samples of one shape and type");
    }
  }
}

/// What the draw gives, checked, and its own errors without LibTorch's stack.
std::vector<at::Tensor> drawn_by(const TensorDraw &draw, std::mt19937_64 &generator,
                                 const std::vector<at::Tensor> &first) {
  return explaining("draw", [&] {
    auto drawn = draw(generator);
    require_like_first(drawn, first);
    return drawn;
  });
}

/// Memory of its own on the device.
std::vector<at::Tensor> placed(const std::vector<at::Tensor> &drawn, const at::Device &device) {
  std::vector<at::Tensor> sample;
  sample.reserve(drawn.size());
  for (const auto &tensor : drawn) {
    sample.push_back(tensor.detach().to(device, tensor.scalar_type(), false, true).contiguous());
  }
  return sample;
}

std::vector<at::Tensor> first_sample(const TensorDraw &draw, const at::Device &device) {
  std::mt19937_64 generator; // NOLINT(cert-msc32-c,cert-msc51-cpp): any sample shows shapes
  return placed(drawn_by(draw, generator, {}), device);
}

/// The loss on a sample that is borrowed.
TensorLoss on_sample(const SampledLoss &loss, const std::vector<at::Tensor> &sample) {
  return [loss, &sample](std::vector<at::Tensor> &x, std::vector<at::Tensor> &y) { return loss(x, y, sample); };
}

/// The same on a sample of its own.
TensorLoss with_sample(const SampledLoss &loss, const std::vector<at::Tensor> &sample) {
  return [loss, sample](std::vector<at::Tensor> &x, std::vector<at::Tensor> &y) { return loss(x, y, sample); };
}

at::Device device_of(const Tensors &variables) {
  return variables.empty() ? at::Device(at::kCPU) : variables[0].device();
}

} // namespace

SampledTensorProblem::SampledTensorProblem(SampledLoss upper, SampledLoss lower, TensorDraw draw, const Tensors &x,
                                           const Tensors &y)
    : upper_(std::move(upper)), lower_(std::move(lower)), draw_(std::move(draw)), device_(device_of(x)),
      first_sample_(first_sample(draw_, device_)),
      first_(with_sample(upper_, first_sample_), with_sample(lower_, first_sample_), x, y) {}

void SampledTensorProblem::draw(std::mt19937_64 &generator, Draw &sample) const {
  const c10::NoGradGuard no_graph;
  const auto drawn = drawn_by(draw_, generator, first_sample_);
  if (sample.empty()) {
    sample = explaining("draw", [&] { return placed(drawn, device_); });
    return;
  }
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample[i].copy_(drawn[i]);
  }
}

TensorProblem::Evaluation SampledTensorProblem::lower(const Draw &sample) const {
  return {on_sample(lower_, sample), TensorProblem::Level::lower};
}

TensorProblem::Evaluation SampledTensorProblem::upper(const Draw &sample) const {
  return {on_sample(upper_, sample), TensorProblem::Level::upper};
}

at::Tensor random_rows(std::mt19937_64 &generator, std::int64_t count, std::int64_t of) {
  if (count < 1 || count > of) {
    throw InvalidInput("random_rows: " + std::to_string(count) + " of " + std::to_string(of) +
                       " rows, expected at least one and not more than there are");
  }
  const auto rows =
      draw_few_without_repetition(generator, static_cast<std::size_t>(of), static_cast<std::size_t>(count));
  at::Tensor numbers = at::empty({count}, at::kLong);
  std::copy(rows.begin(), rows.end(), numbers.data_ptr<std::int64_t>());
  return numbers;
}

} // namespace duplex
