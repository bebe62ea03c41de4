#include "clean/plan_file.hpp"

#include "data/limits.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace duplex::clean {

namespace {

using data::ColumnKind;
using data::PlannedColumn;
using report::JsonMembers;

/// JSON has no infinity.
report::Json bound_json(float bound) { return std::isfinite(bound) ? report::Json(bound) : report::Json(nullptr); }

double within_floats(const JsonMembers &members, const char *member) {
  const double value = members.number(member);
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    members.refuse(member, "a number that float32 can hold");
  }
  return value;
}
float float_of(const JsonMembers &members, const char *member) {
  return static_cast<float>(within_floats(members, member));
}

report::Json column_json(const PlannedColumn &column) {
  report::Json json{{"name", column.name},
                    {"place", column.place},
                    {"kind", data::column_kind_names[static_cast<std::size_t>(column.kind)]},
                    {"indicator", column.has_indicator}};
  if (column.kind == ColumnKind::category) {
    json["levels"] = column.levels;
    json["rare"] = column.rare;
    json["usual"] = column.usual;
  } else {
    json["origin"] = column.origin;
    json["low"] = bound_json(column.low);
    json["high"] = bound_json(column.high);
    json["fill"] = column.fill;
  }
  return json;
}

PlannedColumn parsed_column(const report::Json &json, const std::string &name, std::uint64_t width) {
  const JsonMembers members(json, name);
  PlannedColumn column{.name = members.text("name"),
                       .place = members.whole("place", 0, width - 1),
                       .has_indicator = members.truth("indicator")};
  const std::string kind = members.text("kind");
  const auto &kinds = data::column_kind_names;
  const auto found = std::find(kinds.begin(), kinds.end(), kind);
  if (found == kinds.end()) {
    members.refuse("kind", fmt::format("{}, {}, {} or {}", kinds[0], kinds[1], kinds[2], kinds[3]));
  }
  column.kind = static_cast<ColumnKind>(found - kinds.begin());
  if (column.kind == ColumnKind::category) {
    column.levels = members.texts("levels");
    column.rare = members.texts("rare");
    if (column.levels.empty()) {
      members.refuse("levels", "at least one");
    }
    column.usual = static_cast<std::uint32_t>(members.whole("usual", 0, column.levels.size() - 1));
    return column;
  }
  column.origin = within_floats(members, "origin");
  column.low = members.at("low").is_null() ? column.low : float_of(members, "low");
  column.high = members.at("high").is_null() ? column.high : float_of(members, "high");
  column.fill = float_of(members, "fill");
  if (column.low > column.high) {
    members.refuse("low", "at most what is high");
  }
  return column;
}

} // namespace

report::Json plan_json(const data::TablePlan &plan) {
  report::Json list = report::Json::array();
  for (const auto &column : plan.columns) {
    list.push_back(column_json(column));
  }
  return {{"named", plan.has_names},
          {"width", plan.width},
          {"set_aside", plan.set_aside},
          {"source_column", plan.source_column},
          {"trusted_column", plan.trusted_column},
          {"list", std::move(list)}};
}

std::shared_ptr<const data::TablePlan> parsed_plan(const report::Json &json, const std::string &name) {
  const JsonMembers members(json, name);
  data::TablePlan plan{.has_names = members.truth("named"),
                       .width = members.whole("width", 1, data::most_columns),
                       .set_aside = members.texts("set_aside"),
                       .source_column = members.text("source_column"),
                       .trusted_column = members.text("trusted_column")};
  const report::Json &list = members.list("list");
  if (list.empty() || list.size() > plan.width) {
    members.refuse("list", fmt::format("1 to {} columns", plan.width));
  }
  std::vector<bool> is_taken(plan.width);
  for (const auto &column : list) {
    plan.columns.push_back(
        parsed_column(column, fmt::format("{}, column {}", name, plan.columns.size() + 1), plan.width));
    if (is_taken[plan.columns.back().place]) {
      throw InvalidInput(fmt::format("{}: two columns at the place {}, expected one", name, plan.columns.back().place));
    }
    is_taken[plan.columns.back().place] = true;
  }
  return std::make_shared<const data::TablePlan>(std::move(plan));
}

} // namespace duplex::clean
