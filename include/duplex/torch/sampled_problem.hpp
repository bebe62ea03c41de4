#pragma once
// A problem from two losses of tensors that see a sample, drawn anew for every step: F(x, y, sample), f(x, y, sample).
//
//   SampledTensorProblem problem(
//       [=](auto &x, auto &y, auto &sample) { return loss(trusted, y[0]); },
//       [=](auto &x, auto &y, auto &sample) {
//         return (x[0].index_select(0, sample[0]).sigmoid() * losses(images.index_select(0, sample[0]), y[0])).mean();
//       },
//       [=](std::mt19937_64 &generator) { return std::vector<at::Tensor>{random_rows(generator, 64, images.size(0))};
//       }, Tensors({x0}), Tensors({y0}));
//
// A sample is put into the same memory, on the device of x and y, at every step, outside of what a CUDA graph records:
// captured steps see the new sample. Hence its shapes stay.

#include <duplex/problem/stochastic.hpp>
#include <duplex/torch/tensor_problem.hpp>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace duplex {

/// One number from the variables and a sample, which is not to be changed.
using SampledLoss = std::function<at::Tensor(std::vector<at::Tensor> &x, std::vector<at::Tensor> &y,
                                             const std::vector<at::Tensor> &sample)>;

/// A sample: tensors of any type, such as rows by their numbers. All of its randomness comes from the generator, and
/// several threads may call it at once.
using TensorDraw = std::function<std::vector<at::Tensor>(std::mt19937_64 &generator)>;

class SampledTensorProblem {
public:
  using Vector = Tensors;
  using Draw = std::vector<at::Tensor>;
  using Evaluation = TensorProblem::Evaluation;

  /// Draws once, and evaluates there as TensorProblem does. Throws InvalidInput as it does, and where the draw gives no
  /// tensors.
  SampledTensorProblem(SampledLoss upper, SampledLoss lower, TensorDraw draw, const Tensors &x, const Tensors &y);

  /// Throws InvalidInput where the tensors differ in number, shape or type from those of the first draw.
  void draw(std::mt19937_64 &generator, Draw &sample) const;

  [[nodiscard]] Evaluation lower(const Draw &sample) const;
  [[nodiscard]] Evaluation upper(const Draw &sample) const;
  Evaluation lower(Draw &&sample) const = delete; // the sample is borrowed
  Evaluation upper(Draw &&sample) const = delete;
  [[nodiscard]] Index x_size() const { return first_.x_size(); }
  [[nodiscard]] Index y_size() const { return first_.y_size(); }
  [[nodiscard]] State<Tensors> start() const { return first_.start(); }
  void check_start(const State<Tensors> &state) const { first_.check_start(state); }

private:
  SampledLoss upper_;
  SampledLoss lower_;
  TensorDraw draw_;
  at::Device device_;
  Draw first_sample_;
  TensorProblem first_; ///< on the first sample
};

static_assert(StochasticProblem<SampledTensorProblem> && AggregatedProblem<Drawn<SampledTensorProblem>>);

/// The numbers of so many rows out of `of`, none twice, on the CPU.
[[nodiscard]] at::Tensor random_rows(std::mt19937_64 &generator, std::int64_t count, std::int64_t of);

} // namespace duplex
