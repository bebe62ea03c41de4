#include "clean/evidence.hpp"

#include "data/table_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace duplex::clean {

float original_feature(const Prepared &prepared, Index sample, Index column) {
  const FeatureTable &features = *prepared.training.features;
  const auto j = static_cast<std::size_t>(column);
  if (!features.scale().empty()) {
    return features.stored(sample, column);
  }
  const float scale = prepared.scaling.scale[j];
  return scale != 0.0F ? (features.stored(sample, column) - prepared.scaling.shift[j]) / scale
                       : prepared.scaling.constant[j];
}

Evidence::Evidence(const Result &result, const Prepared &prepared, const data::Dataset &training)
    : result_(result), prepared_(prepared) {
  const Index columns = prepared.training.features->columns();
  is_available_ = result.model.hidden == 0 && !result.model.landmarks && !training.image;
  if (training.plan && training.plan->features() == columns) {
    for (const auto &column : training.plan->columns) {
      std::vector<std::string> names;
      column.append_names(names);
      for (std::size_t i = 0; i < names.size(); ++i) {
        const bool is_value = column.kind != data::ColumnKind::category && i == 0;
        looks_.push_back({.name = std::move(names[i]),
                          .origin = is_value ? column.origin : 0.0,
                          .is_switch = !is_value,
                          .is_date = is_value && column.kind == data::ColumnKind::date});
      }
    }
    return;
  }
  for (Index j = 0; j < columns; ++j) {
    const auto at = static_cast<std::size_t>(j);
    looks_.push_back(
        {.name = training.feature_names.empty() ? fmt::format("feature {}", j + 1) : training.feature_names[at]});
  }
}

std::string Evidence::told(Index sample, Index column) const {
  const Look &look = looks_[static_cast<std::size_t>(column)];
  const auto value = static_cast<double>(original_feature(prepared_, sample, column)) + look.origin;
  if (look.is_switch) {
    constexpr double half = 0.5;
    return value > half ? look.name : fmt::format("not {}", look.name);
  }
  if (look.is_date) {
    const auto days = std::chrono::days(static_cast<int>(std::floor(value)));
    const std::chrono::year_month_day date{std::chrono::sys_days(days)};
    return fmt::format("{} {:04}-{:02}-{:02}", look.name, static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  }
  return fmt::format("{} {:.4g}", look.name, value);
}

std::string Evidence::against(Index sample, std::uint32_t given, std::uint32_t suggested) const {
  constexpr std::size_t most = 3;
  constexpr double worth_telling = 0.1; // of all that speaks against the label
  const Index columns = prepared_.training.features->columns();
  const float *for_it = result_.model.parameters.data() + static_cast<Index>(suggested) * (columns + 1);
  const float *for_given = result_.model.parameters.data() + static_cast<Index>(given) * (columns + 1);
  std::vector<std::pair<double, Index>> parts; // of the score, largest first
  double all = 0.0;
  for (Index j = 0; j < columns && given != suggested; ++j) {
    const double part = static_cast<double>(for_it[j] - for_given[j]) *
                        static_cast<double>(result_.model.columns(j, prepared_.training.features->value(sample, j)));
    if (part > 0.0) {
      all += part;
      parts.emplace_back(part, j);
    }
  }
  std::sort(parts.begin(), parts.end(), [](const auto &a, const auto &b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, parts.size()) && parts[i].first >= worth_telling * all; ++i) {
    text += (i > 0 ? "; " : "") + told(sample, parts[i].second);
  }
  return text;
}

} // namespace duplex::clean
