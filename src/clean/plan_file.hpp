#pragma once
// The plan of a table's columns (data/table_plan.hpp) as a part of model.json.

#include "data/table_plan.hpp"
#include "report/json_file.hpp"

#include <memory>
#include <string>

namespace duplex::clean {

[[nodiscard]] report::Json plan_json(const data::TablePlan &plan);

/// Throws InvalidInput, with the name, where that is no plan.
[[nodiscard]] std::shared_ptr<const data::TablePlan> parsed_plan(const report::Json &json, const std::string &name);

} // namespace duplex::clean
