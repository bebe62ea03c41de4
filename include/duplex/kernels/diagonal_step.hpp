#pragma once
// A step of BAGDC on the counter-example with a diagonal A, all vectors in one pass. Compiled for several instruction
// sets and dispatched at run time; the same bits on each, since nothing is contracted.

#include <cstddef>

namespace duplex::kernels {

/// y ← y − β(a∘y − x), v ← v + η a∘(y − v), d = (x − z₀) + v. a null: ones.
template <class T> struct DiagonalStep {
  std::size_t count;
  const T *a;
  const T *x;
  const T *z0;
  T beta;
  T eta;
  T *y;
  T *v;
  T *d;
};

void do_diagonal_step(const DiagonalStep<double> &step);
void do_diagonal_step(const DiagonalStep<float> &step);

} // namespace duplex::kernels
