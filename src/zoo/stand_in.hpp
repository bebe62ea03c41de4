#pragma once
// What a careful engineer would write in an afternoon instead of using a library: y*(x) by Newton's method with the
// dense Hessian, the hypergradient by the same factorization, and limited-memory BFGS on x, projected where x has
// bounds. It shares nothing with the engine but the problem's evaluations.

#include "zoo/model.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace duplex::zoo {

/// A component counts as at a bound within this distance, relative to 1 + |bound|.
inline constexpr double bound_tolerance = 1e-8;

/// The gradient without what a bound holds back: components that point out of a bound at which x is.
template <class T>
[[nodiscard]] VectorOver<T> projected(const VectorOver<T> &gradient, const VectorOver<T> &x, const VectorOver<T> &lower,
                                      const VectorOver<T> &upper) {
  VectorOver<T> out = gradient;
  for (Index i = 0; i < x.size(); ++i) {
    const bool at_lower =
        std::isfinite(lower[i]) && x[i] - lower[i] <= T(bound_tolerance) * (T(1) + std::abs(lower[i]));
    const bool at_upper =
        std::isfinite(upper[i]) && upper[i] - x[i] <= T(bound_tolerance) * (T(1) + std::abs(upper[i]));
    if ((at_lower && gradient[i] > T(0)) || (at_upper && gradient[i] < T(0))) {
      out[i] = T(0);
    }
  }
  return out;
}

struct StandInOptions {
  double tolerance = 1e-6; ///< on the projected gradient, relative to the first
  int most_steps = 1000;
  int pairs = 10;
  double most_seconds = std::numeric_limits<double>::infinity();
};

template <class T> struct StandInAnswer {
  VectorOver<T> x;
  VectorOver<T> y;
  bool converged = false;
  int steps = 0;
  int evaluations = 0; ///< of φ and ∇φ
  double ratio = 1.0;  ///< of the projected gradient to the first, as it sees it
  std::string message;
};

template <class T>
[[nodiscard]] StandInAnswer<T> stand_in(Model<T> &model, const State<VectorOver<T>> &start,
                                        const StandInOptions &options = {});

extern template StandInAnswer<float> stand_in(Model<float> &, const State<VectorOver<float>> &, const StandInOptions &);
extern template StandInAnswer<double> stand_in(Model<double> &, const State<VectorOver<double>> &,
                                               const StandInOptions &);
extern template StandInAnswer<long double> stand_in(Model<long double> &, const State<VectorOver<long double>> &,
                                                    const StandInOptions &);

} // namespace duplex::zoo
