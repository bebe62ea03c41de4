#pragma once
// A problem behind the interface of the catalog: its own settings, bounds on x, which any problem takes, and, where it
// can be made from labelled samples, files of these.

#include "catalog/catalog.hpp"
#include "catalog/file_data.hpp"

#include <duplex/problem/bounded.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace duplex::catalog {

/// What x of any problem is kept within.
struct UpperBounds {
  double lower = -infinity;
  double upper = infinity;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("x-lower", self.lower, Bound{.high_open = true}, "what each entry of x is at least (-inf: no bound)");
    visit("x-upper", self.upper, Bound{.low_open = true}, "what each entry of x is at most (inf: no bound)");
  }
  [[nodiscard]] bool exist() const { return std::isfinite(lower) || std::isfinite(upper); }
};

/// Settings of a problem that can be made from samples that are given.
template <class Settings>
concept TakesSamples = requires(const Settings &settings, LabelledParts parts) {
  settings.template generate<double>(parts);
  settings.seed_of_samples();
  Settings::of_synthetic;
};

template <class Settings> class ProblemHolder final : public ConfiguredProblem {
  static constexpr bool takes_samples = TakesSamples<Settings>;

public:
  [[nodiscard]] std::string_view name() const override { return Settings::name; }
  [[nodiscard]] std::string_view title() const override { return Settings::title; }
  [[nodiscard]] std::vector<OptionInfo> options() const override {
    auto all = describe(settings_);
    const auto add = [&](const std::vector<OptionInfo> &more) { all.insert(all.end(), more.begin(), more.end()); };
    if constexpr (takes_samples) {
      add(describe(files_));
    }
    add(describe(bounds_));
    return all;
  }
  bool set(std::string_view option, std::string_view value) override { return set_any(option, value); }
  bool set(std::string_view option, double value) override { return set_any(option, value); }
  void validate() const override {
    duplex::validate(settings_, Settings::name);
    duplex::validate(bounds_, Settings::name);
    if (bounds_.lower > bounds_.upper) {
      throw InvalidInput(std::string(Settings::name) + ": x-lower = " + number_text(bounds_.lower) +
                         " and x-upper = " + number_text(bounds_.upper) + ", expected x-lower <= x-upper");
    }
    if constexpr (takes_samples) {
      duplex::validate(files_, Settings::name);
      files_.require_use(Settings::name, given_);
      refuse_options_of_other_samples();
    }
  }
  [[nodiscard]] std::vector<std::string> input_files() const override {
    if constexpr (takes_samples) {
      return files_.files();
    } else if constexpr (requires { settings_.input_files(); }) {
      return settings_.input_files();
    } else {
      return {};
    }
  }
  [[nodiscard]] Problem make() const override {
    validate();
    Problem problem = made();
    return bounds_.exist() ? Problem(bounded(std::move(problem), bounds_.lower, bounds_.upper)) : problem;
  }
  [[nodiscard]] SampledProblem make_in_batches(Index size) const override {
    validate();
    if constexpr (requires { requires FiniteSumProblem<decltype(settings_.template generate<double>())>; }) {
      auto problem = generated();
      const BatchSizes sizes = batch_sizes(problem, size);
      return bounds_.exist() ? SampledProblem(bounded(std::move(problem), bounds_.lower, bounds_.upper), sizes)
                             : SampledProblem(problem, sizes);
    } else {
      throw InvalidInput("--batch: the problem " + std::string(Settings::name) +
                         " is no sum over samples, expected one that is, such as logistic, softmax or hyper-cleaning");
    }
  }
  [[nodiscard]] bool has_the_same_samples_for_every_seed() const override {
    if constexpr (takes_samples) {
      return files_.is_given() && files_.names_validation();
    } else {
      return false;
    }
  }
  [[nodiscard]] const std::vector<std::string> &remarks() const override { return remarks_; }

private:
  template <class Value> bool set_any(std::string_view option, Value value) {
    const bool found = set_option(settings_, Settings::name, option, value) || set_of_files(option, value) ||
                       set_option(bounds_, Settings::name, option, value);
    if (found) {
      given_.emplace(option);
    }
    return found;
  }
  template <class Value> bool set_of_files(std::string_view option, Value value) {
    if constexpr (takes_samples) {
      return set_option(files_, Settings::name, option, value);
    } else {
      return false;
    }
  }

  void refuse_options_of_other_samples() const {
    for (const std::string_view option : Settings::of_synthetic) {
      if (files_.is_given() && given_.contains(option)) {
        throw InvalidInput(std::string(Settings::name) + ": --" + std::string(option) +
                           " beside --data: it is about synthetic samples, expected one of the two");
      }
    }
  }

  [[nodiscard]] bool is_from_files() const {
    if constexpr (takes_samples) {
      return files_.is_given();
    } else {
      return false;
    }
  }
  /// Called where is_from_files().
  [[nodiscard]] auto from_files() const {
    remarks_.clear();
    Index most_classes = std::numeric_limits<Index>::max();
    if constexpr (requires { Settings::most_classes; }) {
      most_classes = Settings::most_classes;
    }
    return settings_.template generate<double>(files_.read(settings_.seed_of_samples(), most_classes, remarks_));
  }
  [[nodiscard]] auto generated() const {
    if constexpr (takes_samples) {
      if (is_from_files()) {
        return from_files();
      }
    }
    return settings_.template generate<double>();
  }
  [[nodiscard]] Problem made() const {
    if constexpr (takes_samples) {
      if (is_from_files()) {
        return from_files();
      }
    }
    return settings_.template make<double>();
  }

  Settings settings_;
  FileData files_;
  UpperBounds bounds_;
  std::set<std::string, std::less<>> given_; ///< names of the options that were set
  mutable std::vector<std::string> remarks_;
};

} // namespace duplex::catalog
