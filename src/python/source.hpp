#pragma once
// What runs are made on: a problem that is written in Python, or one of the catalog.

#include "catalog/catalog.hpp"
#include "python/problem.hpp"

#include <duplex/measure/check.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace duplex::python {

class ProblemSource {
public:
  ProblemSource() = default;
  ProblemSource(const ProblemSource &) = delete;
  ProblemSource &operator=(const ProblemSource &) = delete;
  virtual ~ProblemSource() = default;

  /// Whether its steps call functions of Python's, which may fail in their middle.
  [[nodiscard]] virtual bool calls_python() const = 0;
  /// For one run, whose functions leave there what they raise.
  [[nodiscard]] virtual catalog::Problem bind(const std::shared_ptr<Failure> &failure) const = 0;
  /// The same, drawn in batches of so many samples of each level. Throws InvalidInput where it is no sum over samples.
  [[nodiscard]] virtual catalog::SampledProblem bind_in_batches(Index size) const = 0;
  /// By which its batches are drawn.
  [[nodiscard]] virtual std::uint64_t seed() const { return 0; }
  [[nodiscard]] virtual CheckReport check(const std::shared_ptr<Failure> &failure, const State<Vector> &center,
                                          const CheckOptions &options) const = 0;
};

/// Makes Problem, which Python gives its functions, and NamedProblem, one of the catalog's.
void add_problems(py::module_ &module);

} // namespace duplex::python
