#include <duplex/torch/tensor_problem.hpp>

#include <duplex/core/fields.hpp>
#include <duplex/torch/memory.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace duplex {

namespace {

std::vector<at::Tensor> leaves_of(const Tensors &variables) {
  std::vector<at::Tensor> leaves;
  leaves.reserve(variables.count());
  for (const auto &tensor : variables) {
    leaves.push_back(tensor.detach().requires_grad_(true));
  }
  return leaves;
}

/// Derivatives, or zeros where an input was not used.
void write(const std::vector<at::Tensor> &derivatives, const Tensors &like, Tensors &out) {
  std::vector<at::Tensor> complete = derivatives;
  for (std::size_t i = 0; i < complete.size(); ++i) {
    if (!complete[i].defined()) {
      complete[i] = at::zeros_like(like[i]);
    }
  }
  out.copy_from(complete);
}

std::string name_of_level(TensorProblem::Level level) {
  return level == TensorProblem::Level::lower ? "lower" : "upper";
}

std::string shape_text(const at::Tensor &tensor) {
  std::ostringstream out;
  out << tensor.sizes();
  return out.str();
}

std::string kind_text(const at::Tensor &tensor) {
  std::ostringstream out;
  out << tensor.sizes() << " of " << tensor.scalar_type() << " on " << tensor.device();
  return out.str();
}

/// What LibTorch refuses, with the level.
template <class Work> auto explained(TensorProblem::Level level, const Work &work) {
  return explaining(name_of_level(level), work);
}

} // namespace

TensorProblem::TensorProblem(TensorLoss upper, TensorLoss lower, const Tensors &x, const Tensors &y)
    : upper_(std::move(upper)), lower_(std::move(lower)), x_(x), y_(y) {
  if (x_.empty() || y_.empty()) {
    throw InvalidInput(std::string(x_.empty() ? "x" : "y") + " has no tensors, expected at least one");
  }
  std::vector<at::Tensor> together = x_.list();
  together.insert(together.end(), y_.begin(), y_.end());
  try {
    (void)Tensors(std::move(together));
  } catch (const InvalidInput &difference) {
    throw InvalidInput("x and y together: " + std::string(difference.what()));
  }
  Tensors derivative;
  for (const auto level : {Level::lower, Level::upper}) {
    Evaluation start = level == Level::lower ? this->lower() : this->upper();
    start.at(x_, y_);
    const double value = start.value();
    if (!std::isfinite(value)) {
      throw InvalidInput(name_of_level(level) + ": the loss at the start is " + number_text(value) +
                         ", expected a finite number");
    }
    start.grad_y(derivative);
    if (!all_finite(derivative)) {
      throw InvalidInput(name_of_level(level) + ": the gradient at the start holds NaN or infinity");
    }
    if (level == Level::lower && !start.depends_on_y()) {
      throw InvalidInput("lower: the loss does not depend on y, expected a function of it to minimize");
    }
    if (level == Level::lower) {
      start.hess_yy(y_, derivative);
      start.cross_xy(y_, derivative);
    }
  }
}

void TensorProblem::check_start(const State<Tensors> &state) const {
  const auto require = [](const std::string &name, const Tensors &given, const Tensors &expected) {
    if (given.count() != expected.count()) {
      throw InvalidInput("start: " + name + " has " + std::to_string(given.count()) + " tensors, the problem expects " +
                         std::to_string(expected.count()));
    }
    for (std::size_t i = 0; i < given.count(); ++i) {
      if (given[i].sizes() != expected[i].sizes() || !given[i].options().type_equal(expected[i].options()) ||
          given[i].device() != expected[i].device()) {
        throw InvalidInput("start: tensor " + std::to_string(i) + " of " + name + " is " + kind_text(given[i]) +
                           ", the problem expects " + kind_text(expected[i]));
      }
    }
  };
  require("x", state.x, x_);
  require("y", state.y, y_);
  require("v", state.v, y_);
}

bool TensorProblem::Evaluation::depends_on_y() {
  backward(products_expected_);
  return std::any_of(y_gradient_.begin(), y_gradient_.end(), [](const at::Tensor &g) { return g.defined(); });
}

void TensorProblem::Evaluation::at(const Tensors &x, const Tensors &y) {
  Point<Tensors>::at(x, y);
  value_.reset();
  x_gradient_.clear();
  y_gradient_.clear();
  has_gradient_ = false;
  gradient_has_graph_ = false;
  products_expected_ = products_asked_;
  products_asked_ = false;
  x_slope_expected_ = std::exchange(x_slope_asked_, false);
}

void TensorProblem::Evaluation::forward() {
  if (value_.defined()) {
    return;
  }
  const c10::AutoGradMode with_graph(true);
  x_leaves_ = leaves_of(x());
  y_leaves_ = leaves_of(y());
  at::Tensor value = explained(level_, [&] { return loss_(x_leaves_, y_leaves_); });
  if (!value.defined() || value.numel() != 1 || !at::isFloatingType(value.scalar_type())) {
    throw InvalidInput(name_of_level(level_) + ": the loss " +
                       (value.defined() ? "has the shape " + shape_text(value) + " and the type " +
                                              std::string(c10::toString(value.scalar_type()))
                                        : std::string("is undefined")) +
                       ", expected one floating-point number");
  }
  value_ = std::move(value);
}

void TensorProblem::Evaluation::backward(bool with_second_order) {
  if (has_gradient_ && (gradient_has_graph_ || !with_second_order)) {
    return;
  }
  if (has_gradient_) { // the graph of the value went with the first gradient
    value_.reset();
  }
  has_gradient_ = false;
  forward();
  if (!value_.requires_grad()) {
    x_gradient_.assign(x_leaves_.size(), {});
    y_gradient_.assign(y_leaves_.size(), {});
    has_gradient_ = true;
    gradient_has_graph_ = with_second_order;
    return;
  }
  const c10::AutoGradMode with_graph(true);
  std::vector<at::Tensor> inputs = y_leaves_;
  if ((level_ == Level::upper || x_slope_expected_) && !with_second_order) { // both at once; a graph of ∇x is of no use
    inputs.insert(inputs.end(), x_leaves_.begin(), x_leaves_.end());
  }
  auto gradient = explained(
      level_, [&] { return torch::autograd::grad({value_}, inputs, {}, with_second_order, with_second_order, true); });
  const auto middle = gradient.begin() + static_cast<std::ptrdiff_t>(y_leaves_.size());
  y_gradient_.assign(gradient.begin(), middle);
  x_gradient_.assign(middle, gradient.end());
  has_gradient_ = true;
  gradient_has_graph_ = with_second_order;
}

double TensorProblem::Evaluation::value() {
  forward();
  return value_.item<double>();
}

void TensorProblem::Evaluation::grad_x(Tensors &out) {
  x_slope_asked_ = true;
  backward(products_expected_);
  if (x_gradient_.empty()) {
    if (!gradient_has_graph_) { // the graph of the value went with the first gradient
      value_.reset();
      forward();
    }
    const c10::AutoGradMode with_graph(true);
    x_gradient_ = explained(
        level_, [&] { return torch::autograd::grad({value_}, x_leaves_, {}, gradient_has_graph_, false, true); });
  }
  explained(level_, [&] { write(x_gradient_, x(), out); });
}

void TensorProblem::Evaluation::grad_y(Tensors &out) {
  backward(products_expected_);
  explained(level_, [&] { write(y_gradient_, y(), out); });
}

/// ∂/∂(with) of ∇y·v.
void TensorProblem::Evaluation::product(const Tensors &v, const std::vector<at::Tensor> &with, const Tensors &like,
                                        Tensors &out) {
  products_asked_ = true;
  backward(true);
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> weights;
  for (std::size_t i = 0; i < y_gradient_.size(); ++i) {
    if (y_gradient_[i].defined() && y_gradient_[i].requires_grad()) {
      outputs.push_back(y_gradient_[i]);
      weights.push_back(v[i]);
    }
  }
  if (outputs.empty()) {
    out = zeros_like(like);
    return;
  }
  explained(level_, [&] { write(torch::autograd::grad(outputs, with, weights, true, false, true), like, out); });
}

void TensorProblem::Evaluation::hess_yy(const Tensors &v, Tensors &out) { product(v, y_leaves_, y(), out); }

void TensorProblem::Evaluation::cross_xy(const Tensors &v, Tensors &out) { product(v, x_leaves_, x(), out); }

} // namespace duplex
