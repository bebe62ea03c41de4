#include <duplex/measure/check.hpp>

#include "measure/derivative_check.hpp"

#include <duplex/core/fields.hpp>
#include <duplex/core/text.hpp>

#include <algorithm>

namespace duplex {

bool CheckReport::passes() const {
  return std::all_of(rows.begin(), rows.end(), [](const CheckRow &row) { return row.passes; });
}

bool CheckReport::is_wrong() const {
  return std::any_of(rows.begin(), rows.end(), [](const CheckRow &row) { return row.is_wrong(); });
}

std::string CheckReport::table() const {
  const auto padded = [](std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
  };
  std::string text = padded("derivative", 25) + "worst relative error\n";
  for (const auto &row : rows) {
    text += padded(row.quantity, 25);
    if (!row.unchecked.empty()) {
      text += "could not be checked: " + row.unchecked;
    } else {
      text += padded(short_number(row.error), 10) + (row.passes ? "ok" : "WRONG") +
              (row.note.empty() ? "" : (row.passes ? ", " : ": ") + row.note);
    }
    text += "\n";
  }
  return text;
}

namespace detail {

void require_options(const CheckOptions &options) {
  if (options.points < 1 || !(options.spread >= 0.0) || !(options.tolerance >= 0.0)) {
    throw InvalidInput("check: points = " + field_text(options.points) + ", spread = " + field_text(options.spread) +
                       ", tolerance = " + field_text(options.tolerance) +
                       ", expected points >= 1, spread >= 0 and tolerance >= 0");
  }
}

CheckReport check_derivatives(CheckedProblem problem, const CheckOptions &options) {
  constexpr double in_double = 1e-6;
  constexpr double in_float = 1e-5;
  const double usual = is_single_precision(problem.precision) ? in_float : in_double;
  CheckReport report;
  report.tolerance = options.tolerance > 0.0 ? options.tolerance : usual;
  report.rows = DerivativeCheck(std::move(problem), options, report.tolerance).rows();
  return report;
}

} // namespace detail

} // namespace duplex
