// The page that `duplex clean` writes, as data.

#include "clean/evidence.hpp"
#include "clean/outcome.hpp"
#include "report/page.hpp"

#include <duplex/run/summary.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace duplex::clean {

namespace {

using report::base64;
using report::grouped;
using report::percent;

constexpr std::size_t shown_suspects = 240;
constexpr Index shown_features = 12;
constexpr const char *against_it = "speaks against it";

std::size_t classes_of(const std::vector<std::uint32_t> &labels) {
  return std::set<std::uint32_t>(labels.begin(), labels.end()).size();
}

Json curves(const Result &result) {
  const auto panel = [&](const char *title, const char *y_label, double Look::*of, double factor) {
    Json x = Json::array();
    Json y = Json::array();
    for (const auto &look : result.looks) {
      x.push_back(look.step);
      y.push_back(factor * (look.*of));
    }
    return Json{{"title", title},
                {"y_label", y_label},
                {"series", Json::array({{{"name", "weights of sources"}, {"x", x}, {"y", y}}})},
                {"marks", Json::array({{{"x", result.best_step}, {"label", "kept"}}})}};
  };
  return {
      {"kind", "curves"},
      {"title", "While sources were weighed"},
      {"note",
       "A weight for each source of labels, such that a model of the weighted rows does well on trusted rows; a "
       "quarter of these is held out, and the weights with the lowest loss on those are kept."},
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
          {"note", "How many rows have which trust: 0 is a label that is surely wrong, 1 one that is surely right."},
          {"x_label", "trust"},
          {"edges", edges},
          {"series", Json::array({{{"name", "kept"}, {"counts", kept}}, {{"name", "suspects"}, {"counts", suspects}}})},
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
          {"wrong", true},
          {"row_label", "given"},
          {"column_label", "suggested"},
          {"rows", training.label_names},
          {"columns", training.label_names},
          {"values", counts}};
}

Json picture(const Prepared &prepared, Index sample) {
  const FeatureTable &features = *prepared.training.features;
  std::string bytes;
  float brightest = 255.0F;
  float darkest = 0.0F;
  if (features.storage() != Storage::byte) { // whatever unit it has, its own range is shown
    darkest = brightest = original_feature(prepared, sample, 0);
    for (Index j = 1; j < features.columns(); ++j) {
      darkest = std::min(darkest, original_feature(prepared, sample, j));
      brightest = std::max(brightest, original_feature(prepared, sample, j));
    }
  }
  const float range = brightest > darkest ? brightest - darkest : 1.0F;
  for (Index j = 0; j < features.columns(); ++j) {
    bytes += static_cast<char>(
        static_cast<std::uint8_t>(255.0F * (original_feature(prepared, sample, j) - darkest) / range));
  }
  return base64(bytes);
}

Json worst_suspects(const Outcome &outcome, const data::Dataset &training, const Prepared &prepared,
                    const std::vector<Index> &sample_of_row) {
  const Index columns_of_data = prepared.training.features->columns();
  const Evidence evidence(outcome.result, prepared, training);
  Json items = Json::array();
  for (std::size_t place = 0; place < std::min(outcome.suspects.size(), shown_suspects); ++place) {
    const Index row = outcome.suspects[place];
    const auto i = static_cast<std::size_t>(row);
    Json item{{"row", training.row_number(i)},
              {"given", training.label_names[training.labels[i]]},
              {"suggested", training.label_names[outcome.result.suggested[i]]},
              {"trust", outcome.result.trust[row]},
              {"probability", outcome.result.probability[row]}};
    if (!training.ids.empty()) {
      item["id"] = training.ids[i];
    }
    const Index sample = sample_of_row[i];
    if (evidence.is_available()) {
      item[against_it] = evidence.against(sample, training.labels[i], outcome.result.suggested[i]);
    }
    if (training.image) {
      item["pixels"] = picture(prepared, sample);
    } else if (columns_of_data <= shown_features) {
      Json values = Json::array();
      for (Index j = 0; j < columns_of_data; ++j) {
        values.push_back(static_cast<double>(original_feature(prepared, sample, j)) + evidence.origin(j));
      }
      item["features"] = std::move(values);
    }
    items.push_back(std::move(item));
  }
  Json columns = Json::array({"row", "given", "suggested", "trust", "probability"});
  if (!training.ids.empty()) {
    columns.insert(columns.begin() + 1, "id");
  }
  if (evidence.is_available()) {
    columns.push_back(against_it);
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
          {"prose", against_it},
          {"columns", columns},
          {"items", items}};
}

/// In plain words, for somebody who has not seen such a page before.
Json how_to_read(const Outcome &outcome, const Prepared &prepared, const data::Dataset &training) {
  const std::size_t rows = training.labels.size();
  Json paragraphs = Json::array();
  paragraphs.push_back(fmt::format(
      "Trust is the probability that the label a row was given is right, from 0 (surely wrong) to 1 (surely right), as "
      "judged from {}how all rows resemble one another. By it, about {} of the {} labels are wrong.",
      prepared.trusted.labels->empty() ? std::string()
                                       : fmt::format("{} rows whose labels are known to be right and from ",
                                                     grouped(prepared.trusted.labels->size())),
      grouped(static_cast<std::size_t>(std::lround(expected_wrong(outcome.result)))), grouped(rows)));
  paragraphs.push_back(
      fmt::format("The {} rows of least trust, below {:.2f}, are called suspects: look at the first ones first. The "
                  "suggested label "
                  "is the likeliest other one. Neither is certain: a suspect may be a rare row with the right label.",
                  grouped(outcome.suspects.size()), outcome.result.suspect_below));
  return {{"kind", "text"}, {"title", "How to read this"}, {"paragraphs", paragraphs}};
}

/// Who or what labelled rows, the most reliable first.
Json source_table(const Result &result, const data::Dataset &training) {
  std::vector<std::size_t> rows_of(training.source_names.size());
  for (const auto source : training.sources) {
    ++rows_of[source];
  }
  std::vector<std::size_t> order(rows_of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return result.source_right[a] > result.source_right[b]; });
  Json rows = Json::array();
  for (const std::size_t source : order) {
    rows.push_back(
        {training.source_names[source], rows_of[source], fmt::format("{:.3f}", result.source_right[source])});
  }
  return {{"kind", "table"},
          {"title", "Who labelled the rows"},
          {"columns", {"source", "rows", "part of labels that are right"}},
          {"rows", rows}};
}

/// One row for each class, that with the largest part of suspects first.
Json class_table(const Outcome &outcome, const Prepared &prepared, const data::Dataset &training) {
  struct Tally {
    std::size_t rows = 0;
    std::size_t trusted = 0;
    std::size_t suspects = 0;
    std::vector<std::size_t> suggested;
  };
  const std::size_t classes = training.label_names.size();
  std::vector<Tally> tallies(classes);
  for (const auto label : training.labels) {
    ++tallies[label].rows;
  }
  for (const auto label : *prepared.trusted.labels) {
    ++tallies[label].trusted;
  }
  for (const Index row : outcome.suspects) {
    Tally &tally = tallies[training.labels[static_cast<std::size_t>(row)]];
    ++tally.suspects;
    tally.suggested.resize(classes);
    ++tally.suggested[outcome.result.suggested[static_cast<std::size_t>(row)]];
  }
  const auto part = [&](std::size_t k) {
    return tallies[k].rows > 0 ? static_cast<double>(tallies[k].suspects) / static_cast<double>(tallies[k].rows) : 0.0;
  };
  std::vector<std::size_t> order(classes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return part(a) > part(b); });
  Json rows = Json::array();
  for (const std::size_t k : order) {
    const auto &suggested = tallies[k].suggested;
    const auto most = std::max_element(suggested.begin(), suggested.end());
    rows.push_back(
        {training.label_names[k], tallies[k].rows, tallies[k].suspects, percent(part(k)),
         suggested.empty() ? Json() : Json(training.label_names[static_cast<std::size_t>(most - suggested.begin())]),
         tallies[k].trusted});
  }
  return {
      {"kind", "table"},
      {"title", "Class by class"},
      {"note", "Rows that were given each label, how many of them are suspects, and what those most often should be."},
      {"columns", {"given label", "rows", "suspects", "part", "mostly should be", "trusted rows"}},
      {"rows", rows}};
}

/// P(given | true) in per cent.
Json noise_matrix(const Result &result, const data::Dataset &training) {
  const Eigen::MatrixXd &transition = result.noise.transition;
  Json values = Json::array();
  for (Index k = 0; k < transition.rows(); ++k) {
    Json row = Json::array();
    for (Index l = 0; l < transition.cols(); ++l) {
      row.push_back(std::round(1000.0 * transition(k, l)) / 10.0);
    }
    values.push_back(std::move(row));
  }
  return {{"kind", "matrix"},
          {"title", "How labels go wrong"},
          {"note",
           "Of 100 rows that truly are of the class on the left, how many are given which label, as far as that "
           "can be told. Blue is right, orange is wrong."},
          {"wrong", true},
          {"unit", "%"},
          {"row_label", "true class"},
          {"column_label", "given label"},
          {"rows", training.label_names},
          {"columns", training.label_names},
          {"values", values}};
}

Json timings_table(const Outcome &outcome) {
  const Timings &timings = outcome.result.timings;
  Json rows = Json::array();
  for (const auto &[what, seconds] : {std::pair{"reading the data", outcome.seconds_reading},
                                      {"choice of models", timings.choice},
                                      {"model of the trusted rows", timings.trusted_model},
                                      {"weights of sources", timings.bilevel},
                                      {"rounds on trusted and training rows", timings.rounds},
                                      {"final model", timings.final_model}}) {
    rows.push_back({what, duration_text(seconds)});
  }
  return {{"kind", "table"}, {"title", "Where the time went"}, {"columns", {"part", "time"}}, {"rows", rows}};
}

} // namespace

Json report_json(const ReportInput &input) {
  const auto &[outcome, prepared, training, test, warnings, settings] = input;
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
    headline.push_back(
        {{"label", "Test accuracy"},
         {"value", percent(test->model)},
         {"note", test->trusted_only ? fmt::format("trusted rows alone: {}", percent(*test->trusted_only))
                                     : std::string("no row is trusted")}});
  }
  if (outcome.quality) {
    headline.push_back(
        {{"label", "F1 of the clean rows"},
         {"value", fmt::format("{:.3f}", outcome.quality->f1)},
         {"note", fmt::format("ranking's average precision {:.3f}", outcome.quality->average_precision)}});
  }
  headline.push_back({{"label", "Time"},
                      {"value", duration_text(result.timings.total())},
                      {"note", fmt::format("{} rounds", result.rounds)}});

  Json members = settings;
  for (std::size_t i = 0; i < result.seen_as.size(); ++i) {
    members[fmt::format("model {}", i + 1)] = result.seen_as[i];
  }
  if (!result.solver.empty()) {
    members["solver with all its options"] = result.solver;
    members["its run stopped because"] = result.ending;
  }
  Json sections = Json::array();
  sections.push_back(how_to_read(outcome, prepared, training));
  sections.push_back(worst_suspects(outcome, training, prepared, sample_of_row));
  sections.push_back(class_table(outcome, prepared, training));
  if (!result.source_right.empty() && result.source_right.size() == training.source_names.size()) {
    sections.push_back(source_table(result, training));
  }
  sections.push_back(label_matrix(outcome, training));
  sections.push_back(noise_matrix(result, training));
  sections.push_back(trust_histogram(result));
  std::vector<Json> technical;
  if (!result.looks.empty()) {
    technical.push_back(curves(result));
  }
  technical.push_back(timings_table(outcome));
  technical.push_back(report::members_section("Settings", members));
  for (auto &section : technical) {
    section["technical"] = true;
    sections.push_back(std::move(section));
  }
  return {
      {"title", "Labels that look wrong"},
      {"subtitle", fmt::format("{}: {} rows, {} features, {} classes", training.source, grouped(rows),
                               grouped(static_cast<std::size_t>(outcome.model.features)), training.label_names.size())},
      {"generated", report::utc_now()},
      {"version", version},
      {"warnings", warnings},
      {"headline", headline},
      {"sections", sections}};
}

} // namespace duplex::clean
