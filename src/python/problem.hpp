#pragma once
// A problem that is written in Python, as one of the engine's. Each run makes one of its own from what Python has told,
// so that one problem serves several threads.

#include "python/level.hpp"

#include <duplex/problem/problem.hpp>
#include <duplex/space/box.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace duplex::python {

/// What Python has told of a problem.
struct ToldProblem {
  LevelSetting lower;
  LevelSetting upper;
  OfferedMembers of_lower;
  OfferedMembers of_upper;
  State<Vector> start;
  Box<Vector> box;
  Vector x_scale;
  Vector y_scale;
  double upper_scale = 0.0;
  py::object held_out; ///< none: there are no samples that neither level sees
};

/// An evaluation; `has_products` is known of the problem's type, all else of the object.
template <bool has_products> class LowerLevel {
public:
  LowerLevel(const ToldProblem &told, std::shared_ptr<Failure> failure) : offered_(told.of_lower) {
    const py::gil_scoped_acquire lock;
    level_ = held_without_lock(Level(told.lower, told.start.x.size(), told.start.y.size(), std::move(failure)));
  }

  void at(const Vector &x, const Vector &y) { level_->at(x, y); }
  [[nodiscard]] double value() { return level_->value(); }
  [[nodiscard]] bool offers_grad_x() const { return offered_.has(Member::grad_x); }
  void grad_x(Vector &out) { level_->fill(Member::grad_x, out); }
  void grad_y(Vector &out) { level_->fill(Member::grad_y, out); }
  void hess_yy(const Vector &v, Vector &out) requires(has_products) { level_->fill(Member::hess_yy, v, out); }
  void cross_xy(const Vector &v, Vector &out) requires(has_products) { level_->fill(Member::cross_xy, v, out); }
  void both_products(const Vector &v, Vector &hess, Vector &cross) requires(has_products) {
    if (offered_.has(Member::both_products)) {
      level_->fill_both(v, hess, cross);
    } else {
      hess_yy(v, hess);
      cross_xy(v, cross);
    }
  }
  [[nodiscard]] OfferedInverse offered_inverse() const {
    return offered_.has(Member::solve_lower)    ? OfferedInverse::exact
           : offered_.has(Member::precondition) ? OfferedInverse::approximate
                                                : OfferedInverse::none;
  }
  void apply_offered_inverse(const Vector &v, Vector &out) {
    level_->fill(offered_.has(Member::solve_lower) ? Member::solve_lower : Member::precondition, v, out);
  }

private:
  OfferedMembers offered_;
  std::shared_ptr<Level> level_;
};

template <bool has_products> class UpperLevel {
public:
  UpperLevel(const ToldProblem &told, std::shared_ptr<Failure> failure) {
    const py::gil_scoped_acquire lock;
    level_ = held_without_lock(Level(told.upper, told.start.x.size(), told.start.y.size(), std::move(failure)));
  }

  void at(const Vector &x, const Vector &y) { level_->at(x, y); }
  [[nodiscard]] double value() { return level_->value(); }
  void grad_x(Vector &out) { level_->fill(Member::grad_x, out); }
  void grad_y(Vector &out) { level_->fill(Member::grad_y, out); }
  void hess_yy(const Vector &v, Vector &out) requires(has_products) { level_->fill(Member::hess_yy, v, out); }
  void cross_xy(const Vector &v, Vector &out) requires(has_products) { level_->fill(Member::cross_xy, v, out); }

private:
  std::shared_ptr<Level> level_;
};

/// One that has products with the lower level's second derivatives, or gradients alone.
template <bool has_products> class PythonProblem {
public:
  using Vector = python::Vector;

  PythonProblem(std::shared_ptr<const ToldProblem> told, std::shared_ptr<Failure> failure)
      : told_(std::move(told)), failure_(std::move(failure)) {}

  [[nodiscard]] LowerLevel<has_products> lower() const { return {*told_, failure_}; }
  [[nodiscard]] UpperLevel<has_products> upper() const { return {*told_, failure_}; }
  [[nodiscard]] Index x_size() const { return told_->start.x.size(); }
  [[nodiscard]] Index y_size() const { return told_->start.y.size(); }
  [[nodiscard]] State<Vector> start() const { return told_->start; }
  [[nodiscard]] bool offers_aggregation() const requires(has_products) {
    return told_->of_upper.has(Member::hess_yy) && told_->of_upper.has(Member::cross_xy);
  }
  [[nodiscard]] double upper_scale() const { return told_->upper_scale; }
  [[nodiscard]] Box<Vector> box() const { return told_->box; }
  [[nodiscard]] Vector x_scale() const { return told_->x_scale; }
  [[nodiscard]] Vector y_scale() const { return told_->y_scale; }
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const {
    if (!told_->held_out) {
      return std::nullopt;
    }
    failure_->require_none();
    const py::gil_scoped_acquire lock;
    try {
      return told_->held_out(array_of(x), array_of(y)).template cast<double>();
    } catch (py::error_already_set &error) {
      error.restore();
      failure_->leave();
    } catch (const py::cast_error &) {
      failure_->leave_with("held_out: expected a number to be returned");
    }
  }

private:
  std::shared_ptr<const ToldProblem> told_;
  std::shared_ptr<Failure> failure_;
};

} // namespace duplex::python
