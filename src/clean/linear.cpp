#include "clean/linear.hpp"

#include "catalog/catalog.hpp"
#include "clean/beliefs.hpp"
#include "clean/bilevel_run.hpp"

#include <duplex/measure/curvature.hpp>
#include <duplex/problems/hyper_cleaning.hpp>

#include <cmath>
#include <utility>

namespace duplex::clean {

namespace {

/// In units of the samples' mean squared length.
constexpr std::array<double, 6> linear_penalties{1.5e-3, 5e-4, 1.5e-4, 5e-5, 1.5e-5, 5e-6};
constexpr double penalty_of_bilevel_run = 1.5e-5;

class LinearBilevel final : public BilevelProblem {
public:
  LinearBilevel(const LabelledSamples &training, const LabelledSamples &used, LabelledSamples held_out, Index classes,
                double rho, int threads)
      : problem_(training, used, classes, rho, threads), held_out_(std::move(held_out)) {}

  /// At the classes' shares.
  [[nodiscard]] double curvature() const override {
    return largest_curvature(problem_, problem_.start().x, class_priors());
  }

  [[nodiscard]] BilevelAnswer solve(const BilevelRequest &request) const override {
    auto solver = catalog::make_solver(request.solver);
    solver->set_unless_pinned(request.defaults);
    Loss held(held_out_, problem_.classes(), problem_.threads());
    Loss upper(problem_.trusted(), problem_.classes(), problem_.threads());
    const Vector held_weights = Vector::Constant(held.rows(), 1.0F / static_cast<float>(held.rows()));
    const Vector used_weights = Vector::Constant(upper.rows(), 1.0F / static_cast<float>(upper.rows()));
    const auto measure = [&](const State<Vector> &state) {
      held.at(state.y);
      upper.at(state.y);
      return Measured{.held_out_loss = held.value(held_weights),
                      .trusted_loss = upper.value(used_weights),
                      .held_out_accuracy = share_of_equal(predicted(held.probabilities()), *held_out_.labels),
                      .suspects = static_cast<Index>((state.x.array() < 0.0F).count())};
    };
    auto state = problem_.start();
    auto answer = run_bilevel<Vector>(request, measure, [&](const auto &options, const auto &monitor) {
      return solver->run(catalog::FloatProblem(problem_), state, options, monitor);
    });
    answer.solver = catalog::spec_text(solver->name(), solver->options());
    answer.x = std::move(state.x);
    answer.model = std::move(state.y);
    return answer;
  }

private:
  /// Biases at the logarithms of the classes' shares: where a run is soon, and the curvature larger than at zero.
  [[nodiscard]] Vector class_priors() const {
    const Index classes = problem_.classes();
    Vector y = Vector::Zero(problem_.y_size());
    const Index stride = y.size() / classes;
    Eigen::VectorXd counts = Eigen::VectorXd::Ones(classes);
    for (const auto label : *problem_.training().labels) {
      counts[static_cast<Index>(label)] += 1.0;
    }
    for (Index k = 0; k < classes; ++k) {
      y[(k + 1) * stride - 1] = static_cast<float>(std::log(counts[k] / counts.sum()));
    }
    return y;
  }

  HyperCleaning<float> problem_;
  LabelledSamples held_out_;
};

class Linear final : public Classifier {
public:
  Linear(Index features, Index classes, double unit, int threads)
      : features_(features), classes_(classes), threads_(threads), bilevel_rho_(penalty_of_bilevel_run * unit) {
    for (const double penalty : linear_penalties) {
      plan_.penalties.push_back(penalty * unit);
    }
  }

  [[nodiscard]] const TrainingPlan &plan() const override { return plan_; }
  [[nodiscard]] Index hidden() const override { return 0; }
  [[nodiscard]] Vector untrained() const override { return Vector::Zero(classes_ * (features_ + 1)); }

  void fit(std::span<const WeightedSamples> parts, const FitOptions &options, Vector &model) const override {
    std::vector<Loss> losses;
    losses.reserve(parts.size());
    std::vector<Group> groups;
    for (const auto &part : parts) {
      auto &loss = losses.emplace_back(part.samples, classes_, threads_);
      if (part.targets.size() > 0) {
        loss.set_targets(part.targets);
      }
      groups.push_back({&loss, &part.weights});
    }
    clean::fit(groups, classes_, options, model);
  }

  [[nodiscard]] Matrix log_probabilities(const LabelledSamples &samples, const Vector &model) const override {
    Loss loss(samples, classes_, threads_);
    return clean::log_probabilities(loss, model);
  }

  [[nodiscard]] std::unique_ptr<BilevelProblem> bilevel(const LabelledSamples &training, const LabelledSamples &used,
                                                        const LabelledSamples &held_out) const override {
    return std::make_unique<LinearBilevel>(training, used, held_out, classes_, bilevel_rho_, threads_);
  }

private:
  Index features_;
  Index classes_;
  int threads_;
  double bilevel_rho_;
  TrainingPlan plan_;
};

} // namespace

std::unique_ptr<Classifier> make_linear(Index features, Index classes, double unit, int threads) {
  return std::make_unique<Linear>(features, classes, unit, threads);
}

} // namespace duplex::clean
