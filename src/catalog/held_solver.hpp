#pragma once
// A method behind the interface of the catalog, with its runs on problems whose type is forgotten: slow to compile, so
// that each method has a file of its own for it, and a tool with one method more compiles that one alone.

#include "catalog/catalog.hpp"

#include <duplex/solve.hpp>

namespace duplex::catalog {

template <class S> class SolverHolder final : public ConfiguredSolver {
public:
  [[nodiscard]] std::string_view name() const override { return S::name; }
  [[nodiscard]] std::string_view title() const override { return S::title; }
  [[nodiscard]] std::vector<OptionInfo> options() const override { return describe(solver_); }
  bool set(std::string_view option, std::string_view value) override {
    return set_option(solver_, S::name, option, value);
  }
  bool set(std::string_view option, double value) override { return set_option(solver_, S::name, option, value); }
  void validate() const override { duplex::validate(solver_, S::name); }
  [[nodiscard]] MethodTraits traits() const override { return solver_.traits(); }
  [[nodiscard]] Summary run(const Problem &problem, State<Vector> &state, const Options &options,
                            const Monitor<Vector> &monitor) const override {
    return solve(problem, solver_, state, options, monitor);
  }
  [[nodiscard]] Summary run(const SampledProblem &problem, State<Vector> &state, const Options &options,
                            const Monitor<Vector> &monitor) const override {
    return solve(problem, solver_, state, options, monitor);
  }
  [[nodiscard]] Summary run(const FloatProblem &problem, State<FloatVector> &state, const Options &options,
                            const Monitor<FloatVector> &monitor) const override {
    return solve(problem, solver_, state, options, monitor);
  }

  [[nodiscard]] Summary run(const FloatSampledProblem &problem, State<FloatVector> &state, const Options &options,
                            const Monitor<FloatVector> &monitor) const override {
    return solve(problem, solver_, state, options, monitor);
  }

private:
  S solver_;
};

template <class S> [[nodiscard]] std::unique_ptr<ConfiguredSolver> hold() {
  return std::make_unique<SolverHolder<S>>();
}

} // namespace duplex::catalog
