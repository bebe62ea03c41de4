#pragma once
// A bilevel problem from two loss functions of tensors, F(x, y) and f(x, y): derivatives by
// automatic differentiation at one point, never through the loop.
//
//   TensorProblem problem(
//       [&](const auto &x, const auto &y) { return cross_entropy_loss(images.mm(y[0]), labels); },
//       [&](const auto &x, const auto &y) { return (x[0].sigmoid() * losses(y[0])).mean(); },
//       Tensors({x0}), Tensors({y0}));
//
// An evaluation keeps its graph: ∇y f, ∇²yy f·v and ∇²xy f·v at one point share one forward and one
// first backward pass. Inputs that a loss does not use have zero derivatives.

#include <duplex/problem/problem.hpp>
#include <duplex/torch/runs.hpp>
#include <duplex/torch/tensors.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace duplex {

/// One number from the variables. A loss may put other leaves of a graph with the same numbers into the lists that it
/// is given, as modules do with their own parameters (duplex/torch/modules.hpp). Copies must not share such leaves:
/// every evaluation has a copy of its own.
using TensorLoss = std::function<at::Tensor(std::vector<at::Tensor> &x, std::vector<at::Tensor> &y)>;

class TensorProblem {
public:
  using Vector = Tensors;

  /// Starts at a copy of x and y, and evaluates there once all that solvers may ask for. Throws InvalidInput, with the
  /// level, where a loss or its gradient is not finite or LibTorch refuses it, where the lower loss does not depend on
  /// y, and where x and y differ in device or type; OutOfMemory where there is no room for an evaluation.
  TensorProblem(TensorLoss upper, TensorLoss lower, const Tensors &x, const Tensors &y);

  enum class Level : std::uint8_t { lower, upper };

  /// What LibTorch refuses in a loss is thrown as InvalidInput with the level, and as OutOfMemory where memory is out.
  class Evaluation : public Point<Tensors> {
  public:
    Evaluation(TensorLoss loss, Level level) : loss_(std::move(loss)), level_(level) {}
    Evaluation(const Evaluation &) = delete; // a copy would share leaves that the other moves
    Evaluation &operator=(const Evaluation &) = delete;
    Evaluation(Evaluation &&) = default;
    Evaluation &operator=(Evaluation &&) = default;
    ~Evaluation() = default;

    using Point<Tensors>::at;
    void at(const Tensors &x, const Tensors &y);
    [[nodiscard]] double value();
    void grad_x(Tensors &out);
    void grad_y(Tensors &out);
    void hess_yy(const Tensors &v, Tensors &out);
    void cross_xy(const Tensors &v, Tensors &out);
    [[nodiscard]] bool depends_on_y();
    /// The graph of a gradient is not kept until a product is asked for.
    void expect_gradients_alone() { products_expected_ = products_asked_ = false; }

  private:
    void forward();
    void backward(bool with_second_order);
    void product(const Tensors &v, const std::vector<at::Tensor> &with, const Tensors &like, Tensors &out);

    TensorLoss loss_;
    Level level_;
    std::vector<at::Tensor> x_leaves_;
    std::vector<at::Tensor> y_leaves_;
    at::Tensor value_;
    std::vector<at::Tensor> x_gradient_;
    std::vector<at::Tensor> y_gradient_; ///< with a graph of its own where second derivatives are expected
    bool has_gradient_ = false;
    bool gradient_has_graph_ = false;
    bool x_slope_expected_ = false; ///< as at the point before
    bool x_slope_asked_ = false;
    bool products_expected_ = true; ///< as at the point before
    bool products_asked_ = true;
  };

  [[nodiscard]] Evaluation lower() const { return {lower_, Level::lower}; }
  [[nodiscard]] Evaluation upper() const { return {upper_, Level::upper}; }
  [[nodiscard]] Index x_size() const { return size(x_); }
  [[nodiscard]] Index y_size() const { return size(y_); }
  [[nodiscard]] State<Tensors> start() const { return {x_, y_, zeros_like(y_)}; }
  /// Throws InvalidInput unless the tensors are as many as the problem's, of the same shapes, type and device.
  void check_start(const State<Tensors> &state) const;

private:
  TensorLoss upper_;
  TensorLoss lower_;
  Tensors x_;
  Tensors y_;
};

static_assert(AggregatedProblem<TensorProblem> && StartedProblem<TensorProblem>);

} // namespace duplex
