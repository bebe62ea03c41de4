#include "kernels/row_products.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE                                                                                             \
  "kernels/row_products.cpp"    // NOLINT(cppcoreguidelines-macro-usage): how Highway recompiles a file
#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h> // and this after it

HWY_BEFORE_NAMESPACE();
namespace duplex::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> using Tag = hn::CappedTag<T, padding>;

// A tile of `height` × `outputs` sums fills the registers: 32 with AVX-512, 16 before.
constexpr bool many_registers = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;
constexpr std::size_t widest = many_registers ? 9 : 4;
constexpr std::size_t tile_height(std::size_t outputs) {
  constexpr std::size_t sums = many_registers ? 28 : 12;
  const std::size_t height = std::min<std::size_t>(sums / outputs, 12);
  return height == 5 ? 4 : height == 7 ? 6 : height == 9 || height == 10 || height == 11 ? 8 : height;
}

template <class T> constexpr bool reads_bytes = many_registers &&std::same_as<T, float>;

template <class D, class Stored> HWY_INLINE hn::Vec<D> load(D d, const Stored *from) {
  if constexpr (std::same_as<Stored, std::uint8_t>) {
    const hn::Rebind<std::int32_t, D> whole;
    const hn::Rebind<std::uint8_t, D> byte;
    return hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(byte, from)));
  } else {
    return hn::LoadU(d, from);
  }
}

/// Keeps the compiler from loading v anew for each of its uses: loads are what the tiles run out of.
template <class V> HWY_INLINE void stay_in_register([[maybe_unused]] V &v) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  __asm__("" : "+v"(v.raw));
#endif
}

/// Halves are added until 16 bytes are left: narrow additions are cheap.
template <class D, class V> HWY_INLINE auto folded(D /*tag*/, V v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return folded(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else
#endif
  {
    return v;
  }
}

/// The sums of `Count` vectors, which are four floats or two doubles long, to out[0..Count).
template <class T, std::size_t Count, class V>
HWY_INLINE void store_sums(const V *HWY_RESTRICT v, T *HWY_RESTRICT out) {
  const hn::CappedTag<T, 16 / sizeof(T)> d;
  [[maybe_unused]] constexpr std::size_t group = hn::MaxLanes(d);
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
#pragma GCC unroll 16
  for (; i + group <= Count; i += group) {
    const auto ab = hn::Add(hn::InterleaveLower(d, v[i], v[i + 1]), hn::InterleaveUpper(d, v[i], v[i + 1]));
    if constexpr (group == 4) { // ab = a0+a2, b0+b2, a1+a3, b1+b3
      const auto cd = hn::Add(hn::InterleaveLower(d, v[i + 2], v[i + 3]), hn::InterleaveUpper(d, v[i + 2], v[i + 3]));
      const hn::Repartition<double, decltype(d)> pairs;
      const auto low = hn::InterleaveLower(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, cd));
      const auto high = hn::InterleaveUpper(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, cd));
      hn::StoreU(hn::Add(hn::BitCast(d, low), hn::BitCast(d, high)), d, out + i);
    } else {
      hn::StoreU(ab, d, out + i);
    }
  }
#endif
#pragma GCC unroll 16
  for (; i < Count; ++i) {
    out[i] = hn::GetLane(hn::SumOfLanes(d, v[i]));
  }
}

constexpr std::size_t cache_line = 64;

/// Into the second cache.
HWY_INLINE const std::byte *prefetch(const std::byte *bytes, std::size_t lines) {
  for (std::size_t i = 0; i < lines; ++i, bytes += cache_line) {
    __builtin_prefetch(bytes, 0, 2);
  }
  return bytes;
}

/// `ahead`: from where that many cache lines per group of features are prefetched.
template <std::size_t Height, std::size_t Outputs, class T, class Stored>
HWY_INLINE void forward_tile(const Stored *HWY_RESTRICT rows, std::size_t width, const T *HWY_RESTRICT weights,
                             std::size_t outputs, T *HWY_RESTRICT out, const std::byte *ahead, std::size_t lines) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Tag<T>> sums[Outputs][Height];
#pragma GCC unroll 16
  for (std::size_t c = 0; c < Outputs; ++c) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Height; ++r) {
      sums[c][r] = hn::Zero(d);
    }
  }
  for (std::size_t first = 0; first < width; first += padding, weights += outputs * padding) {
    ahead = prefetch(ahead, lines);
    for (std::size_t j = 0; j < padding; j += lanes) {
      hn::Vec<Tag<T>> x[Height];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Height; ++r) {
        x[r] = load(d, rows + r * width + first + j);
      }
#pragma GCC unroll 16
      for (std::size_t c = 0; c < Outputs; ++c) {
        auto w = hn::LoadU(d, weights + c * padding + j);
        stay_in_register(w);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < Height; ++r) {
          sums[c][r] = hn::MulAdd(x[r], w, sums[c][r]);
        }
      }
    }
  }
  decltype(folded(d, sums[0][0])) narrow[Outputs * Height];
#pragma GCC unroll 32
  for (std::size_t i = 0; i < Outputs * Height; ++i) {
    narrow[i] = folded(d, sums[i / Height][i % Height]);
  }
  T totals[Outputs * Height];
  store_sums<T, Outputs * Height>(narrow, totals);
  for (std::size_t c = 0; c < Outputs; ++c) {
    for (std::size_t r = 0; r < Height; ++r) {
      out[c * block_rows + r] = totals[c * Height + r];
    }
  }
}

template <std::size_t Outputs, class T, class Stored>
void forward_columns(const Stored *rows, std::size_t count, std::size_t width, const T *weights, std::size_t outputs,
                     T *out, Ahead ahead) {
  constexpr std::size_t height = tile_height(Outputs);
  const std::size_t groups = width / padding;
  const std::size_t visits = std::max<std::size_t>(groups * (count / height), 1);
  const std::size_t lines = (ahead.count / cache_line + visits - 1) / visits;
  std::size_t i = 0;
  for (; i + height <= count; i += height) {
    forward_tile<height, Outputs>(rows + i * width, width, weights, outputs, out + i, ahead.bytes, lines);
    ahead.bytes += lines * groups * cache_line;
  }
  for (; i < count; ++i) {
    forward_tile<1, Outputs>(rows + i * width, width, weights, outputs, out + i, ahead.bytes, 0);
  }
}

template <std::size_t Vectors, std::size_t Outputs, class T, class Stored>
HWY_INLINE void backward_tile(const Stored *HWY_RESTRICT rows, std::size_t count, std::size_t width,
                              const T *HWY_RESTRICT residual, std::size_t outputs, std::size_t first,
                              T *HWY_RESTRICT gradient) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto place = [=](std::size_t c, std::size_t q) {
    const std::size_t j = first + q * lanes;
    return gradient + (j / padding * outputs + c) * padding + j % padding;
  };
  hn::Vec<Tag<T>> sums[Outputs][Vectors];
#pragma GCC unroll 16
  for (std::size_t c = 0; c < Outputs; ++c) {
#pragma GCC unroll 16
    for (std::size_t q = 0; q < Vectors; ++q) {
      sums[c][q] = hn::LoadU(d, place(c, q));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    hn::Vec<Tag<T>> x[Vectors];
#pragma GCC unroll 16
    for (std::size_t q = 0; q < Vectors; ++q) {
      x[q] = load(d, rows + i * width + first + q * lanes);
    }
#pragma GCC unroll 16
    for (std::size_t c = 0; c < Outputs; ++c) {
      const auto r = hn::Set(d, residual[c * block_rows + i]);
#pragma GCC unroll 16
      for (std::size_t q = 0; q < Vectors; ++q) {
        sums[c][q] = hn::MulAdd(x[q], r, sums[c][q]);
      }
    }
  }
#pragma GCC unroll 16
  for (std::size_t c = 0; c < Outputs; ++c) {
#pragma GCC unroll 16
    for (std::size_t q = 0; q < Vectors; ++q) {
      hn::StoreU(sums[c][q], d, place(c, q));
    }
  }
}

template <std::size_t Outputs, class T, class Stored>
void backward_columns(const Stored *rows, std::size_t count, std::size_t width, const T *residual, std::size_t outputs,
                      T *gradient) {
  constexpr std::size_t vectors = std::min<std::size_t>(tile_height(Outputs), 6);
  const std::size_t lanes = hn::Lanes(Tag<T>());
  std::size_t j = 0;
  for (; j + vectors * lanes <= width; j += vectors * lanes) {
    backward_tile<vectors, Outputs>(rows, count, width, residual, outputs, j, gradient);
  }
  for (; j < width; j += lanes) {
    backward_tile<1, Outputs>(rows, count, width, residual, outputs, j, gradient);
  }
}

/// work(std::integral_constant<n>, first) for pieces of at most `widest` outputs.
template <std::size_t Largest, class Work> void in_pieces(std::size_t outputs, const Work &work) {
  std::size_t first = 0;
  for (; first + Largest <= outputs; first += Largest) {
    work(std::integral_constant<std::size_t, Largest>(), first);
  }
  if constexpr (Largest > 1) {
    in_pieces<Largest - 1>(outputs - first, [&](auto n, std::size_t more) { work(n, first + more); });
  }
}

/// work(pointer) with the rows as they are.
template <class T, class Work> void with_stored(Rows<T> rows, const Work &work) {
  if constexpr (reads_bytes<T>) {
    if (rows.bytes != nullptr) {
      work(rows.bytes);
      return;
    }
  }
  work(rows.values);
}

template <class T>
void forward(Rows<T> rows, std::size_t count, std::size_t width, const T *weights, std::size_t outputs, T *out,
             Ahead ahead) {
  with_stored(rows, [&](const auto *stored) {
    in_pieces<widest>(outputs, [&](auto n, std::size_t first) {
      forward_columns<n()>(stored, count, width, weights + first * padding, outputs, out + first * block_rows,
                           first == 0 ? ahead : Ahead());
    });
  });
}

template <class T>
void backward(Rows<T> rows, std::size_t count, std::size_t width, const T *residual, std::size_t outputs, T *gradient) {
  with_stored(rows, [&](const auto *stored) {
    in_pieces<widest>(outputs, [&](auto n, std::size_t first) {
      backward_columns<n()>(stored, count, width, residual + first * block_rows, outputs, gradient + first * padding);
    });
  });
}

template <class Stored, class T>
void decode_as(const std::byte *stored, std::size_t rows, std::size_t columns, T *HWY_RESTRICT out, std::size_t width) {
  const auto *values = reinterpret_cast<const Stored *>(stored);
  for (std::size_t i = 0; i < rows; ++i, values += columns, out += width) {
    for (std::size_t j = 0; j < columns; ++j) {
      out[j] = static_cast<T>(values[j]);
    }
    std::fill(out + columns, out + width, T(0));
  }
}

template <class T>
void decode_half(const std::byte *stored, std::size_t rows, std::size_t columns, T *out, std::size_t width) {
  const hn::CappedTag<float, padding> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  const auto *values = reinterpret_cast<const hwy::float16_t *>(stored);
  HWY_ALIGN hwy::float16_t narrow[padding] = {};
  HWY_ALIGN float wide[padding];
  for (std::size_t i = 0; i < rows; ++i, values += columns, out += width) {
    for (std::size_t j = 0; j < columns; j += lanes) {
      std::copy_n(values + j, std::min(lanes, columns - j), narrow);
      hn::Store(hn::PromoteTo(d, hn::Load(half, narrow)), d, wide);
      std::copy_n(wide, lanes, out + j); // beyond the last feature, but never beyond the padding
    }
    std::fill(out + columns, out + width, T(0));
  }
}

template <class T>
void decode(const std::byte *stored, Storage storage, std::size_t rows, std::size_t columns, T *out,
            std::size_t width) {
  switch (storage) {
  case Storage::byte:
    decode_as<std::uint8_t>(stored, rows, columns, out, width);
    break;
  case Storage::float16:
    decode_half(stored, rows, columns, out, width);
    break;
  case Storage::float32:
  case Storage::sparse: // never decoded: its products are sparse_products.hpp's
    decode_as<float>(stored, rows, columns, out, width);
    break;
  }
}

template <class T> void softmax(T *HWY_RESTRICT scores, const T *HWY_RESTRICT bias, std::size_t outputs, T *log_sum) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < block_rows; i += lanes) {
    auto largest = hn::Zero(d); // the score of the last class
    for (std::size_t c = 0; c < outputs; ++c) {
      const auto z = hn::Add(hn::LoadU(d, scores + c * block_rows + i), hn::Set(d, bias[c]));
      hn::StoreU(z, d, scores + c * block_rows + i);
      largest = hn::Max(largest, z);
    }
    auto total = hn::Exp(d, hn::Neg(largest));
    for (std::size_t c = 0; c < outputs; ++c) {
      const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + c * block_rows + i), largest));
      hn::StoreU(e, d, scores + c * block_rows + i);
      total = hn::Add(total, e);
    }
    const auto scale = hn::Div(hn::Set(d, T(1)), total);
    for (std::size_t c = 0; c < outputs; ++c) {
      hn::StoreU(hn::Mul(hn::LoadU(d, scores + c * block_rows + i), scale), d, scores + c * block_rows + i);
    }
    if (log_sum != nullptr) {
      hn::StoreU(hn::Add(largest, hn::Log(d, total)), d, log_sum + i);
    }
  }
}

template <class T>
void curve(const T *HWY_RESTRICT p, const T *HWY_RESTRICT s, const T *HWY_RESTRICT bias, const T *HWY_RESTRICT weight,
           std::size_t outputs, T *HWY_RESTRICT u) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < block_rows; i += lanes) {
    auto mean = hn::Zero(d);
    for (std::size_t c = 0; c < outputs; ++c) {
      const auto score = hn::Add(hn::LoadU(d, s + c * block_rows + i), hn::Set(d, bias[c]));
      mean = hn::MulAdd(hn::LoadU(d, p + c * block_rows + i), score, mean);
    }
    const auto w = hn::LoadU(d, weight + i);
    for (std::size_t c = 0; c < outputs; ++c) {
      const auto score = hn::Add(hn::LoadU(d, s + c * block_rows + i), hn::Set(d, bias[c]));
      const auto wp = hn::Mul(w, hn::LoadU(d, p + c * block_rows + i));
      hn::StoreU(hn::Mul(wp, hn::Sub(score, mean)), d, u + c * block_rows + i);
    }
  }
}

template <class T> void sigmoid(const T *x, std::size_t count, T *value, T *slope) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, T(1));
  HWY_ALIGN T rest[padding] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t left = std::min(lanes, count - i);
    std::copy_n(x + i, left, rest);
    const auto e = hn::Exp(d, hn::Neg(hn::Abs(hn::Load(d, rest)))); // never overflows
    const auto smaller = hn::Div(e, hn::Add(one, e));
    const auto larger = hn::Div(one, hn::Add(one, e));
    const auto at = hn::Load(d, rest);
    const auto w = hn::IfThenElse(hn::Lt(at, hn::Zero(d)), smaller, larger);
    hn::Store(w, d, rest);
    std::copy_n(rest, left, value + i);
    hn::Store(hn::Mul(smaller, larger), d, rest);
    std::copy_n(rest, left, slope + i);
  }
}

RowKernels<float> float_kernels() {
  return {decode<float>, forward<float>, backward<float>,   softmax<float>,
          curve<float>,  sigmoid<float>, reads_bytes<float>};
}

RowKernels<double> double_kernels() {
  return {decode<double>, forward<double>, backward<double>,   softmax<double>,
          curve<double>,  sigmoid<double>, reads_bytes<double>};
}

} // namespace duplex::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace duplex::kernels {

HWY_EXPORT(float_kernels);
HWY_EXPORT(double_kernels);

template <> RowKernels<float> row_kernels<float>() { return HWY_DYNAMIC_DISPATCH(float_kernels)(); }
template <> RowKernels<double> row_kernels<double>() { return HWY_DYNAMIC_DISPATCH(double_kernels)(); }

} // namespace duplex::kernels

#endif // HWY_ONCE
