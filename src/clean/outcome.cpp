#include "clean/outcome.hpp"

#include "data/csv_write.hpp"

#include <duplex/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace duplex::clean {

namespace {

std::string cell(const std::vector<std::string> &values, std::size_t row) {
  return values.empty() ? std::string() : data::csv_cell(values[row]);
}

} // namespace

namespace {

struct Counts {
  Index kept = 0;
  Index clean = 0;
  Index kept_clean = 0;
};

Counts count(const Vector &trust, float threshold, const std::vector<bool> &wrong) {
  Counts counts;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const bool keep = trust[static_cast<Index>(i)] >= threshold;
    counts.kept += keep ? 1 : 0;
    counts.clean += wrong[i] ? 0 : 1;
    counts.kept_clean += keep && !wrong[i] ? 1 : 0;
  }
  return counts;
}

double ratio(Index part, Index whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 1.0;
}

/// Of features in the units of the file: scaling is folded into the first layer where features are taken as they are.
Model model_of(const FittedModel &fitted, const Scaling &scaling, const data::Dataset &training) {
  Model model{.classes = training.label_names,
              .feature_names = training.feature_names,
              .plan = training.plan,
              .features = static_cast<Index>(scaling.scale.size()),
              .hidden = fitted.hidden,
              .columns = fitted.columns};
  const std::span<const float> all(fitted.parameters.data(), static_cast<std::size_t>(fitted.parameters.size()));
  const auto first = static_cast<std::size_t>(fitted.hidden * (model.features + 1));
  model.hidden_weights.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  model.weights.assign(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  if (fitted.columns.kind == ColumnMap::as_it_is && !fitted.landmarks) {
    if (fitted.hidden > 0) {
      model.hidden_weights = unscaled(model.hidden_weights, fitted.hidden, scaling);
    } else {
      model.weights = unscaled(model.weights, static_cast<Index>(model.classes.size()), scaling);
    }
    return model;
  }
  for (std::size_t j = 0; j < scaling.scale.size(); ++j) {
    model.scales.insert(model.scales.end(), {scaling.scale[j], scaling.shift[j]});
  }
  if (fitted.landmarks) {
    model.kernel_scale = fitted.kernel_scale;
    for (Index i = 0; i < fitted.landmarks->rows(); ++i) {
      for (Index j = 0; j < fitted.landmarks->columns(); ++j) {
        model.landmarks.push_back(fitted.landmarks->value(i, j));
      }
    }
  }
  return model;
}

} // namespace

double f1_of_clean(const Vector &score, float threshold, const std::vector<bool> &wrong) {
  const Counts counts = count(score, threshold, wrong);
  return ratio(2 * counts.kept_clean, counts.kept + counts.clean);
}

Quality quality_of(const Vector &trust, float threshold, const std::vector<bool> &wrong) {
  const auto rows = static_cast<Index>(wrong.size());
  const Counts counts = count(trust, threshold, wrong);
  const Index suspects = rows - counts.kept;
  const Index found = suspects - (counts.clean - counts.kept_clean);
  Quality quality{.f1 = f1_of_clean(trust, threshold, wrong),
                  .precision = ratio(found, suspects),
                  .recall = ratio(found, rows - counts.clean)};
  std::vector<Index> ranking(wrong.size());
  std::iota(ranking.begin(), ranking.end(), Index{0});
  std::stable_sort(ranking.begin(), ranking.end(), [&](Index a, Index b) { return trust[a] < trust[b]; });
  Index hits = 0;
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    if (wrong[static_cast<std::size_t>(ranking[place])]) {
      ++hits;
      quality.average_precision += static_cast<double>(hits) / static_cast<double>(place + 1);
    }
  }
  quality.average_precision = hits > 0 ? quality.average_precision / static_cast<double>(hits) : 1.0;
  return quality;
}

double expected_wrong(const Result &result) {
  return static_cast<double>(result.trust.size()) - result.trust.cast<double>().sum();
}

Outcome outcome_of(Result result, const Prepared &prepared, const data::Dataset &training) {
  Outcome outcome;
  const auto back = [&](auto &values) {
    auto sorted = values;
    for (std::size_t i = 0; i < prepared.order.size(); ++i) {
      sorted[prepared.order[i]] = values[i];
    }
    values = std::move(sorted);
  };
  back(result.weight);
  back(result.trust);
  back(result.trust_before_doubts);
  back(result.probability);
  back(result.suggested);
  if (!result.trusted_model_says.empty()) {
    back(result.trusted_model_says);
  }
  for (Index i = 0; i < result.trust.size(); ++i) {
    if (result.trust[i] < result.suspect_below) {
      outcome.suspects.push_back(i);
    }
  }
  std::stable_sort(outcome.suspects.begin(), outcome.suspects.end(),
                   [&](Index a, Index b) { return result.trust[a] < result.trust[b]; });
  outcome.model = model_of(result.model, prepared.scaling, training);
  if (result.trusted_only) {
    outcome.trusted_only = model_of(*result.trusted_only, prepared.scaling, training);
  }
  outcome.result = std::move(result);
  return outcome;
}

std::string suspects_csv(const Outcome &outcome, const data::Dataset &training) {
  const Result &result = outcome.result;
  std::string csv = "row,id,given,suggested,trust,probability\n";
  for (const Index row : outcome.suspects) {
    const auto i = static_cast<std::size_t>(row);
    csv += fmt::format("{},{},{},{},{:.6g},{:.6g}\n", training.row_number(i), cell(training.ids, i),
                       data::csv_cell(training.label_names[training.labels[i]]),
                       data::csv_cell(training.label_names[result.suggested[i]]), result.trust[row],
                       result.probability[row]);
  }
  return csv;
}

std::string weights_csv(const Outcome &outcome, const data::Dataset &training) {
  const Result &result = outcome.result;
  std::string csv = "row,id,label,weight,trust,kept\n";
  for (Index row = 0; row < result.trust.size(); ++row) {
    const auto i = static_cast<std::size_t>(row);
    csv += fmt::format("{},{},{},{:.6g},{:.6g},{}\n", training.row_number(i), cell(training.ids, i),
                       data::csv_cell(training.label_names[training.labels[i]]), result.weight[row], result.trust[row],
                       result.trust[row] >= result.suspect_below ? 1 : 0);
  }
  return csv;
}

namespace {

/// For each source: its weight in the first fits, and the part of its labels that are right.
Json sources_json(const Result &result, const data::Dataset &training) {
  Json out = Json::array();
  for (std::size_t s = 0; s < result.source_right.size(); ++s) {
    Json source{{"name", training.source_names[s]}, {"right", result.source_right[s]}};
    if (!result.source_weight.empty()) {
      source["weight"] = result.source_weight[s];
    }
    out.push_back(std::move(source));
  }
  return out;
}

} // namespace

Json summary_json(const Outcome &outcome, const data::Dataset &training) {
  const Result &result = outcome.result;
  Json noise = Json::array();
  for (Index k = 0; k < result.noise.transition.rows(); ++k) {
    Json row = Json::array();
    for (Index l = 0; l < result.noise.transition.cols(); ++l) {
      row.push_back(result.noise.transition(k, l));
    }
    noise.push_back(std::move(row));
  }
  Json json{{"duplex", version},
            {"rows", training.labels.size()},
            {"features", outcome.model.features},
            {"classes", training.label_names},
            {"suspects", outcome.suspects.size()},
            {"models", result.seen_as},
            {"rounds", result.rounds},
            {"began_with_trusted_model", result.began_with_trusted},
            {"skill_on_trusted_rows", result.skill},
            {"suspects_below_trust", result.suspect_below},
            {"expected_wrong", expected_wrong(result)},
            {"wrong_by_class", result.wrong_by_class},
            {"wrong_near_boundaries", result.near_boundaries},
            {"penalty", result.rho},
            {"pooling",
             {{"linear", result.pooling.linear},
              {"kernel", result.pooling.kernel},
              {"network", result.pooling.network},
              {"probabilities", result.pooling.others},
              {"trusted", result.pooling.trusted}}},
            {"label_noise", std::move(noise)},
            {"seconds",
             {{"reading", outcome.seconds_reading},
              {"choice", result.timings.choice},
              {"trusted_model", result.timings.trusted_model},
              {"bilevel", result.timings.bilevel},
              {"rounds", result.timings.rounds},
              {"final_model", result.timings.final_model}}}};
  if (!result.source_right.empty()) {
    json["sources"] = sources_json(result, training);
  }
  if (!result.solver.empty()) {
    json["bilevel"] = {{"solver", result.solver},
                       {"steps", result.steps},
                       {"kept_step", result.best_step},
                       {"stopped_because", result.ending},
                       {"recoveries", result.recoveries}};
  }
  if (outcome.quality) {
    json["quality"] = {{"f1", outcome.quality->f1},
                       {"suspects_precision", outcome.quality->precision},
                       {"suspects_recall", outcome.quality->recall},
                       {"average_precision", outcome.quality->average_precision}};
  }
  return json;
}

} // namespace duplex::clean
