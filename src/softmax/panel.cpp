#include "softmax/blocks.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace duplex::softmax {

using kernels::padding;

namespace {

/// Of sparse panels, which are transposes of weights: so few that both sides stay in the first cache.
constexpr std::size_t features_at_once = 64;

} // namespace

template <class T> void Panel<T>::fold(const RowBlocks<T> &rows, const Vector<T> &y) {
  const Shape &shape = rows.shape();
  if (shape.sparse) {
    fold_sparse(shape, y);
    return;
  }
  const std::size_t stride = shape.columns + 1;
  const T *last = y.data() + shape.outputs() * stride;
  const bool scaled = !rows.scale().empty();
  for (std::size_t c = 0; c < shape.outputs(); ++c) {
    const T *own = y.data() + c * stride;
    std::array<T, padding> shifted{};
    for (std::size_t first = 0; first < shape.columns; first += padding) {
      const std::size_t count = std::min(padding, shape.columns - first);
      T *out = weights.data() + panel_place(first, c, shape.outputs());
      for (std::size_t j = 0; j < count; ++j) {
        out[j] = own[first + j] - last[first + j];
      }
      if (scaled) {
        const float *scale = rows.scale().data() + first;
        const float *shift = rows.shift().data() + first;
        for (std::size_t j = 0; j < count; ++j) {
          shifted[j] += static_cast<T>(shift[j]) * out[j];
          out[j] *= static_cast<T>(scale[j]);
        }
      }
    }
    bias[c] = std::accumulate(shifted.begin(), shifted.end(), own[shape.columns] - last[shape.columns]);
  }
}

template <class T> void Panel<T>::unfold(const RowBlocks<T> &rows, T factor, Vector<T> &out) const {
  const Shape &shape = rows.shape();
  if (shape.sparse) {
    unfold_sparse(shape, factor, out);
    return;
  }
  const std::size_t stride = shape.columns + 1;
  const bool scaled = !rows.scale().empty();
  out.resize(static_cast<Index>(shape.classes * stride));
  T *last = out.data() + shape.outputs() * stride;
  std::fill_n(last, stride, T(0));
  for (std::size_t c = 0; c < shape.outputs(); ++c) {
    T *own = out.data() + c * stride;
    for (std::size_t first = 0; first < shape.columns; first += padding) {
      const std::size_t count = std::min(padding, shape.columns - first);
      const T *sums = weights.data() + panel_place(first, c, shape.outputs());
      const float *scale = scaled ? rows.scale().data() + first : nullptr;
      const float *shift = scaled ? rows.shift().data() + first : nullptr;
      for (std::size_t j = 0; j < count; ++j) {
        const T sum = scaled ? static_cast<T>(scale[j]) * sums[j] + static_cast<T>(shift[j]) * bias[c] : sums[j];
        own[first + j] = factor * sum;
      }
      for (std::size_t j = 0; j < count; ++j) {
        last[first + j] -= own[first + j];
      }
    }
    own[shape.columns] = factor * bias[c];
    last[shape.columns] -= own[shape.columns];
  }
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
