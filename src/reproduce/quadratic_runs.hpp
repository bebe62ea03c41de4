#pragma once
// BAGDC on quadratic problems, compiled once for all experiments: it is slow to compile.

#include <duplex/problems/quadratic.hpp>
#include <duplex/solvers/bagdc.hpp>

namespace duplex {

extern template Summary solve(const Quadratic<double> &problem, const Bagdc &solver, State<Eigen::VectorXd> &state,
                              const Options &options, const Monitor<Eigen::VectorXd> &monitor);

} // namespace duplex
