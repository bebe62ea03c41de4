#include <duplex/kernels/symmetric_pair.hpp>

#include "kernels/team.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE                                                                                             \
  "kernels/symmetric_pair.cpp"  // NOLINT(cppcoreguidelines-macro-usage): how Highway recompiles a file
#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace duplex::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows are taken four at a time: each entry that is read serves the dot products of
// its row and the update of its column, for u and for w.
constexpr std::size_t block = 4;

template <class T, bool Pair>
void one_row(std::size_t i, const T *HWY_RESTRICT a, std::size_t stride, const T *HWY_RESTRICT u,
             const T *HWY_RESTRICT w, T *HWY_RESTRICT au, T *HWY_RESTRICT aw) {
  const T *row = a + i * stride;
  T su = 0;
  T sw = 0;
  for (std::size_t j = 0; j < i; ++j) {
    su += row[j] * u[j];
    au[j] += row[j] * u[i];
    if constexpr (Pair) {
      sw += row[j] * w[j];
      aw[j] += row[j] * w[i];
    }
  }
  au[i] += su + row[i] * u[i];
  if constexpr (Pair) {
    aw[i] += sw + row[i] * w[i];
  }
}

template <class T, bool Pair>
void four_rows(std::size_t i, const T *HWY_RESTRICT a, std::size_t stride, const T *HWY_RESTRICT u,
               const T *HWY_RESTRICT w, T *HWY_RESTRICT au, T *HWY_RESTRICT aw) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T *r0 = a + i * stride;
  const T *r1 = r0 + stride;
  const T *r2 = r1 + stride;
  const T *r3 = r2 + stride;
  const auto u0 = hn::Set(d, u[i]);
  const auto u1 = hn::Set(d, u[i + 1]);
  const auto u2 = hn::Set(d, u[i + 2]);
  const auto u3 = hn::Set(d, u[i + 3]);
  const auto w0 = hn::Set(d, Pair ? w[i] : T(0));
  const auto w1 = hn::Set(d, Pair ? w[i + 1] : T(0));
  const auto w2 = hn::Set(d, Pair ? w[i + 2] : T(0));
  const auto w3 = hn::Set(d, Pair ? w[i + 3] : T(0));
  auto su0 = hn::Zero(d);
  auto su1 = hn::Zero(d);
  auto su2 = hn::Zero(d);
  auto su3 = hn::Zero(d);
  auto sw0 = hn::Zero(d);
  auto sw1 = hn::Zero(d);
  auto sw2 = hn::Zero(d);
  auto sw3 = hn::Zero(d);
  const std::size_t vectorized = i - i % lanes;
  for (std::size_t j = 0; j < vectorized; j += lanes) {
    const auto a0 = hn::LoadU(d, r0 + j);
    const auto a1 = hn::LoadU(d, r1 + j);
    const auto a2 = hn::LoadU(d, r2 + j);
    const auto a3 = hn::LoadU(d, r3 + j);
    const auto uj = hn::LoadU(d, u + j);
    su0 = hn::MulAdd(a0, uj, su0);
    su1 = hn::MulAdd(a1, uj, su1);
    su2 = hn::MulAdd(a2, uj, su2);
    su3 = hn::MulAdd(a3, uj, su3);
    const auto column_u =
        hn::MulAdd(a0, u0, hn::MulAdd(a1, u1, hn::MulAdd(a2, u2, hn::MulAdd(a3, u3, hn::LoadU(d, au + j)))));
    hn::StoreU(column_u, d, au + j);
    if constexpr (Pair) {
      const auto wj = hn::LoadU(d, w + j);
      sw0 = hn::MulAdd(a0, wj, sw0);
      sw1 = hn::MulAdd(a1, wj, sw1);
      sw2 = hn::MulAdd(a2, wj, sw2);
      sw3 = hn::MulAdd(a3, wj, sw3);
      const auto column_w =
          hn::MulAdd(a0, w0, hn::MulAdd(a1, w1, hn::MulAdd(a2, w2, hn::MulAdd(a3, w3, hn::LoadU(d, aw + j)))));
      hn::StoreU(column_w, d, aw + j);
    }
  }
  const auto add = [&](T *out, std::size_t row, auto sum) { out[row] += hn::GetLane(hn::SumOfLanes(d, sum)); };
  add(au, i, su0);
  add(au, i + 1, su1);
  add(au, i + 2, su2);
  add(au, i + 3, su3);
  if constexpr (Pair) {
    add(aw, i, sw0);
    add(aw, i + 1, sw1);
    add(aw, i + 2, sw2);
    add(aw, i + 3, sw3);
  }
  // What is left of the four rows: a short rectangle and the triangle on the diagonal.
  for (std::size_t r = i; r < i + block; ++r) {
    const T *row = a + r * stride;
    for (std::size_t j = vectorized; j < r; ++j) {
      au[r] += row[j] * u[j];
      au[j] += row[j] * u[r];
      if constexpr (Pair) {
        aw[r] += row[j] * w[j];
        aw[j] += row[j] * w[r];
      }
    }
    au[r] += row[r] * u[r];
    if constexpr (Pair) {
      aw[r] += row[r] * w[r];
    }
  }
}

template <class T, bool Pair>
void rows_of_half(std::size_t begin, std::size_t end, const T *a, std::size_t stride, const T *u, const T *w, T *au,
                  T *aw) {
  std::size_t i = begin;
  for (; i + block <= end; i += block) {
    four_rows<T, Pair>(i, a, stride, u, w, au, aw);
  }
  for (; i < end; ++i) {
    one_row<T, Pair>(i, a, stride, u, w, au, aw);
  }
}

void rows_of_half_double(std::size_t begin, std::size_t end, const double *a, std::size_t stride, const double *u,
                         const double *w, double *au, double *aw) {
  w == nullptr ? rows_of_half<double, false>(begin, end, a, stride, u, w, au, aw)
               : rows_of_half<double, true>(begin, end, a, stride, u, w, au, aw);
}

void rows_of_half_float(std::size_t begin, std::size_t end, const float *a, std::size_t stride, const float *u,
                        const float *w, float *au, float *aw) {
  w == nullptr ? rows_of_half<float, false>(begin, end, a, stride, u, w, au, aw)
               : rows_of_half<float, true>(begin, end, a, stride, u, w, au, aw);
}

} // namespace duplex::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace duplex::kernels {

HWY_EXPORT(rows_of_half_double);
HWY_EXPORT(rows_of_half_float);

namespace {

/// Row t/threads of the way through the triangle's area.
std::size_t share_of_rows(std::size_t n, int thread, int threads) {
  const double part = std::sqrt(static_cast<double>(thread) / static_cast<double>(threads));
  return thread == threads ? n : static_cast<std::size_t>(part * static_cast<double>(n)) / 8 * 8;
}

template <class T, class Rows>
void product(std::size_t n, const T *a, std::size_t stride, const T *u, const T *w, T *au, T *aw, T *scratch,
             int threads, const Rows &rows) {
  std::fill_n(au, n, T(0));
  if (aw != nullptr) {
    std::fill_n(aw, n, T(0));
  }
  if (threads == 1) {
    rows(0, n, a, stride, u, w, au, aw);
    return;
  }
  // Thread 0 adds into the result itself, the others into scratch of their own.
  Team &team = team_of(threads);
  threads = std::min(threads, team.threads());
  team.run([&](int thread) {
    if (thread >= threads) {
      return;
    }
    T *own_u = thread == 0 ? au : scratch + 2 * n * static_cast<std::size_t>(thread - 1);
    T *own_w = w == nullptr ? nullptr : (thread == 0 ? aw : own_u + n);
    if (thread > 0) {
      std::fill_n(own_u, n, T(0));
      if (w != nullptr) {
        std::fill_n(own_w, n, T(0));
      }
    }
    rows(share_of_rows(n, thread, threads), share_of_rows(n, thread + 1, threads), a, stride, u, w, own_u, own_w);
  });
  const auto add_scratch = [&](int part, int parts) {
    const std::size_t begin = n * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
    const std::size_t end = n * static_cast<std::size_t>(part + 1) / static_cast<std::size_t>(parts);
    for (int thread = 1; thread < threads; ++thread) {
      const T *own_u = scratch + 2 * n * static_cast<std::size_t>(thread - 1);
      for (std::size_t i = begin; i < end; ++i) {
        au[i] += own_u[i];
      }
      for (std::size_t i = begin; w != nullptr && i < end; ++i) {
        aw[i] += own_u[n + i];
      }
    }
  };
  constexpr int few = 4; // waking so few once more costs as much as it saves
  if (threads <= few) {
    add_scratch(0, 1);
  } else {
    team.run([&](int thread) {
      if (thread < threads) {
        add_scratch(thread, threads);
      }
    });
  }
}

} // namespace

int symmetric_pair_threads(std::size_t n) {
  constexpr std::size_t rows_worth_a_thread = 256; // for less, waking a thread costs more than it saves
  const auto useful = static_cast<int>(std::min<std::size_t>(n / rows_worth_a_thread, 1024));
  return omp_in_parallel() != 0 ? 1 : std::clamp(useful, 1, omp_get_max_threads());
}

std::size_t symmetric_pair_scratch(std::size_t n, int threads) {
  return 2 * n * static_cast<std::size_t>(std::max(threads - 1, 0));
}

void symmetric_pair_product(std::size_t n, const double *a, std::size_t stride, const double *u, const double *w,
                            double *au, double *aw, double *scratch, int threads) {
  product(n, a, stride, u, w, au, aw, scratch, threads, HWY_DYNAMIC_DISPATCH(rows_of_half_double));
}

void symmetric_pair_product(std::size_t n, const float *a, std::size_t stride, const float *u, const float *w,
                            float *au, float *aw, float *scratch, int threads) {
  product(n, a, stride, u, w, au, aw, scratch, threads, HWY_DYNAMIC_DISPATCH(rows_of_half_float));
}

} // namespace duplex::kernels

#endif // HWY_ONCE
