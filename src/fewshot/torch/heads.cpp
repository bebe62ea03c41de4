#include "fewshot/torch/heads.hpp"

#include <ATen/ATen.h>

#include <utility>

namespace duplex::fewshot {

namespace {

at::Tensor scores(const at::Tensor &features, const std::vector<at::Tensor> &heads) {
  return at::baddbmm(heads[1], features, heads[0]);
}
at::Tensor scores(const at::Tensor &features, const Tensors &heads) { return scores(features, heads.list()); }

} // namespace

Heads::Level Heads::lower() const { return {shots_wanted_, 0}; }
Heads::Level Heads::upper() const { return {queries_wanted_, 1}; }

Index Heads::y_size() const { return shots_wanted_.size(0) * (features_[0].size(2) + 1) * shots_wanted_.size(2); }

State<Tensors> Heads::start() const {
  const auto tasks = shots_wanted_.size(0);
  const auto ways = shots_wanted_.size(2);
  const auto options = features_[0].options();
  Tensors y({at::zeros({tasks, features_[0].size(2), ways}, options), at::zeros({tasks, 1, ways}, options)});
  Tensors v = zeros_like(y);
  return {features_, std::move(y), std::move(v)};
}

void Heads::Level::at(const Tensors &x, const Tensors &y) {
  x_ = &x;
  y_ = &y;
  probabilities_.reset();
  residual_.reset();
}

const at::Tensor &Heads::Level::probabilities() {
  if (!probabilities_.defined()) {
    probabilities_ = at::softmax(scores(features(), *y_), 2);
  }
  return probabilities_;
}

const at::Tensor &Heads::Level::residual() {
  if (!residual_.defined()) {
    residual_ = (probabilities() - wanted_).mul_(weight_);
  }
  return residual_;
}

/// weight (diag p − p pᵀ) applied to the scores of v.
at::Tensor Heads::Level::curved(const Tensors &v) {
  const auto &p = probabilities();
  const auto weighed = p * scores(features(), v);
  return (weighed - p * weighed.sum(2, true)).mul_(weight_);
}

void Heads::Level::write_y(const at::Tensor &slopes, Tensors &out) {
  out.copy_from({at::bmm(features().transpose(1, 2), slopes), slopes.sum(1, true)});
}

void Heads::Level::write_x(const at::Tensor &derivative, Tensors &out) {
  const auto nothing = at::zeros_like((*x_)[1 - set_]);
  out.copy_from(set_ == 0 ? std::vector{derivative, nothing} : std::vector{nothing, derivative});
}

double Heads::Level::value() { return cross_entropy(features(), y_->list(), wanted_).item<double>(); }

void Heads::Level::grad_y(Tensors &out) { write_y(residual(), out); }

void Heads::Level::grad_x(Tensors &out) { write_x(at::bmm(residual(), (*y_)[0].transpose(1, 2)), out); }

void Heads::Level::hess_yy(const Tensors &v, Tensors &out) { write_y(curved(v), out); }

/// ∂/∂features of Σ residual ∘ (scores of v).
void Heads::Level::cross_xy(const Tensors &v, Tensors &out) {
  const auto through_scores = at::bmm(curved(v), (*y_)[0].transpose(1, 2));
  write_x(at::baddbmm(through_scores, residual(), v[0].transpose(1, 2)), out);
}

at::Tensor cross_entropy(const at::Tensor &features, const std::vector<at::Tensor> &heads, const at::Tensor &wanted) {
  const auto logs = at::log_softmax(scores(features, heads), 2);
  return (wanted * logs).sum().mul(-1.0 / static_cast<double>(wanted.size(1)));
}

at::Tensor predictions(const at::Tensor &features, const Tensors &heads) { return scores(features, heads).argmax(2); }

} // namespace duplex::fewshot
