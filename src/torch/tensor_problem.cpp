#include <duplex/torch/tensor_problem.hpp>

#include <duplex/fields.hpp>

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

} // namespace

TensorProblem::TensorProblem(TensorLoss upper, TensorLoss lower, Tensors x, Tensors y)
    : upper_(std::move(upper)), lower_(std::move(lower)), x_(std::move(x)), y_(std::move(y)) {
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
  for (const auto level : {Level::lower, Level::upper}) {
    Evaluation start = level == Level::lower ? this->lower() : this->upper();
    start.at(x_, y_);
    const double value = start.value();
    if (!std::isfinite(value)) {
      throw InvalidInput(name_of_level(level) + ": the loss at the start is " + number_text(value) +
                         ", expected a finite number");
    }
    if (level == Level::lower && !start.depends_on_y()) {
      throw InvalidInput("lower: the loss does not depend on y, expected a function of it to minimize");
    }
  }
}

bool TensorProblem::Evaluation::depends_on_y() {
  backward(products_expected_);
  return std::any_of(y_gradient_.begin(), y_gradient_.end(), [](const at::Tensor &g) { return g.defined(); });
}

void TensorProblem::Evaluation::at(const Tensors &x, const Tensors &y) {
  x_ = &x;
  y_ = &y;
  value_.reset();
  x_gradient_.clear();
  y_gradient_.clear();
  has_gradient_ = false;
  gradient_has_graph_ = false;
  products_expected_ = products_asked_;
  products_asked_ = false;
}

void TensorProblem::Evaluation::forward() {
  if (value_.defined()) {
    return;
  }
  const c10::AutoGradMode with_graph(true);
  x_leaves_ = leaves_of(*x_);
  y_leaves_ = leaves_of(*y_);
  value_ = loss_(x_leaves_, y_leaves_);
  if (!value_.defined() || value_.numel() != 1 || !at::isFloatingType(value_.scalar_type())) {
    throw InvalidInput(name_of_level(level_) + ": the loss " +
                       (value_.defined() ? "has the shape " + shape_text(value_) + " and the type " +
                                               std::string(c10::toString(value_.scalar_type()))
                                         : std::string("is undefined")) +
                       ", expected one floating-point number");
  }
}

void TensorProblem::Evaluation::backward(bool with_second_order) {
  if (has_gradient_ && (gradient_has_graph_ || !with_second_order)) {
    return;
  }
  if (has_gradient_) { // the graph of the value went with the first gradient
    value_.reset();
  }
  forward();
  has_gradient_ = true;
  gradient_has_graph_ = with_second_order;
  if (!value_.requires_grad()) {
    x_gradient_.assign(x_leaves_.size(), {});
    y_gradient_.assign(y_leaves_.size(), {});
    return;
  }
  const c10::AutoGradMode with_graph(true);
  std::vector<at::Tensor> inputs = y_leaves_;
  if (level_ == Level::upper) { // ∇x f is of no use, and a way through all of x's graph
    inputs.insert(inputs.end(), x_leaves_.begin(), x_leaves_.end());
  }
  auto gradient = torch::autograd::grad({value_}, inputs, {}, with_second_order, with_second_order, true);
  const auto middle = gradient.begin() + static_cast<std::ptrdiff_t>(y_leaves_.size());
  y_gradient_.assign(gradient.begin(), middle);
  x_gradient_.assign(middle, gradient.end());
}

double TensorProblem::Evaluation::value() {
  forward();
  return value_.item<double>();
}

void TensorProblem::Evaluation::grad_x(Tensors &out) {
  backward(products_expected_);
  write(x_gradient_, *x_, out);
}

void TensorProblem::Evaluation::grad_y(Tensors &out) {
  backward(products_expected_);
  write(y_gradient_, *y_, out);
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
  write(torch::autograd::grad(outputs, with, weights, true, false, true), like, out);
}

void TensorProblem::Evaluation::hess_yy(const Tensors &v, Tensors &out) { product(v, y_leaves_, *y_, out); }

void TensorProblem::Evaluation::cross_xy(const Tensors &v, Tensors &out) { product(v, x_leaves_, *x_, out); }

} // namespace duplex
