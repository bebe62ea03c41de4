#pragma once
// The direct solver of vectors whose entries cannot be set one by one: there is none (direct_solver.hpp).

#include <duplex/methods/automatic/inner_tolerance.hpp>
#include <duplex/numerics/linear_status.hpp>

#include <cstdint>

namespace duplex::automatic {

/// Of vectors that are not Eigen's: it is never possible.
template <class V> class DirectSolver {
public:
  DirectSolver(const V & /*x*/, const V & /*y*/) {}
  [[nodiscard]] static bool is_possible() { return false; }
  [[nodiscard]] static bool is_ready() { return false; }
  [[nodiscard]] static bool is_wanted() { return false; }
  [[nodiscard]] static bool is_believed() { return false; }
  [[nodiscard]] static std::int64_t assemblies() { return 0; }
  [[nodiscard]] static double rounding_of_gradient(const V & /*y*/) { return 0.0; }
  [[nodiscard]] static double error_of(const V & /*residual*/) { return 0.0; }
  void forget() {}
  void want() {}
  void note_that_h_changes() {}
  template <class Product> LinearStatus assemble(const Product & /*product*/, const V & /*x*/, const V & /*y*/) {
    return LinearStatus::step_limit;
  }
  template <class Product>
  InnerReport solve(const Product & /*product*/, const V & /*x*/, const V & /*y*/, V & /*residual*/, V & /*solution*/,
                    const InnerTolerance & /*tolerance*/) {
    return {.status = LinearStatus::step_limit};
  }
  template <class Archive> void archive(Archive & /*members*/) {}
  template <class Lower> void restore(Lower & /*lower*/) {}
};

} // namespace duplex::automatic
