// The page that `duplex clean` writes, as data.

#include "clean/outcome.hpp"
#include "report/page.hpp"

#include <duplex/run/summary.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace duplex::clean {

namespace {

using report::base64;
using report::grouped;
using report::percent;

constexpr std::size_t shown_suspects = 240;
constexpr Index shown_features = 12;

std::size_t classes_of(const std::vector<std::uint32_t> &labels) {
  return std::set<std::uint32_t>(labels.begin(), labels.end()).size();
}

Json curves(const Result &result) {
  const auto panel = [&](const char *title, const char *y_label, double Look::*of, double factor) {
    Json series = Json::array();
    Json marks = Json::array();
    for (int run = 0; run < 2; ++run) {
      Json x = Json::array();
      Json y = Json::array();
      for (const auto &look : result.looks) {
        if (look.run == run) {
          x.push_back(look.step);
          y.push_back(factor * (look.*of));
        }
      }
      if (!x.empty()) {
        marks.push_back({{"x", result.best_step[static_cast<std::size_t>(run)]},
                         {"label", run == 0 ? "first kept" : "second kept"}});
      }
      series.push_back({{"name", run == 0 ? "first half" : "second half"}, {"x", x}, {"y", y}});
    }
    return Json{{"title", title}, {"y_label", y_label}, {"series", series}, {"marks", marks}};
  };
  return {
      {"kind", "curves"},
      {"title", "While it ran"},
      {"note", "The bilevel problem is solved on either half of the training rows; a quarter of the trusted rows is "
               "held out, and of each run the model with the lowest loss on those is kept."},
      {"x_label", "step"},
      {"panels", Json::array({panel("Loss on trusted rows held out", "cross-entropy", &Look::held_out_loss, 1.0),
                              panel("Accuracy on trusted rows held out", "per cent", &Look::held_out_accuracy, 100.0),
                              panel("Loss on trusted rows in use", "cross-entropy", &Look::trusted_loss, 1.0)})}};
}

Json trust_histogram(const Result &result) {
  constexpr std::size_t bins = 40;
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i <= bins; ++i) {
    edges[i] = static_cast<double>(i) / static_cast<double>(bins);
  }
  std::vector<std::size_t> kept(bins);
  std::vector<std::size_t> suspects(bins);
  for (const float trust : result.trust) {
    const auto bin = std::min(static_cast<std::size_t>(trust * static_cast<float>(bins)), bins - 1);
    ++(trust >= result.suspect_below ? kept : suspects)[bin];
  }
  return {{"kind", "histogram"},
          {"title", "Trust in the labels"},
          {"note", "Trust is the probability that a row's given label is right."},
          {"x_label", "trust"},
          {"edges", edges},
          {"series", Json::array({{{"name", "suspects"}, {"counts", suspects}}, {{"name", "kept"}, {"counts", kept}}})},
          {"marks", Json::array({{{"x", result.suspect_below}, {"label", "threshold"}}})}};
}

Json label_matrix(const Outcome &outcome, const data::Dataset &training) {
  const std::size_t classes = training.label_names.size();
  std::vector<std::vector<std::size_t>> counts(classes, std::vector<std::size_t>(classes));
  for (const Index row : outcome.suspects) {
    const auto i = static_cast<std::size_t>(row);
    ++counts[training.labels[i]][outcome.result.suggested[i]];
  }
  return {{"kind", "matrix"},
          {"title", "Given label against suggested label"},
          {"note", "Suspects only: how often a given label should have been another."},
          {"row_label", "given"},
          {"column_label", "suggested"},
          {"rows", training.label_names},
          {"columns", training.label_names},
          {"values", counts}};
}

/// A feature as it was in the file: scaling is undone where it was applied in place.
float original(const Prepared &prepared, Index sample, Index column) {
  const FeatureTable &features = *prepared.training.features;
  const auto j = static_cast<std::size_t>(column);
  if (!features.scale().empty()) {
    return features.stored(sample, column);
  }
  const float scale = prepared.scaling.scale[j];
  return scale != 0.0F ? (features.stored(sample, column) - prepared.scaling.shift[j]) / scale
                       : prepared.scaling.constant[j];
}

Json picture(const Prepared &prepared, Index sample) {
  const FeatureTable &features = *prepared.training.features;
  std::string bytes;
  float brightest = 255.0F;
  float darkest = 0.0F;
  if (features.storage() != Storage::byte) { // whatever unit it has, its own range is shown
    darkest = brightest = original(prepared, sample, 0);
    for (Index j = 1; j < features.columns(); ++j) {
      darkest = std::min(darkest, original(prepared, sample, j));
      brightest = std::max(brightest, original(prepared, sample, j));
    }
  }
  const float range = brightest > darkest ? brightest - darkest : 1.0F;
  for (Index j = 0; j < features.columns(); ++j) {
    bytes += static_cast<char>(static_cast<std::uint8_t>(255.0F * (original(prepared, sample, j) - darkest) / range));
  }
  return base64(bytes);
}

Json worst_suspects(const Outcome &outcome, const data::Dataset &training, const Prepared &prepared,
                    const std::vector<Index> &sample_of_row) {
  const Index columns_of_data = prepared.training.features->columns();
  Json items = Json::array();
  for (std::size_t place = 0; place < std::min(outcome.suspects.size(), shown_suspects); ++place) {
    const Index row = outcome.suspects[place];
    const auto i = static_cast<std::size_t>(row);
    Json item{{"row", row + 1},
              {"given", training.label_names[training.labels[i]]},
              {"suggested", training.label_names[outcome.result.suggested[i]]},
              {"trust", outcome.result.trust[row]},
              {"probability", outcome.result.probability[row]}};
    if (!training.ids.empty()) {
      item["id"] = training.ids[i];
    }
    const Index sample = sample_of_row[i];
    if (training.image) {
      item["pixels"] = picture(prepared, sample);
    } else if (columns_of_data <= shown_features) {
      Json values = Json::array();
      for (Index j = 0; j < columns_of_data; ++j) {
        values.push_back(original(prepared, sample, j));
      }
      item["features"] = std::move(values);
    }
    items.push_back(std::move(item));
  }
  Json columns = Json::array({"row", "given", "suggested", "trust", "probability"});
  if (!training.ids.empty()) {
    columns.insert(columns.begin() + 1, "id");
  }
  Json image;
  if (training.image) {
    image = {
        {"width", training.image->width}, {"height", training.image->height}, {"channels", training.image->channels}};
  }
  return {{"kind", "suspects"},
          {"title", "The worst suspects"},
          {"note", outcome.suspects.size() > items.size()
                       ? fmt::format("The {} least trusted of {}; suspects.csv has them all.", items.size(),
                                     grouped(outcome.suspects.size()))
                       : std::string("Least trusted first.")},
          {"empty", "No label is suspected."},
          {"image", image},
          {"columns", columns},
          {"items", items}};
}

Json timings_table(const Outcome &outcome) {
  const Timings &timings = outcome.result.timings;
  Json rows = Json::array();
  for (const auto &[what, seconds] : {std::pair{"reading the data", outcome.seconds_reading},
                                      {"model of the trusted rows", timings.trusted_model},
                                      {"bilevel runs", timings.bilevel},
                                      {"rounds on trusted and weighted rows", timings.rounds},
                                      {"final model", timings.final_model}}) {
    rows.push_back({what, duration_text(seconds)});
  }
  return {{"kind", "table"}, {"title", "Where the time went"}, {"columns", {"part", "time"}}, {"rows", rows}};
}

} // namespace

Json report_json(const ReportInput &input) {
  const auto &[outcome, prepared, training, test, settings] = input;
  const Result &result = outcome.result;
  const std::size_t rows = training.labels.size();
  std::vector<Index> sample_of_row(rows);
  for (std::size_t sample = 0; sample < rows; ++sample) {
    sample_of_row[static_cast<std::size_t>(prepared.order[sample])] = static_cast<Index>(sample);
  }
  Json headline = Json::array();
  headline.push_back(
      {{"label", "Suspects"},
       {"value", grouped(outcome.suspects.size())},
       {"note", fmt::format("of {} rows, {}", grouped(rows),
                            percent(static_cast<double>(outcome.suspects.size()) / static_cast<double>(rows)))},
       {"tone", outcome.suspects.empty() ? "" : "alert"}});
  headline.push_back({{"label", "Trusted rows"},
                      {"value", grouped(prepared.trusted.labels->size())},
                      {"note", fmt::format("of {} of {} classes", classes_of(*prepared.trusted.labels),
                                           training.label_names.size())}});
  if (test) {
    headline.push_back({{"label", "Test accuracy"},
                        {"value", percent(test->model)},
                        {"note", fmt::format("trusted rows alone: {}", percent(test->trusted_only))}});
  }
  if (outcome.quality) {
    headline.push_back(
        {{"label", "F1 of the clean rows"},
         {"value", fmt::format("{:.3f}", outcome.quality->f1)},
         {"note", fmt::format("ranking's average precision {:.3f}", outcome.quality->average_precision)}});
  }
  headline.push_back({{"label", "Time"},
                      {"value", duration_text(result.timings.total())},
                      {"note", fmt::format("{} + {} steps of the bilevel problem", result.steps[0], result.steps[1])}});

  Json members = settings;
  members["solver with all its options"] = result.solver;
  members["first run stopped because"] = result.endings[0];
  members["second run stopped because"] = result.endings[1];
  Json sections = Json::array();
  sections.push_back(worst_suspects(outcome, training, prepared, sample_of_row));
  sections.push_back(label_matrix(outcome, training));
  sections.push_back(trust_histogram(result));
  sections.push_back(curves(result));
  sections.push_back(timings_table(outcome));
  sections.push_back(report::members_section("Settings", members));
  return {
      {"title", "Labels that look wrong"},
      {"subtitle", fmt::format("{}: {} rows, {} features, {} classes", training.source, grouped(rows),
                               grouped(static_cast<std::size_t>(outcome.model.features)), training.label_names.size())},
      {"generated", report::utc_now()},
      {"version", version},
      {"headline", headline},
      {"sections", sections}};
}

} // namespace duplex::clean
