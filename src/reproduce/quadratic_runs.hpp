#pragma once
// BAGDC on quadratic problems, compiled once for all experiments: it is slow to compile.

#include <duplex/methods/bagdc.hpp>
#include <duplex/problems/quadratic.hpp>
#include <duplex/solve.hpp>

namespace duplex {

extern template Summary solve(const Quadratic<double> &problem, const Bagdc &method, State<Eigen::VectorXd> &state,
                              const Options &options, const Monitor<Eigen::VectorXd> &monitor);

} // namespace duplex
