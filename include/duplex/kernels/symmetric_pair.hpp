#pragma once
// [Au, Aw] for a symmetric A in one pass over half of A. Compiled for several
// instruction sets and dispatched at run time.

#include <cstddef>

namespace duplex::kernels {

/// How many threads a product of this size is worth.
[[nodiscard]] int symmetric_pair_threads(std::size_t n);

/// Numbers of scratch that the product needs.
[[nodiscard]] std::size_t symmetric_pair_scratch(std::size_t n);

/// a is n×n, symmetric, with rows `stride` numbers apart; only entries a[i*stride + j]
/// with j <= i are read. The same bits for any number of threads. w and aw may both
/// be null: then only Au is computed.
void symmetric_pair_product(std::size_t n, const double *a, std::size_t stride, const double *u, const double *w,
                            double *au, double *aw, double *scratch, int threads);
void symmetric_pair_product(std::size_t n, const float *a, std::size_t stride, const float *u, const float *w,
                            float *au, float *aw, float *scratch, int threads);

} // namespace duplex::kernels
