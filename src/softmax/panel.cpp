#include "softmax/blocks.hpp"

namespace duplex::softmax {

template <class T> void Panel<T>::fold(const RowBlocks<T> &rows, const Vector<T> &y) {
  const Shape &shape = rows.shape();
  const std::size_t stride = shape.columns + 1;
  const T *last = y.data() + shape.outputs() * stride;
  const bool scaled = !rows.scale().empty();
  for (std::size_t c = 0; c < shape.outputs(); ++c) {
    const T *own = y.data() + c * stride;
    T sum = own[shape.columns] - last[shape.columns];
    for (std::size_t j = 0; j < shape.columns; ++j) {
      const T weight = own[j] - last[j];
      weights.data()[panel_place(j, c, shape.outputs())] = scaled ? static_cast<T>(rows.scale()[j]) * weight : weight;
      if (scaled) {
        sum += static_cast<T>(rows.shift()[j]) * weight;
      }
    }
    bias[c] = sum;
  }
}

template <class T> void Panel<T>::unfold(const RowBlocks<T> &rows, T factor, Vector<T> &out) const {
  const Shape &shape = rows.shape();
  const std::size_t stride = shape.columns + 1;
  const bool scaled = !rows.scale().empty();
  out.resize(static_cast<Index>(shape.classes * stride));
  T *last = out.data() + shape.outputs() * stride;
  std::fill_n(last, stride, T(0));
  for (std::size_t c = 0; c < shape.outputs(); ++c) {
    T *own = out.data() + c * stride;
    for (std::size_t j = 0; j < shape.columns; ++j) {
      T sum = weights.data()[panel_place(j, c, shape.outputs())];
      if (scaled) {
        sum = static_cast<T>(rows.scale()[j]) * sum + static_cast<T>(rows.shift()[j]) * bias[c];
      }
      own[j] = factor * sum;
      last[j] -= own[j];
    }
    own[shape.columns] = factor * bias[c];
    last[shape.columns] -= own[shape.columns];
  }
}

template struct Panel<float>;
template struct Panel<double>;

} // namespace duplex::softmax
