#pragma once
// Every method on the problems that most tests run, compiled once for all tests: each pair takes a quarter of a second.
// A method or a problem that is not here is compiled where it is used.

#include <duplex/catalog.hpp>
#include <duplex/duplex.hpp>

// NOLINTBEGIN(bugprone-macro-parentheses): arguments are types
#define DUPLEX_TEST_SOLVE(prefix, P, S)                                                                                \
  prefix template Summary solve(const P &, const S &, State<Eigen::VectorXd> &, const Options &,                       \
                                const Monitor<Eigen::VectorXd> &);
#define DUPLEX_TEST_SOLVES(prefix, P)                                                                                  \
  DUPLEX_TEST_SOLVE(prefix, P, Automatic)                                                                              \
  DUPLEX_TEST_SOLVE(prefix, P, Bagdc)                                                                                  \
  DUPLEX_TEST_SOLVE(prefix, P, Bda)                                                                                    \
  DUPLEX_TEST_SOLVE(prefix, P, Bome)                                                                                   \
  DUPLEX_TEST_SOLVE(prefix, P, Cg)                                                                                     \
  DUPLEX_TEST_SOLVE(prefix, P, DTfbo)                                                                                  \
  DUPLEX_TEST_SOLVE(prefix, P, F2sa)                                                                                   \
  DUPLEX_TEST_SOLVE(prefix, P, MaSoba)                                                                                 \
  DUPLEX_TEST_SOLVE(prefix, P, Meha)                                                                                   \
  DUPLEX_TEST_SOLVE(prefix, P, Neumann)                                                                                \
  DUPLEX_TEST_SOLVE(prefix, P, Nosa)                                                                                   \
  DUPLEX_TEST_SOLVE(prefix, P, Pbgd)                                                                                   \
  DUPLEX_TEST_SOLVE(prefix, P, Rhg)                                                                                    \
  DUPLEX_TEST_SOLVE(prefix, P, STfbo)                                                                                  \
  DUPLEX_TEST_SOLVE(prefix, P, Saba)                                                                                   \
  DUPLEX_TEST_SOLVE(prefix, P, Sbagdc)                                                                                 \
  DUPLEX_TEST_SOLVE(prefix, P, Soba)                                                                                   \
  DUPLEX_TEST_SOLVE(prefix, P, Spaba)                                                                                  \
  DUPLEX_TEST_SOLVE(prefix, P, Srba)
// NOLINTEND(bugprone-macro-parentheses)

namespace duplex {

using OnIdentity = CounterExample<double, IdentityMatrix>;
using OnDiagonal = CounterExample<double, DiagonalSpd<double>>;
using OnDense = CounterExample<double, DenseSpd<double>>;

DUPLEX_TEST_SOLVES(extern, AnyProblem<Eigen::VectorXd>)
DUPLEX_TEST_SOLVES(extern, HyperCleaning<double>)
DUPLEX_TEST_SOLVES(extern, MultipleMinimizers<double>)
DUPLEX_TEST_SOLVES(extern, OnDense)
DUPLEX_TEST_SOLVES(extern, OnDiagonal)
DUPLEX_TEST_SOLVES(extern, OnIdentity)
DUPLEX_TEST_SOLVES(extern, PenalizedSoftmax<double>)
DUPLEX_TEST_SOLVES(extern, Quadratic<double>)
DUPLEX_TEST_SOLVES(extern, Ridge<double>)

} // namespace duplex
