#pragma once
// What a run took for the hypergradient at its last step: a certificate sets the exact one beside it.

namespace duplex {

template <class V> struct LastDirection {
  V x;         ///< where it was computed
  V direction; ///< d
  bool without_second_derivatives =
      false;              ///< by a method that is not right where its d vanishes (MethodTraits::penalizes)
  bool of_sample = false; ///< of a step that saw a sample of the problem, not all of it
};

} // namespace duplex
