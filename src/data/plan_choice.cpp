// What each column of a table is, from all its cells.

#include "data/cell_kinds.hpp"
#include "data/number_samples.hpp"
#include "data/raw_table.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace duplex::data {
namespace {

/// In fewer rows anything may be different in each of them, and in order.
constexpr std::size_t few_rows = 20;
/// One cell in as many, or fewer, that is unlike all others is a mistake.
constexpr std::uint64_t here_and_there = 20;
/// Largest whole number up to which float32 holds all.
constexpr float coarse = 16777216.0F;

bool is_whole(float value) { return value == std::trunc(value); }

/// "id", "row_id", and what writers of tables call the numbers of rows.
bool is_named_like_an_id(const std::string &name) {
  constexpr std::array<std::string_view, 9> names = {"",    "id",   "index", "idx",       "rowid",
                                                     "uid", "uuid", "guid",  "unnamed: 0"};
  const std::string lower = lower_case(name);
  return std::find(names.begin(), names.end(), lower) != names.end() || lower.ends_with("_id") ||
         lower.ends_with(" id");
}

class PlanChoice {
public:
  PlanChoice(const RawTable &table, const ReadOptions &options, std::vector<Remark> &remarks)
      : table_(table), options_(options), remarks_(remarks), samples_(table) {}

  ChosenPlan choose() {
    ChosenPlan chosen;
    TablePlan &plan = chosen.plan;
    plan.has_names = !table_.names.empty();
    plan.width = table_.width;
    for (std::size_t i = 0; i < table_.columns(); ++i) {
      PlannedColumn column;
      column.name = table_.names.empty() ? std::string() : table_.names[i];
      column.place = table_.order[i];
      const auto texts = table_.texts.find(i);
      const std::string reason =
          texts == table_.texts.end() ? choose_number(i, column, nullptr) : choose_from_texts(i, column, texts->second);
      if (reason.empty()) {
        plan.columns.push_back(std::move(column));
        chosen.column_of.push_back(i);
      } else {
        remarks_.push_back(
            {"column-left-out", fmt::format("{}: {} is left out: {}", table_.source, table_.shown_name(i), reason)});
        plan.set_aside.push_back(column.name);
      }
    }
    if (plan.columns.empty()) {
      throw InvalidInput(fmt::format("{}: found no column that could be a feature, expected at least one ({})",
                                     table_.source, remarks_.empty() ? "" : remarks_.back().text));
    }
    return chosen;
  }

private:
  /// Where columns to keep are named, there are no others.
  [[nodiscard]] bool may_leave_out() const { return options_.keep.empty(); }

  /// Whole numbers that rise from row to row; of some, float32 does not tell whether they do.
  [[nodiscard]] bool is_index(std::size_t column) const {
    const auto precise = table_.precise.find(column);
    if (precise != table_.precise.end()) {
      return std::adjacent_find(precise->second.begin(), precise->second.end(), std::greater_equal<>()) ==
                 precise->second.end() &&
             std::all_of(precise->second.begin(), precise->second.end(),
                         [](double value) { return value == std::trunc(value); });
    }
    float before = table_.cell(0, column);
    bool rises = is_whole(before);
    for (std::size_t row = 1; rises && row < table_.rows(); ++row) {
      const float cell = table_.cell(row, column);
      rises = is_whole(cell) && (cell > before || (cell == before && std::abs(cell) >= coarse));
      before = cell;
    }
    return rises;
  }

  /// Whole numbers, no two the same.
  [[nodiscard]] bool has_different_whole_numbers(std::size_t column) const {
    std::vector<float> values;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      values.push_back(table_.cell(row, column));
      if (!is_whole(values.back())) {
        return false;
      }
    }
    std::sort(values.begin(), values.end());
    return std::adjacent_find(values.begin(), values.end(),
                              [](float a, float b) { return a == b && std::abs(a) < coarse; }) == values.end();
  }

  /// Why it is left out; empty where it is not.
  std::string choose_number(std::size_t at, PlannedColumn &column, const ColumnTexts *texts) {
    if (texts == nullptr && table_.rows() >= few_rows && may_leave_out()) {
      if (is_index(at)) {
        return "its whole numbers rise from row to row, as those of an index do (--keep keeps it)";
      }
      if (!table_.names.empty() && is_named_like_an_id(column.name) && has_different_whole_numbers(at)) {
        return "by its name and its numbers, which are all different, it names rows (--keep keeps it)";
      }
    }
    column.has_indicator = texts != nullptr && texts->missing() > 0;
    column.fill = samples_.of(at).median;
    move_origin(at, column);
    clip(at, column);
    return {};
  }

  /// Numbers that differ in digits which float32 does not hold are counted from one of them.
  void move_origin(std::size_t at, PlannedColumn &column) {
    const auto precise = table_.precise.find(at);
    if (precise == table_.precise.end()) {
      return;
    }
    double least = std::numeric_limits<double>::infinity();
    double largest = -least;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (is_number_cell(table_.cell(row, at))) {
        least = std::min(least, precise->second[row]);
        largest = std::max(largest, precise->second[row]);
      }
    }
    if (!(largest > least && largest - least < narrow_range * std::max(std::abs(least), std::abs(largest)))) {
      return;
    }
    column.origin = least;
    std::vector<float> values;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (is_number_cell(table_.cell(row, at))) {
        values.push_back(static_cast<float>(precise->second[row] - column.origin));
      }
    }
    column.fill = quantile(values, 0.5);
    remarks_.push_back({"column-shifted", fmt::format("{}: the values of {} are large beside their differences ({} to "
                                                      "{}): they are counted from {}",
                                                      table_.source, table_.shown_name(at), least, largest, least)});
  }

  /// Values that are out of all proportion would leave nothing of the others.
  void clip(std::size_t at, PlannedColumn &column) {
    if (samples_.far_values(at) == 0 || column.origin != 0.0) {
      return;
    }
    constexpr double end = 10.0;
    std::tie(column.low, column.high) = samples_.ends_of(at, end);
    remarks_.push_back(
        {"column-clipped",
         fmt::format("{}: {} of {} values of {} are out of all proportion to the others, of which half "
                     "lie between {} and {}: what is below {} or above {} counts as that",
                     table_.source, samples_.far_values(at), table_.rows(), table_.shown_name(at),
                     samples_.of(at).lower_quarter, samples_.of(at).upper_quarter, column.low, column.high)});
  }

  std::string choose_from_texts(std::size_t at, PlannedColumn &column, const ColumnTexts &texts) {
    const std::uint64_t cells = table_.rows() - texts.missing();
    if (cells == 0) {
      return "all its cells are missing";
    }
    if (texts.texts().empty()) {
      return choose_number(at, column, &texts);
    }
    const auto counts = counts_of(at, texts);
    refuse_texts_among_numbers(at, texts);
    column.has_indicator = texts.missing() > 0;
    const auto all = [&](const auto &is_one) {
      return numbers_ == 0 && !texts.has_too_many() && std::all_of(texts.texts().begin(), texts.texts().end(), is_one);
    };
    if (all([](const std::string &text) { return truth_of(text).has_value(); })) {
      column.kind = ColumnKind::truth;
      column.fill = truth_fill(counts);
      return {};
    }
    if (all([](const std::string &text) { return days_of(text).has_value(); })) {
      choose_date(at, column, texts);
      return {};
    }
    refuse_what_is_no_date(at, counts, texts);
    return choose_levels(column, counts, cells, texts.has_too_many());
  }

  /// Among dates, a text here and there that is none is a mistake as well.
  void refuse_what_is_no_date(std::size_t at, const std::map<std::string, std::uint64_t> &counts,
                              const ColumnTexts &texts) const {
    std::uint64_t dates = 0;
    std::uint64_t others = 0;
    for (const auto &[text, count] : counts) {
      (days_of(text) ? dates : others) += count;
    }
    const auto wrong = std::find_if(texts.texts().begin(), texts.texts().end(),
                                    [](const std::string &text) { return !days_of(text).has_value(); });
    if (wrong == texts.texts().end() || here_and_there * others >= dates + others) {
      return;
    }
    throw InvalidInput(
        fmt::format("{}: found '{}', expected a date, as in {} cells of that column, or a missing value",
                    table_.shown_place(at, texts.place(static_cast<std::size_t>(wrong - texts.texts().begin()))),
                    shown(*wrong), dates));
  }

  /// Texts and numbers of a column, and how often each is there.
  std::map<std::string, std::uint64_t> counts_of(std::size_t at, const ColumnTexts &texts) {
    std::vector<std::uint64_t> of_texts(texts.texts().size() + 1);
    std::map<float, std::uint64_t> of_numbers;
    numbers_ = 0;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      const float cell = table_.cell(row, at);
      if (is_number_cell(cell)) {
        ++of_numbers[cell];
        ++numbers_;
      } else if (!is_missing_cell(cell)) {
        ++of_texts[std::min<std::size_t>(text_of_cell(cell), texts.texts().size())];
      }
    }
    std::map<std::string, std::uint64_t> counts;
    for (std::size_t i = 0; i < texts.texts().size(); ++i) {
      counts[texts.texts()[i]] += of_texts[i];
    }
    for (const auto &[number, count] : of_numbers) {
      counts[fmt::format("{}", number + 0.0F)] += count; // −0 is 0
    }
    return counts;
  }

  /// A text here and there among numbers is a mistake; where they are many, the numbers are names as well.
  void refuse_texts_among_numbers(std::size_t at, const ColumnTexts &texts) const {
    const std::uint64_t others = table_.rows() - texts.missing() - numbers_;
    const bool is_mistake = table_.rows() < few_rows ? numbers_ >= others : here_and_there * others < numbers_ + others;
    if (!is_mistake) {
      return;
    }
    const CellPlace place = texts.place(0);
    throw InvalidInput(fmt::format(
        "{}: found '{}', expected a finite number, as in {} cells of that column, or a missing value (nothing, NA, "
        "N/A, "
        "NaN, null, ? or -){}",
        table_.shown_place(at, place), shown(texts.texts().front()), numbers_,
        place.line == 1 ? "; if line 1 holds the names of the columns, choose the label column by its name" : ""));
  }

  static float truth_fill(const std::map<std::string, std::uint64_t> &counts) {
    std::int64_t more_true = 0;
    for (const auto &[text, count] : counts) {
      more_true += *truth_of(text) ? static_cast<std::int64_t>(count) : -static_cast<std::int64_t>(count);
    }
    return more_true > 0 ? 1.0F : 0.0F;
  }

  void choose_date(std::size_t at, PlannedColumn &column, const ColumnTexts &texts) {
    column.kind = ColumnKind::date;
    std::vector<double> days;
    for (const auto &text : texts.texts()) {
      days.push_back(*days_of(text));
    }
    column.origin = std::floor(*std::min_element(days.begin(), days.end()));
    std::vector<float> values;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (const float cell = table_.cell(row, at); !is_missing_cell(cell)) {
        values.push_back(static_cast<float>(days[text_of_cell(cell)] - column.origin));
      }
    }
    column.fill = quantile(values, 0.5);
  }

  std::string choose_levels(PlannedColumn &column, const std::map<std::string, std::uint64_t> &counts,
                            std::uint64_t cells, bool too_many) {
    if (too_many) {
      return fmt::format("it holds more than {} different texts", ColumnTexts::most);
    }
    if (table_.rows() >= few_rows && counts.size() == cells && may_leave_out()) {
      return "its texts are all different, as those of ids and free text are";
    }
    if (table_.rows() >= few_rows && 2 * counts.size() > cells && may_leave_out()) {
      return fmt::format("it holds {} different texts in {} rows, too many to learn from", counts.size(), cells);
    }
    // Levels of fewer rows tell little, and columns of zeros are not free.
    constexpr std::size_t most_levels = 50;
    const std::uint64_t least = std::clamp<std::uint64_t>(table_.rows() / 100, 2, 10);
    std::vector<std::pair<std::uint64_t, std::string>> by_count;
    for (const auto &[text, count] : counts) {
      by_count.emplace_back(count, text);
    }
    std::stable_sort(by_count.begin(), by_count.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    const std::string usual = by_count.front().second;
    for (std::size_t i = 0; i < by_count.size(); ++i) {
      const bool is_level = i < most_levels && (by_count[i].first >= least || table_.rows() < few_rows);
      (is_level ? column.levels : column.rare).push_back(std::move(by_count[i].second));
    }
    if (column.levels.empty()) {
      return fmt::format("none of its {} different texts is in {} rows or more", counts.size(), least);
    }
    column.kind = ColumnKind::category;
    std::sort(column.levels.begin(), column.levels.end());
    std::sort(column.rare.begin(), column.rare.end());
    column.usual = static_cast<std::uint32_t>(std::lower_bound(column.levels.begin(), column.levels.end(), usual) -
                                              column.levels.begin());
    return {};
  }

  const RawTable &table_;
  const ReadOptions &options_;
  std::vector<Remark> &remarks_;
  NumberSamples samples_;
  std::uint64_t numbers_ = 0; ///< in the column that is looked at
};

} // namespace

ChosenPlan choose_plan(const RawTable &table, const ReadOptions &options, std::vector<Remark> &remarks) {
  return PlanChoice(table, options, remarks).choose();
}

} // namespace duplex::data
