#include "python/source.hpp"

#include "python/told.hpp"

#include <duplex/problem/by_differences.hpp>

#include <pybind11/stl.h>

#include <utility>

namespace duplex::python {

namespace {

/// Of an optional array.
Vector vector_or_none(const py::object &given, const std::string &name) {
  return given.is_none() ? Vector() : vector_of(given, name);
}

class ToldSource final : public ProblemSource {
public:
  explicit ToldSource(ToldProblem told)
      : has_products_(told.of_lower.has(Member::hess_yy)), told_(held_without_lock(std::move(told))) {}

  [[nodiscard]] bool calls_python() const override { return true; }
  [[nodiscard]] catalog::Problem bind(const std::shared_ptr<Failure> &failure) const override {
    return has_products_ ? catalog::Problem(PythonProblem<true>(told_, failure))
                         : catalog::Problem(by_differences(PythonProblem<false>(told_, failure)));
  }
  [[nodiscard]] catalog::SampledProblem bind_in_batches(Index /*size*/) const override {
    throw InvalidInput("batch: a problem that is written in Python draws no batches, expected a problem by name");
  }
  [[nodiscard]] CheckReport check(const std::shared_ptr<Failure> &failure, const State<Vector> &center,
                                  const CheckOptions &options) const override {
    return has_products_ ? duplex::check(PythonProblem<true>(told_, failure), center, options)
                         : duplex::check(PythonProblem<false>(told_, failure), center, options);
  }

private:
  bool has_products_;
  std::shared_ptr<const ToldProblem> told_;
};

class NamedSource final : public ProblemSource {
public:
  explicit NamedSource(std::unique_ptr<catalog::ConfiguredProblem> settings) : settings_(std::move(settings)) {
    problem_.emplace(settings_->make());
  }

  [[nodiscard]] bool calls_python() const override { return false; }
  [[nodiscard]] catalog::Problem bind(const std::shared_ptr<Failure> & /*failure*/) const override { return *problem_; }
  [[nodiscard]] catalog::SampledProblem bind_in_batches(Index size) const override {
    return settings_->make_in_batches(size);
  }
  [[nodiscard]] std::uint64_t seed() const override { return catalog::seed_of(*settings_); }
  [[nodiscard]] CheckReport check(const std::shared_ptr<Failure> & /*failure*/, const State<Vector> &center,
                                  const CheckOptions &options) const override {
    return duplex::check(*problem_, center, options);
  }
  [[nodiscard]] const catalog::Problem &problem() const { return *problem_; }
  [[nodiscard]] const catalog::ConfiguredProblem &settings() const { return *settings_; }

private:
  std::unique_ptr<catalog::ConfiguredProblem> settings_;
  std::optional<catalog::Problem> problem_;
};

std::shared_ptr<ToldSource> make_told(const py::dict &given) {
  const auto level = [&](const char *name) {
    return LevelSetting{name, given[name], given["writable_point"].cast<bool>()};
  };
  ToldProblem told{.lower = level("lower"),
                   .upper = level("upper"),
                   .of_lower = OfferedMembers(given["of_lower"].cast<std::uint32_t>()),
                   .of_upper = OfferedMembers(given["of_upper"].cast<std::uint32_t>()),
                   .start = {vector_of(given["x"], "x0"), vector_of(given["y"], "y0"), {}},
                   .box = {},
                   .x_scale = vector_or_none(given["x_scale"], "x_scale"),
                   .y_scale = vector_or_none(given["y_scale"], "y_scale"),
                   .upper_scale = given["upper_scale"].cast<double>(),
                   .held_out = given["held_out"].is_none() ? py::object() : py::object(given["held_out"])};
  told.start.v = Vector::Zero(told.start.y.size());
  told.box = Box<Vector>(vector_or_none(given["lower_bound"], "lower_bound"),
                         vector_or_none(given["upper_bound"], "upper_bound"), told.start.x.size());
  return std::make_shared<ToldSource>(std::move(told));
}

py::dict state_dict(const State<Vector> &state) {
  py::dict out;
  out["x"] = array_of(state.x);
  out["y"] = array_of(state.y);
  return out;
}

/// What both levels say at a point, with products of v.
py::dict evaluated(const NamedSource &source, const py::object &at_x, const py::object &at_y, const py::object &of_v) {
  const auto &problem = source.problem();
  State<Vector> point{vector_of(at_x, "x"), vector_of(at_y, "y"), vector_or_none(of_v, "v")};
  prepare_start(problem, point);
  const auto level = [&](auto evaluation, bool has_grad_x, bool has_products) {
    py::dict out;
    evaluation.at(point.x, point.y);
    out["value"] = evaluation.value();
    Vector like_x(point.x.size());
    Vector like_y(point.y.size());
    evaluation.grad_y(like_y);
    out["grad_y"] = array_of(like_y);
    if (has_grad_x) {
      evaluation.grad_x(like_x);
      out["grad_x"] = array_of(like_x);
    }
    if (has_products) {
      evaluation.hess_yy(point.v, like_y);
      evaluation.cross_xy(point.v, like_x);
      out["hess_yy"] = array_of(like_y);
      out["cross_xy"] = array_of(like_x);
    }
    return out;
  };
  py::dict out;
  auto lower = problem.lower();
  const bool has_grad_x = lower.offers_grad_x();
  out["lower"] = level(std::move(lower), has_grad_x, true);
  out["upper"] = level(problem.upper(), true, problem.offers_aggregation());
  return out;
}

std::shared_ptr<NamedSource> make_named(const std::string &spec, const py::dict &options) {
  auto settings = problem_with(spec, options);
  const py::gil_scoped_release others_may_run;
  return std::make_shared<NamedSource>(std::move(settings));
}

} // namespace

void add_problems(py::module_ &module) {
  const py::class_<ProblemSource, std::shared_ptr<ProblemSource>> base(module, "ProblemSource");
  py::class_<ToldSource, ProblemSource, std::shared_ptr<ToldSource>>(module, "ToldProblem").def(py::init(&make_told));
  py::class_<NamedSource, ProblemSource, std::shared_ptr<NamedSource>>(module, "NamedProblem")
      .def(py::init(&make_named))
      .def("start", [](const NamedSource &source) { return state_dict(source.problem().start()); })
      .def("evaluate", &evaluated)
      .def("remarks", [](const NamedSource &source) { return source.settings().remarks(); })
      .def("answer", [](const NamedSource &source) -> py::object {
        const auto answer = source.problem().answer();
        if (!answer) {
          return py::none();
        }
        py::dict out;
        out["x"] = array_of(answer->x);
        out["y"] = array_of(answer->y);
        out["v"] = array_of(answer->v);
        out["value"] = answer->value;
        return out;
      });
}

} // namespace duplex::python
