#include "clean/warnings.hpp"

#include "clean/beliefs.hpp"
#include "clean/copies.hpp"
#include "clean/skill.hpp"
#include "data/csv_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

namespace duplex::clean {

namespace {

using data::Dataset;
using data::Remark;

std::vector<std::size_t> count_by_class(const Dataset &trusted, std::size_t classes) {
  std::vector<std::size_t> counts(classes);
  for (const auto label : trusted.labels) {
    ++counts[label];
  }
  return counts;
}

/// Trusted rows whose features training rows have, too.
struct Overlap {
  std::size_t same_label = 0;  ///< with that label at least once
  std::size_t other_label = 0; ///< with other labels only
};

Overlap overlap_of(const Dataset &training, const Dataset &trusted) {
  if (training.features.storage() != trusted.features.storage()) {
    return {};
  }
  std::unordered_multimap<std::size_t, std::size_t> rows;
  for (std::size_t i = 0; i < trusted.labels.size(); ++i) {
    rows.emplace(hash_of_row(trusted.features, static_cast<Index>(i)), i);
  }
  enum : std::uint8_t { none, other, same };
  std::vector<std::uint8_t> found(trusted.labels.size(), none);
  for (std::size_t i = 0; i < training.labels.size(); ++i) {
    const auto [first, last] = rows.equal_range(hash_of_row(training.features, static_cast<Index>(i)));
    for (auto at = first; at != last; ++at) {
      const bool agrees = training.labels[i] == trusted.labels[at->second];
      found[at->second] = std::max<std::uint8_t>(found[at->second], agrees ? same : other);
    }
  }
  return {static_cast<std::size_t>(std::count(found.begin(), found.end(), same)),
          static_cast<std::size_t>(std::count(found.begin(), found.end(), other))};
}

void warn_of_overlap(const Dataset &training, const Dataset &trusted, std::vector<Remark> &warnings) {
  const Overlap overlap = overlap_of(training, trusted);
  const std::size_t rows = trusted.labels.size();
  if (overlap.same_label == rows && rows >= training.labels.size()) {
    warnings.push_back({"trusted-is-training",
                        "The trusted rows are the training rows with the same labels: nothing tells right labels from "
                        "wrong ones. Trust only rows that somebody has checked."});
  }
  // A few rows may be the same by chance, where there are few features or many are missing.
  const bool is_taken_from_training = 4 * (overlap.same_label + overlap.other_label) >= rows;
  if (overlap.other_label > 0 && is_taken_from_training) {
    warnings.push_back({"trusted-contradicts-training",
                        fmt::format("{} of {} trusted rows are among the training rows with another label there. The "
                                    "trusted label counts; if it is not the right one, correct it.",
                                    overlap.other_label, rows)});
  }
}

void warn_of_constant_features(const Prepared &prepared, const Dataset &training, std::vector<Remark> &warnings) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < prepared.scaling.scale.size() && !training.image; ++j) {
    if (prepared.scaling.scale[j] == 0.0F) {
      names.push_back(training.feature_names.empty() ? fmt::format("feature {}", j + 1) : training.feature_names[j]);
    }
  }
  if (!names.empty()) {
    warnings.push_back({"column-left-out",
                        fmt::format("{}: {} {} left out: {} values never vary, or by less than a millionth of {} size",
                                    training.source, data::quoted_list(names), names.size() > 1 ? "are" : "is",
                                    names.size() > 1 ? "their" : "its", names.size() > 1 ? "their" : "its")});
  }
}

std::string in_per_cent(double part) { return fmt::format("{:.0f} %", 100.0 * part); }

} // namespace

std::vector<Remark> warnings_of_input(const Dataset &training, const Dataset &trusted) {
  std::vector<Remark> warnings;
  const std::size_t classes = training.label_names.size();
  const std::size_t rows = trusted.labels.size();
  if (rows == 0) {
    return {{"no-trusted-rows",
             "No row is trusted: what is wrong is told by the given labels alone, and nothing vouches "
             "for it. A few dozen rows that somebody has checked would."}};
  }
  const auto counts = count_by_class(trusted, classes);
  std::vector<std::string> without;
  for (std::size_t k = 0; k < classes; ++k) {
    if (counts[k] == 0) {
      without.push_back(training.label_names[k]);
    }
  }
  if (without.size() + 1 == classes && classes > 1) {
    const auto only = static_cast<std::size_t>(
        std::find_if(counts.begin(), counts.end(), [](std::size_t count) { return count > 0; }) - counts.begin());
    warnings.push_back({"trusted-one-class",
                        fmt::format("All trusted rows are of class {}: they cannot tell the classes apart. Trust rows "
                                    "of every class.",
                                    data::quoted_list({training.label_names[only]}))});
  } else if (!without.empty()) {
    warnings.push_back({"class-without-trusted-rows",
                        fmt::format("No trusted row is of {} {}: such labels are mostly taken as they are.",
                                    without.size() == 1 ? "class" : "the classes", data::quoted_list(without))});
  }
  constexpr std::size_t of_each = 10;
  constexpr std::size_t enough = 200;
  const auto rarest = std::min_element(counts.begin(), counts.end(), [](std::size_t a, std::size_t b) {
    return (a > 0 ? a : std::numeric_limits<std::size_t>::max()) <
           (b > 0 ? b : std::numeric_limits<std::size_t>::max());
  });
  constexpr std::size_t few_of_one = 5;
  if (rows < enough && rows >= of_each * classes && *rarest < few_of_one) {
    warnings.push_back(
        {"few-trusted-rows",
         fmt::format(
             "Only {} of {} trusted rows are of class {}: what is found of it rests on little. Ten of each class "
             "are a fair number.",
             *rarest, rows,
             data::quoted_list({training.label_names[static_cast<std::size_t>(rarest - counts.begin())]}))});
  }
  if (rows < enough && rows < of_each * classes) {
    warnings.push_back({"few-trusted-rows",
                        fmt::format("There are {} trusted rows for {} classes: what is found rests on little. Ten of "
                                    "each class are a fair number.",
                                    rows, classes)});
  }
  warn_of_overlap(training, trusted, warnings);
  return warnings;
}

std::vector<Remark> warnings_of_result(const Result &result, const Prepared &prepared, const Dataset &training) {
  std::vector<Remark> warnings;
  warn_of_constant_features(prepared, training, warnings);
  const bool has_trusted = !result.trusted_model_says.empty();
  if (result.skill < skill_of_a_guess) {
    warnings.push_back({"features-tell-nothing",
                        has_trusted
                            ? "The trusted rows tell next to nothing about the labels here: the features do not "
                              "say what class a row is of, or the trusted labels are not those of their rows. Do "
                              "not rely on these suspects."
                            : "The features tell next to nothing about the labels here: they do not say what "
                              "class a row is of, or most labels are wrong. Do not rely on these suspects."});
    return warnings; // of a model that knows nothing no more can be said
  }
  if (result.skill < little_skill) {
    warnings.push_back(
        {"features-tell-little",
         fmt::format("The features tell little about the {} labels ({} of what there is to know): the model "
                     "hardly fits, and suspects are doubtful.",
                     has_trusted ? "trusted" : "given", in_per_cent(result.skill))});
  }
  constexpr double many = 0.02;
  constexpr double telling = 0.9;
  if (result.doubted > many && probability_of_wrong_labels(result.disagreement) < telling) {
    warnings.push_back({"wrong-or-overlapping",
                        fmt::format("{} of the given labels are not what the models believe, mostly where classes "
                                    "meet, and the trusted rows do not tell whether these labels are wrong or the "
                                    "classes overlap: any of them may be right. Look at some of the suspects, "
                                    "or trust more rows.",
                                    in_per_cent(result.disagreement.part))});
  }
  constexpr double nearly_all = 0.97;
  constexpr double far_more = 0.05;
  if (result.others_agreement && *result.others_agreement >= nearly_all &&
      *result.others_agreement >= result.own_agreement + far_more) {
    warnings.push_back(
        {"probabilities-seem-fitted",
         fmt::format("The probabilities of --pred-probs agree with {} of the given labels, models that have not seen "
                     "these labels with {}: were they made by a model that was fitted to these rows? Then they repeat "
                     "its mistakes. Make them by cross-validation.",
                     in_per_cent(*result.others_agreement), in_per_cent(result.own_agreement))});
  }
  if (!has_trusted) {
    return warnings;
  }
  const Agreement agreement = agreement_of(result.trusted_model_says, training.labels, prepared.classes);
  constexpr double hardly_any = 0.1;
  constexpr double some = 0.3;
  const double disagrees = 1.0 - agreement.found;
  const auto suspects = static_cast<double>(std::count_if(result.trust.begin(), result.trust.end(),
                                                          [&](float trust) { return trust < result.suspect_below; }));
  const double suspected = suspects / static_cast<double>(result.trust.size());
  constexpr double far = 0.1;
  if (result.trusted_model_agreement >= some &&
      agreement.beyond_chance() <= hardly_any * result.trusted_model_agreement) {
    warnings.push_back({"trusted-disagrees",
                        fmt::format("By the trusted rows, {} of the given labels would be wrong, as many as if labels "
                                    "were drawn at random: trusted and given labels hardly mean the same. Look at the "
                                    "trusted rows first.",
                                    in_per_cent(disagrees))});
  } else if (disagrees > suspected + (1.0 - result.trusted_model_confidence) + far) {
    warnings.push_back(
        {"disagreement-beyond-suspects",
         fmt::format("The model of the trusted rows alone would label {} of the rows otherwise, but only {} are "
                     "suspects: labels may be wrong where classes meet, or the model does not fit. Look at a few rows "
                     "of middling trust by hand.",
                     in_per_cent(disagrees), in_per_cent(suspected))});
  }
  return warnings;
}

} // namespace duplex::clean
