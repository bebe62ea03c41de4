#include <duplex/problems/shared/penalized_softmax.hpp>

#include <duplex/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace duplex {

namespace {

void require_part(const LabelledSamples &samples, const LabelledParts &parts, const std::string &kind) {
  require_samples(samples, parts.classes, "penalized softmax: " + kind);
  const auto &training = *parts.training.features;
  if (samples.features->columns() != training.columns()) {
    throw InvalidInput("penalized softmax: " + std::to_string(samples.features->columns()) + " features of a " + kind +
                       " sample, expected " + std::to_string(training.columns()) + " as in the training samples");
  }
  if (samples.features->is_sparse() != training.is_sparse()) {
    throw InvalidInput("penalized softmax: of " + kind +
                       " and training samples one are sparse, expected both or neither");
  }
}

/// The bias of a class without samples would fall without end.
void require_every_class(const LabelledParts &parts) {
  std::vector<bool> is_there(static_cast<std::size_t>(parts.classes));
  for (const auto label : *parts.training.labels) {
    is_there[label] = true;
  }
  const auto missing = std::find(is_there.begin(), is_there.end(), false);
  if (missing != is_there.end()) {
    throw InvalidInput("penalized softmax: no training sample of class " + std::to_string(missing - is_there.begin()) +
                       " of " + std::to_string(parts.classes) +
                       " (from 0), expected some of each; take more samples, or another seed");
  }
}

} // namespace

template <class Scalar>
PenalizedSoftmax<Scalar>::PenalizedSoftmax(LabelledParts parts, PenalizedSoftmaxOptions options)
    : parts_(std::move(parts)), options_(options) {
  require_part(parts_.training, parts_, "training");
  require_part(parts_.validation, parts_, "validation");
  if (parts_.held_out) {
    require_part(*parts_.held_out, parts_, "held-out");
  }
  require_every_class(parts_);
  if (options.contrast && parts_.classes != 2) {
    throw InvalidInput("penalized softmax: one contrast of " + std::to_string(parts_.classes) +
                       " classes, expected two classes");
  }
  if (options.contrast && options.penalties == Penalties::by_class) {
    throw InvalidInput(
        "penalized softmax: penalties = class, expected one or feature where two classes have one vector "
        "of weights");
  }
  if (!(options.limit > 0.0) || !std::isfinite(options.limit) || !std::isfinite(options.start)) {
    throw InvalidInput("penalized softmax: start = " + field_text(options.start) +
                       " and limit = " + field_text(options.limit) + ", expected finite numbers and limit > 0");
  }
  const Index features = parts_.training.features->columns();
  layout_ = {.classes = parts_.classes,
             .features = features,
             .blocks = options.contrast ? 1 : parts_.classes,
             .stride = features + (options.bias ? 1 : 0),
             .penalties = options.penalties};
}

template <class Scalar> State<typename PenalizedSoftmax<Scalar>::Vector> PenalizedSoftmax<Scalar>::start() const {
  const double at = std::clamp(options_.start, -options_.limit, options_.limit);
  return {Vector::Constant(x_size(), static_cast<Scalar>(at)), Vector::Zero(y_size()), Vector::Zero(y_size())};
}

template <class Scalar> void PenalizedSoftmax<Scalar>::spread(const Layout &layout, const Vector &y, Vector &out) {
  const Index whole = layout.features + 1;
  const Index first = layout.classes - layout.blocks; // the class before a contrast has no weights
  out.resize(layout.classes * whole);
  out.head(first * whole).setZero();
  for (Index k = 0; k < layout.blocks; ++k) {
    auto block = out.segment((first + k) * whole, whole);
    block.head(layout.stride) = y.segment(k * layout.stride, layout.stride);
    block.tail(whole - layout.stride).setZero();
  }
}

template <class Scalar>
void PenalizedSoftmax<Scalar>::collect(const Layout &layout, const Vector &answer, Vector &out) {
  const Index whole = layout.features + 1;
  const Index first = layout.classes - layout.blocks;
  out.resize(layout.y_size());
  for (Index k = 0; k < layout.blocks; ++k) {
    out.segment(k * layout.stride, layout.stride) = answer.segment((first + k) * whole, layout.stride);
  }
}

template <class Scalar>
std::optional<double> PenalizedSoftmax<Scalar>::held_out(const Vector & /*x*/, const Vector &y) const {
  if (!parts_.held_out) {
    return std::nullopt;
  }
  const Index count = parts_.held_out->features->rows();
  SoftmaxLoss<Scalar> loss(*parts_.held_out, layout_.classes, options_.threads);
  Vector weights;
  spread(y, weights);
  loss.at(weights);
  return loss.value(Vector::Constant(count, Scalar(1) / static_cast<Scalar>(count)));
}

template <class Scalar> std::optional<double> PenalizedSoftmax<Scalar>::held_out_error(const Vector &y) const {
  if (!parts_.held_out) {
    return std::nullopt;
  }
  SoftmaxLoss<Scalar> loss(*parts_.held_out, layout_.classes, options_.threads);
  Vector weights;
  spread(y, weights);
  loss.at(weights);
  const auto probabilities = loss.probabilities();
  Index wrong = 0;
  for (Index i = 0; i < probabilities.rows(); ++i) {
    Index likeliest = 0;
    probabilities.row(i).maxCoeff(&likeliest);
    wrong += likeliest == static_cast<Index>((*parts_.held_out->labels)[static_cast<std::size_t>(i)]) ? 0 : 1;
  }
  return static_cast<double>(wrong) / static_cast<double>(probabilities.rows());
}

template <class Scalar>
PenalizedSoftmax<Scalar>::Level::Level(const LabelledSamples &samples, const PenalizedSoftmax &problem,
                                       const Batch *batch)
    : LossAtPoint<Scalar>(samples, problem.layout_.classes, problem.options_.threads, batch), layout_(problem.layout_),
      weights_(this->batch().most) {}

template <class Scalar> SoftmaxLoss<Scalar> &PenalizedSoftmax<Scalar>::Level::loss() {
  return this->loss_at([this]() -> const Vector & {
    if (layout_.is_of_kernels()) {
      return this->y();
    }
    spread(layout_, this->y(), inner_);
    return inner_;
  });
}

template <class Scalar> void PenalizedSoftmax<Scalar>::Level::gradient(Vector &out) {
  if (layout_.is_of_kernels()) {
    loss().gradient(weights_, out);
  } else {
    loss().gradient(weights_, answer_);
    collect(layout_, answer_, out);
  }
}

template <class Scalar> void PenalizedSoftmax<Scalar>::Level::hessian(const Vector &v, Vector &out) {
  if (layout_.is_of_kernels()) {
    loss().hessian(weights_, v, out);
    return;
  }
  auto &at_point = loss(); // before the direction takes the point's place
  spread(layout_, v, inner_);
  at_point.hessian(weights_, inner_, answer_);
  collect(layout_, answer_, out);
}

template <class Scalar>
PenalizedSoftmax<Scalar>::Upper::Upper(const PenalizedSoftmax &problem, const Batch *batch)
    : Level(problem.parts_.validation, problem, batch) {}

template <class Scalar>
PenalizedSoftmax<Scalar>::Lower::Lower(const PenalizedSoftmax &problem, const Batch *batch)
    : Level(problem.parts_.training, problem, batch), penalties_(problem.x_size()) {}

template <class Scalar> void PenalizedSoftmax<Scalar>::Lower::at(const Vector &x, const Vector &y) {
  penalties_ = x.array().exp();
  Level::at(x, y);
}

namespace {

/// Of all classes.
template <class Layout, class Vector> typename Vector::Scalar mean_bias(const Layout &layout, const Vector &v) {
  typename Vector::Scalar sum(0);
  for (Index k = 0; k < layout.blocks; ++k) {
    sum += v[(k + 1) * layout.stride - 1];
  }
  return sum / static_cast<typename Vector::Scalar>(layout.blocks);
}

/// out_g = factor · eˣ_g ⟨a_g, b_g⟩
template <class Layout, class Vector>
void products_by_group(const Layout &layout, const Vector &penalties, typename Vector::Scalar factor, const Vector &a,
                       const Vector &b, Vector &out) {
  out.setZero(layout.groups());
  for (Index k = 0; k < layout.blocks; ++k) {
    const auto own_a = a.segment(k * layout.stride, layout.features);
    const auto own_b = b.segment(k * layout.stride, layout.features);
    switch (layout.penalties) {
    case Penalties::one:
      out[0] += own_a.dot(own_b);
      break;
    case Penalties::by_class:
      out[k] = own_a.dot(own_b);
      break;
    case Penalties::by_feature:
      out += own_a.cwiseProduct(own_b);
      break;
    }
  }
  out.array() *= factor * penalties.array();
}

} // namespace

template <class Scalar> double PenalizedSoftmax<Scalar>::Lower::value() {
  const Layout &layout = this->layout();
  const Vector &y = this->y();
  double penalty = 0.0;
  for (Index k = 0; k < layout.blocks; ++k) {
    const auto squares = y.segment(k * layout.stride, layout.features).template cast<double>().array().square();
    penalty += layout.penalties == Penalties::by_feature
                   ? (squares * penalties_.template cast<double>().array()).sum()
                   : static_cast<double>(penalties_[layout.penalties == Penalties::one ? 0 : k]) * squares.sum();
  }
  if (layout.is_of_kernels()) {
    const auto mean = static_cast<double>(mean_bias(layout, y));
    penalty += static_cast<double>(layout.blocks) * mean * mean;
  }
  return this->mean_loss() + 0.5 * penalty;
}

template <class Scalar> void PenalizedSoftmax<Scalar>::Lower::add_penalty(const Vector &v, Vector &out) const {
  const Layout &layout = this->layout();
  for (Index k = 0; k < layout.blocks; ++k) {
    const auto own = v.segment(k * layout.stride, layout.features);
    auto sum = out.segment(k * layout.stride, layout.features);
    if (layout.penalties == Penalties::by_feature) {
      sum += penalties_.cwiseProduct(own);
    } else {
      sum += penalties_[layout.penalties == Penalties::one ? 0 : k] * own;
    }
  }
  if (layout.is_of_kernels()) {
    const Scalar mean = mean_bias(layout, v);
    for (Index k = 0; k < layout.blocks; ++k) {
      out[(k + 1) * layout.stride - 1] += mean;
    }
  }
}

template <class Scalar> void PenalizedSoftmax<Scalar>::Lower::grad_x(Vector &out) {
  products_by_group(this->layout(), penalties_, Scalar(0.5), this->y(), this->y(), out);
}

template <class Scalar> void PenalizedSoftmax<Scalar>::Lower::grad_y(Vector &out) {
  this->gradient(out);
  add_penalty(this->y(), out);
}

template <class Scalar> void PenalizedSoftmax<Scalar>::Lower::hess_yy(const Vector &v, Vector &out) {
  this->hessian(v, out);
  add_penalty(v, out);
}

template <class Scalar> void PenalizedSoftmax<Scalar>::Lower::cross_xy(const Vector &v, Vector &out) {
  products_by_group(this->layout(), penalties_, Scalar(1), this->y(), v, out);
}

template <class Scalar>
void PenalizedSoftmax<Scalar>::Lower::both_products(const Vector &v, Vector &hess, Vector &cross) {
  hess_yy(v, hess);
  cross_xy(v, cross);
}

template class PenalizedSoftmax<float>;
template class PenalizedSoftmax<double>;

} // namespace duplex
