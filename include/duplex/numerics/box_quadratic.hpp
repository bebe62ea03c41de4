#pragma once
// min gᵀp + ½ pᵀHp over a box of p that contains zero: sweeps over the entries one by one find which of them end at
// their bounds, and Newton's steps of the others, each as far as the box lets, find where those end (after Moré and
// Toraldo, 1991). Where H is not positive definite conjugate gradients take Newton's place, and the result is a point
// at which the model is lower than at zero.

#include <duplex/numerics/dense.hpp>

namespace duplex::dense {

/// `accuracy`: of H beside its diagonal; curvatures that are smaller are none.
[[nodiscard]] Vector<double> minimize_in_box(const Matrix<double> &h, const Vector<double> &g,
                                             const Vector<double> &lower, const Vector<double> &upper, double accuracy);

} // namespace duplex::dense
