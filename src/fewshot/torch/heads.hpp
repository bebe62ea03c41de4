#pragma once
// The heads of many few-shot tasks at once, on features that are given. The features are the upper variable
// x = {shots, queries}, each tasks × samples × D; y = {weights tasks × D × ways, biases tasks × 1 × ways}.
//
//   f = Σ_j mean CE on the shots of task j,    F = Σ_j mean CE on its queries
//
// Both fall apart into tasks, so that one step moves every head as if it were alone. The direction that a solver finds
// is the hypergradient in the features; one backward pass through whatever made them gives that of the features' own
// parameters.

#include <duplex/problem/problem.hpp>
#include <duplex/torch/tensors.hpp>

#include <utility>

namespace duplex::fewshot {

class Heads {
public:
  using Vector = Tensors;

  /// Features, and for each set a one where a sample's label is: tasks × samples × ways. Keeps their memory.
  Heads(Tensors features, at::Tensor shots_wanted, at::Tensor queries_wanted)
      : features_(std::move(features)), shots_wanted_(std::move(shots_wanted)),
        queries_wanted_(std::move(queries_wanted)) {}

  /// One level: cross-entropy of the heads on one of the two sets.
  class Level {
  public:
    Level(at::Tensor wanted, std::size_t set)
        : wanted_(std::move(wanted)), set_(set), weight_(1.0 / static_cast<double>(wanted_.size(1))) {}
    void at(const Tensors &x, const Tensors &y);
    [[nodiscard]] double value();
    void grad_x(Tensors &out);
    void grad_y(Tensors &out);
    void hess_yy(const Tensors &v, Tensors &out);
    void cross_xy(const Tensors &v, Tensors &out);

  private:
    [[nodiscard]] const at::Tensor &features() const { return (*x_)[set_]; }
    const at::Tensor &probabilities();
    const at::Tensor &residual();
    [[nodiscard]] at::Tensor curved(const Tensors &v);
    void write_y(const at::Tensor &slopes, Tensors &out);
    void write_x(const at::Tensor &derivative, Tensors &out);

    at::Tensor wanted_; ///< one where the label is
    std::size_t set_;
    double weight_; ///< of a sample
    const Tensors *x_ = nullptr;
    const Tensors *y_ = nullptr;
    at::Tensor probabilities_;
    at::Tensor residual_;
  };

  [[nodiscard]] Level lower() const;
  [[nodiscard]] Level upper() const;
  [[nodiscard]] Index x_size() const { return size(features_); }
  [[nodiscard]] Index y_size() const;
  /// Heads at zero.
  [[nodiscard]] State<Tensors> start() const;

private:
  Tensors features_;
  at::Tensor shots_wanted_;
  at::Tensor queries_wanted_;
};

/// Σ_j mean CE of task j's head on its samples.
[[nodiscard]] at::Tensor cross_entropy(const at::Tensor &features, const std::vector<at::Tensor> &heads,
                                       const at::Tensor &wanted);

/// The way that each sample most probably is of, tasks × samples.
[[nodiscard]] at::Tensor predictions(const at::Tensor &features, const Tensors &heads);

static_assert(AggregatedProblem<Heads> && StartedProblem<Heads>);

} // namespace duplex::fewshot
