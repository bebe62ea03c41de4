#include "softmax/blocks.hpp"

#include "kernels/panel_folds.hpp"

#include <algorithm>

namespace duplex::softmax {

namespace {

/// Of sparse panels, which are transposes of weights: so few that both sides stay in the first cache.
constexpr std::size_t features_at_once = 64;

template <class T> kernels::FeatureScaling scaling_of(const RowBlocks<T> &rows) {
  return rows.scale().empty() ? kernels::FeatureScaling()
                              : kernels::FeatureScaling{.scale = rows.scale().data(), .shift = rows.shift().data()};
}

} // namespace

template <class T> void Panel<T>::fold(const RowBlocks<T> &rows, const Vector<T> &y) {
  const Shape &shape = rows.shape();
  if (shape.sparse) {
    fold_sparse(shape, y);
    return;
  }
  kernels::panel_folds<T>().fold(y.data(), shape.columns, shape.outputs(), scaling_of(rows), weights.data(),
                                 bias.data());
}

template <class T> void Panel<T>::unfold(const RowBlocks<T> &rows, T factor, Vector<T> &out) const {
  const Shape &shape = rows.shape();
  if (shape.sparse) {
    unfold_sparse(shape, factor, out);
    return;
  }
  out.resize(static_cast<Index>(shape.classes * (shape.columns + 1)));
  kernels::panel_folds<T>().unfold(weights.data(), bias.data(), shape.columns, shape.outputs(), scaling_of(rows),
                                   factor, out.data());
}

template <class T> void Panel<T>::fold_sparse(const Shape &shape, const Vector<T> &y) {
  const std::size_t stride = shape.columns + 1;
  const std::size_t apart = sparse_stride(shape.outputs());
  const T *last = y.data() + shape.outputs() * stride;
  for (std::size_t first = 0; first < shape.columns; first += features_at_once) {
    const std::size_t end = std::min(first + features_at_once, shape.columns);
    for (std::size_t c = 0; c < shape.outputs(); ++c) {
      const T *own = y.data() + c * stride;
      for (std::size_t j = first; j < end; ++j) {
        weights.data()[j * apart + c] = own[j] - last[j];
      }
    }
  }
  for (std::size_t c = 0; c < shape.outputs(); ++c) {
    bias[c] = y[static_cast<Index>(c * stride + shape.columns)] - last[shape.columns];
  }
}

template <class T> void Panel<T>::unfold_sparse(const Shape &shape, T factor, Vector<T> &out) const {
  const std::size_t stride = shape.columns + 1;
  const std::size_t apart = sparse_stride(shape.outputs());
  out.resize(static_cast<Index>(shape.classes * stride));
  T *last = out.data() + shape.outputs() * stride;
  std::fill_n(last, stride, T(0));
  for (std::size_t first = 0; first < shape.columns; first += features_at_once) {
    const std::size_t end = std::min(first + features_at_once, shape.columns);
    for (std::size_t c = 0; c < shape.outputs(); ++c) {
      T *own = out.data() + c * stride;
      for (std::size_t j = first; j < end; ++j) {
        own[j] = factor * weights.data()[j * apart + c];
        last[j] -= own[j];
      }
    }
  }
  for (std::size_t c = 0; c < shape.outputs(); ++c) {
    T &own = out[static_cast<Index>(c * stride + shape.columns)];
    own = factor * bias[c];
    last[shape.columns] -= own;
  }
}

template struct Panel<float>;
template struct Panel<double>;

} // namespace duplex::softmax
