#pragma once
// Metrics that any problem has, by name:
//   direction             ‖d‖
//   kkt                   ‖∇L(x, y, v)‖
//   upper                 F(x, y) at the run's own y
//   held-out              the upper level's loss on samples that neither level sees, where there are any
//   hypergradient         ‖∇φ(x)‖, exact, of its free part where x has bounds
//   hypergradient-error   ‖d − ∇φ‖ at the point where d was computed
//   phi                   φ(x) = F(x, y*(x)), exact
//   phi-gap               |φ(x) − F*| / |F*|       where the answer is known
//   x-error               ‖x − x*‖ / ‖x*‖          where the answer is known

#include <duplex/measure/exact.hpp>
#include <duplex/measure/residual.hpp>
#include <duplex/run/observer.hpp>

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace duplex {

constexpr std::array<std::string_view, 9> metric_names{
    "direction", "kkt", "upper", "held-out", "hypergradient", "hypergradient-error", "phi", "phi-gap", "x-error"};

/// ‖x − x*‖ / ‖x*‖, and ‖x‖ where x* = 0.
template <VectorSpace V> [[nodiscard]] double relative_x_error(const V &x, const Answer<V> &answer, V &scratch) {
  const double length = norm(answer.x);
  return distance(x, answer.x, scratch) / (length > 0.0 ? length : 1.0);
}

/// |φ − F*| / |F*|, and |φ| where F* = 0.
template <class V> [[nodiscard]] double relative_phi_gap(double phi, const Answer<V> &answer) {
  return std::abs(phi - answer.value) / (answer.value != 0.0 ? std::abs(answer.value) : 1.0);
}

/// Makes the metrics of one problem; they share what they compute at a step. The
/// problem must outlive them.
template <SecondOrderProblem P> class MetricBook {
public:
  using V = VectorOf<P>;

  explicit MetricBook(const P &problem) : shared_(std::make_shared<Shared>(problem)) {}

  /// Throws InvalidInput on a name that is not among metric_names, NotAvailable
  /// where the problem has no known answer and the metric needs one.
  [[nodiscard]] Metric<V> metric(std::string_view name) const {
    using Measure = double (Shared::*)(const Progress<V> &);
    constexpr std::array<Measure, metric_names.size()> measures{
        &Shared::direction,           &Shared::kkt, &Shared::upper,   &Shared::held_out, &Shared::hypergradient,
        &Shared::hypergradient_error, &Shared::phi, &Shared::phi_gap, &Shared::x_error};
    for (std::size_t i = 0; i < metric_names.size(); ++i) {
      if (metric_names[i] == name) {
        if (name == "held-out" && !shared_->holds_out()) {
          throw NotAvailable("metric 'held-out': this problem has no samples that neither level sees");
        }
        if (needs_answer(name) && !shared_->know_answer()) {
          throw NotAvailable("metric '" + std::string(name) + "': this problem's answer is not known");
        }
        return {std::string(name), [shared = shared_, measure = measures[i]](const Progress<V> &progress) {
                  return ((*shared).*measure)(progress);
                }};
      }
    }
    throw InvalidInput("metric '" + std::string(name) + "' is not known");
  }

  [[nodiscard]] static bool needs_answer(std::string_view name) { return name == "phi-gap" || name == "x-error"; }

private:
  struct Shared {
    explicit Shared(const P &problem)
        : problem_of_book(&problem), box(box_of(problem)), kkt_residual(problem), up(problem.upper()),
          exact_here(problem), exact_before(problem) {}

    /// Works the answer out when it is first asked for: that may cost more than a run.
    bool know_answer() {
      if constexpr (AnsweredProblem<P>) {
        if (!answer_was_sought) {
          answer = problem_of_book->answer();
          answer_was_sought = true;
        }
      }
      return answer.has_value();
    }

    double direction(const Progress<V> &progress) { return progress.direction_norm; }

    double kkt(const Progress<V> &progress) {
      return kkt_residual.at(progress.state.x, progress.state.y, progress.state.v).residual();
    }

    double upper(const Progress<V> &progress) {
      up.at(progress.state.x, progress.state.y);
      return up.value();
    }

    bool holds_out() const {
      if constexpr (HeldOutProblem<P> && StartedProblem<P>) {
        const auto start = problem_of_book->start();
        return problem_of_book->held_out(start.x, start.y).has_value();
      } else {
        return HeldOutProblem<P>;
      }
    }

    double held_out(const Progress<V> &progress) {
      if constexpr (HeldOutProblem<P>) {
        return problem_of_book->held_out(progress.state.x, progress.state.y).value_or(infinity);
      } else {
        return infinity;
      }
    }

    double hypergradient(const Progress<V> &progress) {
      return box.free_norm(progress.state.x, here(progress).hypergradient, scratch);
    }

    double hypergradient_error(const Progress<V> &progress) {
      const auto &exact = exact_before.at(progress.previous_x, progress.state.y);
      return distance(progress.direction, exact.hypergradient, scratch);
    }

    double phi(const Progress<V> &progress) { return here(progress).value; }

    double phi_gap(const Progress<V> &progress) { return relative_phi_gap(here(progress).value, *answer); }

    double x_error(const Progress<V> &progress) { return relative_x_error(progress.state.x, *answer, scratch); }

    const ExactPoint<V> &here(const Progress<V> &progress) {
      if (point == nullptr || !(distance(progress.state.x, point_x, scratch) == 0.0)) {
        point = &exact_here.at(progress.state.x, progress.state.y);
        assign(progress.state.x, point_x);
      }
      return *point;
    }

    const P *problem_of_book;
    Box<V> box;
    bool answer_was_sought = false;
    KktResidual<P> kkt_residual;
    UpperOf<P> up;
    ExactSolver<P> exact_here;
    ExactSolver<P> exact_before;
    std::optional<Answer<V>> answer;
    V scratch;
    V point_x;
    const ExactPoint<V> *point = nullptr; ///< the exact point at point_x
  };

  std::shared_ptr<Shared> shared_;
};

} // namespace duplex
