// Classifiers whose penalties are tuned.

#include "zoo/family.hpp"
#include "zoo/losses.hpp"
#include "zoo/penalized.hpp"
#include "zoo/rescaled.hpp"
#include "zoo/softmax_classes.hpp"

#include <cmath>

namespace duplex::zoo {

namespace {

PenalizedSettings sign_settings(Index features, std::vector<Index> groups, std::uint64_t seed) {
  Draws draws(200U + seed);
  return {.model = {.targets = Targets::signs,
                    .weights = sparse_weights(draws, features, features / 3),
                    .noise = 1.0,
                    .correlation = 0.2},
          .training = 3 * features,
          .validation = 4 * features,
          .groups = std::move(groups),
          .start = -3.0,
          .seed = seed};
}

template <class Loss> auto classifier(const PenalizedSettings &settings) {
  return [settings]<class T>() { return Penalized<T, Loss>(settings); };
}

PenalizedSettings with_prior(PenalizedSettings settings, double prior) {
  settings.prior = prior;
  return settings;
}

PenalizedSettings with_limit(PenalizedSettings settings, double limit) {
  settings.limit = limit;
  return settings;
}

Family logistic_float() {
  return Family::in_float(
      {.name = "logistic-float", .title = "logistic regression in float, one log-penalty for each of four groups"},
      classifier<LogisticLoss>(with_prior(sign_settings(20, groups_of(20, 5), 15), 0.01)));
}

/// x_j in units of 10^±power.
Family logistic_in_units(int power) {
  const auto settings = with_prior(sign_settings(24, groups_of(24, 2), 16), 0.01);
  return {{.name = "logistic-units" + std::to_string(power),
           .title = "logistic regression, log-penalties of groups in units of 1e±" + std::to_string(power)},
          [settings, power]<class T>() {
            Penalized<T, LogisticLoss> problem(settings);
            const auto units = spread_units(problem.x_size(), std::pow(10.0, power), 7);
            const VectorOver<T> ones = VectorOver<T>::Ones(problem.y_size());
            return Rescaled(std::move(problem), rounded<T>(units), ones);
          }};
}

} // namespace

std::vector<Family> classification_families() {
  std::vector<Family> out;
  out.push_back({{.name = "logistic-one", .title = "logistic regression, one log-penalty"},
                 classifier<LogisticLoss>(sign_settings(20, one_group(20), 10))});
  out.push_back({{.name = "logistic-groups", .title = "logistic regression, one log-penalty for each of five groups"},
                 classifier<LogisticLoss>(sign_settings(30, groups_of(30, 6), 11))});
  out.push_back({{.name = "logistic-features", .title = "logistic regression, one log-penalty per feature in ±10"},
                 classifier<LogisticLoss>(with_limit(sign_settings(30, groups_of(30, 1), 12), 10.0))});
  out.push_back({{.name = "logistic-prior", .title = "logistic regression, one log-penalty per feature, a weak prior"},
                 classifier<LogisticLoss>(with_prior(sign_settings(30, groups_of(30, 1), 13), 1e-3))});
  out.push_back(
      {{.name = "logistic-free", .title = "logistic regression, one log-penalty per feature that nothing holds"},
       classifier<LogisticLoss>(sign_settings(20, groups_of(20, 1), 17))});
  out.push_back({{.name = "svm", .title = "a support vector machine with a smooth hinge, four groups of penalties"},
                 classifier<SmoothHinge>(with_prior(sign_settings(24, groups_of(24, 6), 14), 1e-3))});
  out.push_back(logistic_float());
  for (const int power : {1, 2, 4}) {
    out.push_back(logistic_in_units(power));
  }
  out.push_back({{.name = "softmax", .title = "softmax regression, one log-penalty per class"},
                 []<class T>() { return SoftmaxClasses<T>({.seed = 20}); }});
  return out;
}

} // namespace duplex::zoo
