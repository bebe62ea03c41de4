#include "clean/linear.hpp"

#include "clean/few_columns.hpp"

#include <algorithm>
#include <array>

namespace duplex::clean {

namespace {

/// In units of the samples' mean squared length.
constexpr std::array<double, 3> linear_penalties{1e-2, 1e-3, 1e-4};
constexpr std::array<double, 5> linear_penalties_of_trusted{1e-1, 1e-2, 1e-3, 1e-4, 1e-5};

class Linear final : public Classifier {
public:
  Linear(Index features, Index classes, double unit, int threads)
      : features_(features), classes_(classes), threads_(threads) {
    const double length = unit > 0.0 ? unit : 1.0;
    for (const double penalty : linear_penalties) {
      plan_.penalties.push_back(penalty * length);
    }
    for (const double penalty : linear_penalties_of_trusted) {
      plan_.penalties_of_trusted.push_back(penalty * length);
    }
    plan_.factors = {1.0, 0.316, 0.1};
    plan_.factors_in_rounds = {1.0, 0.316};
  }

  [[nodiscard]] const TrainingPlan &plan() const override { return plan_; }
  [[nodiscard]] Index hidden() const override { return 0; }
  [[nodiscard]] Vector untrained() const override { return Vector::Zero(classes_ * (features_ + 1)); }

  void fit(std::span<const WeightedSamples> parts, const FitOptions &options, Vector &model) const override {
    const auto is_sparse = [](const WeightedSamples &part) { return part.samples.features->is_sparse(); };
    if (options.rho > 0.0 && std::all_of(parts.begin(), parts.end(), is_sparse)) {
      fit_few_columns(parts, options, model);
    } else {
      fit_all_columns(parts, options, model);
    }
  }

  [[nodiscard]] Matrix log_probabilities(const LabelledSamples &samples, const Vector &model) const override {
    Loss loss(samples, classes_, threads_);
    return clean::log_probabilities(loss, model);
  }

private:
  void fit_few_columns(std::span<const WeightedSamples> parts, const FitOptions &options, Vector &model) const {
    const FewColumns columns(parts);
    Vector few = columns.restricted(model, classes_);
    fit_all_columns(columns.joined(parts), options, few);
    columns.expand(few, classes_, model);
  }

  void fit_all_columns(std::span<const WeightedSamples> parts, const FitOptions &options, Vector &model) const {
    std::vector<Loss> losses;
    losses.reserve(parts.size());
    std::vector<Group> groups;
    for (const auto &part : parts) {
      auto &loss = losses.emplace_back(part.samples, classes_, threads_);
      groups.push_back({&loss, &part.weights, part.likelihoods.get(), part.first_likelihood});
    }
    clean::fit(groups, classes_, options, model);
  }

  Index features_;
  Index classes_;
  int threads_;
  TrainingPlan plan_;
};

} // namespace

std::unique_ptr<Classifier> make_linear(Index features, Index classes, double unit, int threads) {
  return std::make_unique<Linear>(features, classes, unit, threads);
}

} // namespace duplex::clean
