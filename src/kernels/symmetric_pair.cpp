#include <duplex/kernels/symmetric_pair.hpp>

#include "kernels/team.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
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

/// The rows are cut into shares whose number depends on n alone, and what the shares add to the result is summed in
/// their order: the same bits on any number of threads. 2, 4, 8 … threads have equally many of them.
int shares_of(std::size_t n) {
  constexpr std::size_t rows_worth_a_share = 256; // for less, waking a thread costs more than it saves
  constexpr std::size_t most_shares = 32;
  return static_cast<int>(std::bit_floor(std::clamp<std::size_t>(n / rows_worth_a_share, 1, most_shares)));
}

/// Row share/shares of the way through the triangle's area.
std::size_t first_row(std::size_t n, int share, int shares) {
  const double part = std::sqrt(static_cast<double>(share) / static_cast<double>(shares));
  return share == shares ? n : static_cast<std::size_t>(part * static_cast<double>(n)) / 8 * 8;
}

template <class T, class Rows>
void product(std::size_t n, const T *a, std::size_t stride, const T *u, const T *w, T *au, T *aw, T *scratch,
             int threads, const Rows &rows) {
  const int shares = shares_of(n);
  // Share 0 adds into the result itself, the others into scratch of their own.
  const auto add_share = [&](int share) {
    T *own_u = share == 0 ? au : scratch + 2 * n * static_cast<std::size_t>(share - 1);
    T *own_w = w == nullptr ? nullptr : (share == 0 ? aw : own_u + n);
    const std::size_t end = first_row(n, share + 1, shares);
    const std::size_t reach = share == 0 ? n : end; // rows of the lower half touch nothing beyond the last of them
    std::fill_n(own_u, reach, T(0));
    if (w != nullptr) {
      std::fill_n(own_w, reach, T(0));
    }
    rows(first_row(n, share, shares), end, a, stride, u, w, own_u, own_w);
  };
  const auto sum_shares = [&](std::size_t begin, std::size_t end) {
    for (int share = 1; share < shares; ++share) {
      const T *own_u = scratch + 2 * n * static_cast<std::size_t>(share - 1);
      const std::size_t reach = std::min(end, first_row(n, share + 1, shares));
      for (std::size_t i = begin; i < reach; ++i) {
        au[i] += own_u[i];
      }
      for (std::size_t i = begin; w != nullptr && i < reach; ++i) {
        aw[i] += own_u[n + i];
      }
    }
  };
  if (threads == 1 || shares == 1) {
    for (int share = 0; share < shares; ++share) {
      add_share(share);
    }
    sum_shares(0, n);
    return;
  }
  Team &team = team_of(threads);
  threads = std::min({threads, team.threads(), shares});
  team.run([&](int thread) {
    if (thread < threads) { // the team may be larger
      for (int share = shares * thread / threads; share < shares * (thread + 1) / threads; ++share) {
        add_share(share);
      }
    }
  });
  constexpr int few = 4; // waking so few once more costs as much as it saves
  if (threads <= few) {
    sum_shares(0, n);
  } else {
    team.run([&](int thread) {
      if (thread < threads) {
        const auto part = static_cast<std::size_t>(thread);
        const auto parts = static_cast<std::size_t>(threads);
        sum_shares(n * part / parts, n * (part + 1) / parts);
      }
    });
  }
}

} // namespace

int symmetric_pair_threads(std::size_t n) {
  return omp_in_parallel() != 0 ? 1 : std::clamp(omp_get_max_threads(), 1, shares_of(n));
}

std::size_t symmetric_pair_scratch(std::size_t n) { return 2 * n * static_cast<std::size_t>(shares_of(n) - 1); }

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
