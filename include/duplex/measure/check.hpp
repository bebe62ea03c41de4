#pragma once
// check(problem): every derivative, and the hypergradient, against finite differences at random points around the
// start. Wrong derivatives are the commonest reason why a bilevel run goes wrong in silence.
//
// A verdict comes from differences over many steps, with an estimate of what truncation and rounding leave of them: a
// derivative is wrong where it differs from them by more than that. Where differences cannot tell, the row says that it
// could not be checked, and why. Points and steps stay within the bounds of x and where f and F are finite.

#include <duplex/measure/checked_problem.hpp>
#include <duplex/problem/incomplete.hpp>
#include <duplex/problem/problem.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace duplex {

struct CheckOptions {
  std::uint64_t seed = 0;
  int points = 3;         ///< random points around the start
  double spread = 1.0;    ///< how far those lie from it, in units of its entries, or of 1 where these are larger
  double tolerance = 0.0; ///< relative error of an entry that is allowed for besides; 0: 1e-6 in double, 1e-5 in float
};

struct CheckRow {
  std::string quantity;
  double error = 0.0;    ///< worst relative error of an entry over the points, of those that differences resolve
  bool passes = false;   ///< it was checked and is right, or it does not exist, as the note says
  std::string note;      ///< what is wrong, or is worth knowing
  std::string unchecked; ///< why it could not be checked; empty where it was

  [[nodiscard]] bool is_wrong() const { return !passes && unchecked.empty(); }
};

struct CheckReport {
  double tolerance = 0.0;
  std::vector<CheckRow> rows;

  /// Every row was checked and is right.
  [[nodiscard]] bool passes() const;
  /// Some row is wrong. A report that neither passes nor is wrong has rows that could not be checked.
  [[nodiscard]] bool is_wrong() const;

  /// A table for people.
  [[nodiscard]] std::string table() const;
};

namespace detail {

[[nodiscard]] CheckReport check_derivatives(CheckedProblem problem, const CheckOptions &options);
/// Throws InvalidInput where an option is out of range.
void require_options(const CheckOptions &options);

} // namespace detail

/// Verifies the derivatives of a problem around `center`.
template <FirstOrderProblem P>
[[nodiscard]] CheckReport check(const P &problem, State<VectorOf<P>> center, const CheckOptions &options = {}) {
  using Lower = LowerOf<P>;
  using V = VectorOf<P>;
  if constexpr (detail::HasHessYY<Lower, V> != detail::HasCrossXY<Lower, V>) { // the other one was forgotten
    detail::explain_second_order<Lower, V>();
  }
  detail::require_offers<P>();
  detail::require_options(options);
  prepare_start(problem, center);
  return detail::check_derivatives(detail::checked_problem(problem, center), options);
}

/// Verifies the derivatives of a problem around its own start.
template <StartedProblem P> [[nodiscard]] CheckReport check(const P &problem, const CheckOptions &options = {}) {
  return check(problem, problem.start(), options);
}

/// What is not a problem: the first error of the compiler names the level and the member that is missing.
template <class P>
requires(!FirstOrderProblem<P>) CheckReport check(const P & /*problem*/, const CheckOptions & /*options*/ = {}) {
  detail::explain_incomplete_problem<P, false>();
  return {};
}
template <class P, VectorSpace V>
requires(!FirstOrderProblem<P>) CheckReport
    check(const P &problem, const State<V> & /*center*/, const CheckOptions &options = {}) {
  return check(problem, options);
}

} // namespace duplex
