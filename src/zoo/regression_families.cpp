// Linear models whose penalties or sample weights are tuned on held-out samples.

#include "zoo/elastic_net.hpp"
#include "zoo/family.hpp"
#include "zoo/losses.hpp"
#include "zoo/penalized.hpp"
#include "zoo/weighted.hpp"

namespace duplex::zoo {

namespace {

PenalizedSettings ridge_settings(Index features, std::vector<Index> groups, std::uint64_t seed) {
  Draws draws(100U + seed);
  return {.model = {.weights = sparse_weights(draws, features, features / 4), .noise = 1.0, .correlation = 0.2},
          .training = features + features / 2,
          .validation = 2 * features,
          .groups = std::move(groups),
          .seed = seed};
}

template <class Loss> auto penalized(const PenalizedSettings &settings) {
  return [settings]<class T>() { return Penalized<T, Loss>(settings); };
}

Family ridge_features(bool runs_in_float) {
  auto settings = ridge_settings(40, groups_of(40, 1), 2);
  settings.prior = 0.01;
  const Facts facts{.name = runs_in_float ? "ridge-float" : "ridge-features",
                    .title = "ridge regression, one log-penalty per feature, a weak prior on them"};
  const auto make = penalized<SquaredLoss>(settings);
  return runs_in_float ? Family::in_float(facts, make) : Family(facts, make);
}

/// One log-penalty per feature, and nothing that holds those of features that say nothing.
PenalizedSettings free_settings(Targets targets, Index features, std::uint64_t seed) {
  Draws draws(100U + seed);
  PenalizedSettings settings;
  settings.model.targets = targets;
  settings.model.weights = (targets == Targets::counts ? 0.4 : 1.0) * sparse_weights(draws, features, features / 2);
  settings.model.noise = 0.3;
  settings.training = 3 * features;
  settings.validation = 3 * features;
  settings.groups = groups_of(features, 1);
  settings.seed = seed;
  return settings;
}

/// Four tasks with the same useful features, in other weights.
PenalizedSettings task_settings() {
  constexpr Index features = 12;
  constexpr Index tasks = 4;
  auto settings = ridge_settings(features, {}, 3);
  settings.tasks = tasks;
  settings.training = 15;
  settings.validation = 20;
  settings.prior = 0.01;
  for (Index j = 0; j < tasks * features; ++j) {
    settings.groups.push_back(j % features);
  }
  return settings;
}

PenalizedSettings count_settings() {
  Draws draws(104);
  PenalizedSettings settings;
  settings.model.targets = Targets::counts;
  settings.model.weights = 0.4 * sparse_weights(draws, 18, 6);
  settings.model.noise = 0.2;
  settings.training = 50;
  settings.groups = groups_of(18, 3);
  settings.prior = 0.01;
  settings.seed = 4;
  return settings;
}

} // namespace

std::vector<Family> regression_families() {
  std::vector<Family> out;
  out.push_back({{.name = "ridge-one", .title = "ridge regression, one log-penalty"},
                 penalized<SquaredLoss>(ridge_settings(30, one_group(30), 1))});
  out.push_back(ridge_features(false));
  out.push_back(ridge_features(true));
  out.push_back({{.name = "multi-task", .title = "four regressions that share the penalty of each feature"},
                 penalized<SquaredLoss>(task_settings())});
  out.push_back({{.name = "poisson", .title = "Poisson regression, one log-penalty for each of six groups"},
                 penalized<PoissonLoss>(count_settings())});
  out.push_back(
      {{.name = "poisson-free", .title = "Poisson regression, one log-penalty per feature that nothing holds"},
       penalized<PoissonLoss>(free_settings(Targets::counts, 16, 7))});
  out.push_back({{.name = "robust-free", .title = "robust regression, one log-penalty per feature that nothing holds"},
                 penalized<RobustLoss>(free_settings(Targets::numbers, 20, 8))});
  out.push_back({{.name = "elastic-net", .title = "regression with a smooth elastic net, two log-weights"},
                 []<class T>() { return ElasticNet<T>({.seed = 5}); }});
  out.push_back({{.name = "weights-box", .title = "regression with outliers, a weight in [0, 1] for every sample"},
                 []<class T>() {
                   Draws draws(106);
                   return Weighted<T, SquaredLoss>(
                       {.model = {.weights = draws.normals(8), .noise = 0.3, .wrong_targets = 0.3},
                        .training = 60,
                        .validation = 30,
                        .weight = Weight::itself,
                        .seed = 6});
                 }});
  return out;
}

} // namespace duplex::zoo
