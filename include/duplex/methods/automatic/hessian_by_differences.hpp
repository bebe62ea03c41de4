#pragma once
// ∇²φ at a point, column by column from d beside it, where d can be had accurately.

#include <duplex/methods/automatic/current_point.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/upper_direction.hpp>

namespace duplex::automatic {

/// Hands ∇²φ to `direction`; leaves it without one where d cannot be computed. `beside` is for the points beside.
template <VectorSpace V>
void assemble_hessian(CurrentPoint<V> &current, UpperDirection<V> &direction, Estimate<V> &beside) {
  if constexpr (EigenVector<V>) {
    const double accuracy = rule::accuracy_of_difference * current.slope();
    if (current.refresh(accuracy) != LinearStatus::converged) {
      return;
    }
    const Estimate<V> &here = current.estimate();
    direction.assemble_hessian(here, [&](Index j, double &h, V &d) {
      assign(here.at, beside.at);
      beside.at.x[j] += static_cast<typename V::Scalar>(h);
      current.box().project(beside.at.x);
      if (beside.at.x[j] == here.at.x[j]) { // at its upper bound
        beside.at.x[j] -= static_cast<typename V::Scalar>(h);
        current.box().project(beside.at.x);
      }
      h = static_cast<double>(beside.at.x[j]) - static_cast<double>(here.at.x[j]);
      const bool found = current.hypergradient().evaluate(beside, accuracy) == LinearStatus::converged;
      assign(beside.d, d);
      return found;
    });
  }
}

} // namespace duplex::automatic
