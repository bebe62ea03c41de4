#include "data/table_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace duplex::data {

Index PlannedColumn::features() const {
  const std::size_t own = kind == ColumnKind::category ? levels.size() + (rare.empty() ? 0 : 1) : 1;
  return static_cast<Index>(own) + (has_indicator ? 1 : 0);
}

bool PlannedColumn::is_plain() const {
  return kind == ColumnKind::number && !has_indicator && origin == 0.0 && std::isinf(low) && std::isinf(high);
}

void PlannedColumn::append_names(std::vector<std::string> &names) const {
  const std::string own = name.empty() ? fmt::format("feature {}", place + 1) : name;
  if (kind == ColumnKind::category) {
    for (const auto &level : levels) {
      names.push_back(fmt::format("{} = {}", own, level));
    }
    if (!rare.empty()) {
      names.push_back(fmt::format("{} = (rare)", own));
    }
  } else {
    names.push_back(own);
  }
  if (has_indicator) {
    names.push_back(fmt::format("{} is missing", own));
  }
}

Index TablePlan::features() const {
  Index all = 0;
  for (const auto &column : columns) {
    all += column.features();
  }
  return all;
}

bool TablePlan::is_plain() const {
  return std::all_of(columns.begin(), columns.end(), [](const PlannedColumn &column) { return column.is_plain(); });
}

std::vector<std::string> TablePlan::feature_names() const {
  std::vector<std::string> names;
  if (!has_names && is_plain()) {
    return names;
  }
  for (const auto &column : columns) {
    if (has_names && column.kind != ColumnKind::category && !column.has_indicator) {
      names.push_back(column.name); // which may be empty
    } else {
      column.append_names(names);
    }
  }
  return names;
}

std::shared_ptr<const TablePlan> plan_of_numbers(Index columns, const std::vector<std::string> &names) {
  auto plan = std::make_shared<TablePlan>();
  plan->has_names = !names.empty();
  plan->columns.resize(static_cast<std::size_t>(columns));
  plan->width = plan->columns.size();
  for (std::size_t i = 0; i < plan->columns.size(); ++i) {
    plan->columns[i].place = i;
    plan->columns[i].name = i < names.size() ? names[i] : std::string();
  }
  return plan;
}

} // namespace duplex::data
