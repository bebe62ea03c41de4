#pragma once
// The loop as a function: a program that calls it for vectors of doubles or floats compiles none of it.

#include <duplex/run/loop.hpp>

#include <utility>

namespace duplex::detail {

template <VectorSpace V> [[nodiscard]] Summary run_loop(RunContext<V> context, const Monitor<V> &monitor) {
  return Loop<V>(std::move(context), monitor).run();
}
// Compiled once, in the library.
extern template Summary run_loop(RunContext<Eigen::VectorXd>, const Monitor<Eigen::VectorXd> &);
extern template Summary run_loop(RunContext<Eigen::VectorXf>, const Monitor<Eigen::VectorXf> &);

} // namespace duplex::detail
