#pragma once
// Solvers and problems by name, with self-describing options: what the command
// line, the race and the reproductions are built on.

#include "catalog/options.hpp"
#include "names/spec.hpp"

#include <duplex/measure/exact.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problem/any_sampled.hpp>
#include <duplex/run/metrics.hpp>
#include <duplex/run/observer.hpp>
#include <duplex/solve.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace duplex::catalog {

using Vector = Eigen::VectorXd;
using Problem = AnyProblem<Vector>;
using SampledProblem = AnySampledProblem<Vector>; ///< drawn in batches
using FloatVector = Eigen::VectorXf;
using FloatProblem = AnyProblem<FloatVector>;
using FloatSampledProblem = AnySampledProblem<FloatVector>; ///< drawn in batches

/// A solver or a problem whose options can be set by name.
class Configurable {
public:
  Configurable() = default;
  Configurable(const Configurable &) = delete;
  Configurable &operator=(const Configurable &) = delete;
  virtual ~Configurable() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view title() const = 0;
  [[nodiscard]] virtual std::vector<OptionInfo> options() const = 0;
  /// False if it has no such option; throws InvalidInput on a value of the wrong kind.
  virtual bool set(std::string_view option, std::string_view value) = 0;
  virtual bool set(std::string_view option, double value) = 0;
  /// Throws InvalidInput where a value is out of its bound.
  virtual void validate() const = 0;

  /// An option that was given with the name keeps its value: set_unless_pinned() leaves it alone.
  void pin(std::string option) { pinned_.push_back(std::move(option)); }
  [[nodiscard]] bool is_pinned(std::string_view option) const {
    return std::find(pinned_.begin(), pinned_.end(), option) != pinned_.end();
  }
  bool set_unless_pinned(std::string_view option, std::string_view value) {
    return is_pinned(option) || set(option, value);
  }
  /// The same with every default, as far as there are such options.
  void set_unless_pinned(const names::OptionDefaults &defaults) {
    for (const auto &[option, value] : defaults) {
      const std::string_view name = option;
      std::visit([&](const auto &given) { (void)(is_pinned(name) || set(name, given)); }, value);
    }
  }

private:
  std::vector<std::string> pinned_;
};

class ConfiguredSolver : public Configurable {
public:
  /// Throws InvalidInput where options contradict one another, or steps are missing.
  [[nodiscard]] virtual MethodTraits traits() const = 0;
  [[nodiscard]] virtual Summary run(const Problem &problem, State<Vector> &state, const Options &options,
                                    const Monitor<Vector> &monitor) const = 0;
  /// On batches that it draws by the options' seed.
  [[nodiscard]] virtual Summary run(const SampledProblem &problem, State<Vector> &state, const Options &options,
                                    const Monitor<Vector> &monitor) const = 0;
  [[nodiscard]] virtual Summary run(const FloatProblem &problem, State<FloatVector> &state, const Options &options,
                                    const Monitor<FloatVector> &monitor) const = 0;
  [[nodiscard]] virtual Summary run(const FloatSampledProblem &problem, State<FloatVector> &state,
                                    const Options &options, const Monitor<FloatVector> &monitor) const = 0;
};

class ConfiguredProblem : public Configurable {
public:
  /// Files that make() reads.
  [[nodiscard]] virtual std::vector<std::string> input_files() const = 0;
  [[nodiscard]] virtual Problem make() const = 0;
  /// To be drawn in batches of so many samples of each level. Throws InvalidInput where the problem is no sum over
  /// samples, or has fewer.
  [[nodiscard]] virtual SampledProblem make_in_batches(Index size) const = 0;
  /// Whether its samples are those of files whatever the seed is.
  [[nodiscard]] virtual bool has_the_same_samples_for_every_seed() const = 0;
  /// What a user should know of how the files were read when the problem was made last.
  [[nodiscard]] virtual const std::vector<std::string> &remarks() const = 0;
};

[[nodiscard]] std::vector<std::string> solver_names();
[[nodiscard]] std::vector<std::string> problem_names();

/// By "name" or "name:key=value:key=value". Throws InvalidInput, with the nearest
/// known name, where there is no such solver, problem or option.
[[nodiscard]] std::unique_ptr<ConfiguredSolver> make_solver(std::string_view spec);
[[nodiscard]] std::unique_ptr<ConfiguredProblem> make_problem(std::string_view spec);

/// The seed of a problem, where it has one.
[[nodiscard]] std::uint64_t seed_of(const Configurable &problem);

/// What a run by name does where it is told nothing else.
[[nodiscard]] inline Options run_of_the_tool() { return {.recoveries = 12}; }

} // namespace duplex::catalog

// Instantiated once, in metrics.cpp: these are slow to compile.
extern template class duplex::MetricBook<duplex::catalog::Problem>;
