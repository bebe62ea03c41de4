#include "data/cell_kinds.hpp"

#include "data/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace duplex::data {
namespace {

constexpr int none = -1;

/// The next `digits` digits as a number, or none; passes over them.
int take_whole(std::string_view &text, std::size_t digits) {
  if (text.size() < digits) {
    return none;
  }
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') {
      return none;
    }
    value = 10 * value + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view &text, char expected) {
  const bool is_there = text.starts_with(expected);
  text.remove_prefix(is_there ? 1 : 0);
  return is_there;
}

/// ".25", where there is such a thing.
double take_fraction(std::string_view &text) {
  double value = 0.0;
  double unit = 0.1;
  if (text.size() > 1 && text[0] == '.' && text[1] >= '0' && text[1] <= '9') {
    for (text.remove_prefix(1); !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
      value += unit * (text[0] - '0');
      unit /= 10.0;
    }
  }
  return value;
}

/// Seconds of "09:30", "09:30:00.5", with "Z" or "+02:00" behind them; all of the text must be that.
std::optional<double> seconds_of(std::string_view text) {
  constexpr int minute = 60;
  constexpr int hour = 60 * minute;
  const int hours = take_whole(text, 2);
  const int minutes = hours != none && take(text, ':') ? take_whole(text, 2) : none;
  if (minutes == none || hours > 23 || minutes > 59) {
    return std::nullopt;
  }
  double seconds = hours * hour + minutes * minute;
  if (take(text, ':')) {
    const int more = take_whole(text, 2);
    if (more == none || more > 60) { // 60 is a leap second
      return std::nullopt;
    }
    seconds += more + take_fraction(text);
  }
  if (!take(text, 'Z') && !text.empty()) {
    const double sign = text[0] == '-' ? 1.0 : -1.0; // east of Greenwich it is later than in UTC
    if (!take(text, '+') && !take(text, '-')) {
      return std::nullopt;
    }
    const int zone_hours = take_whole(text, 2);
    (void)take(text, ':');
    const int zone_minutes = text.empty() ? 0 : take_whole(text, 2);
    if (zone_hours == none || zone_minutes == none) {
      return std::nullopt;
    }
    seconds += sign * (zone_hours * hour + zone_minutes * minute);
  }
  return text.empty() ? std::optional(seconds) : std::nullopt;
}

} // namespace

bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 7> words = {"", "na", "n/a", "nan", "null", "?", "-"};
  constexpr std::size_t longest = 4;
  return cell.size() <= longest && std::find(words.begin(), words.end(), lower_case(cell)) != words.end();
}

std::optional<bool> truth_of(std::string_view cell) {
  const std::string lower = lower_case(cell.substr(0, 6));
  if (lower == "true" || lower == "yes") {
    return true;
  }
  return lower == "false" || lower == "no" ? std::optional(false) : std::nullopt;
}

std::optional<double> days_of(std::string_view cell) {
  std::string_view text = trimmed(cell);
  const int year = take_whole(text, 4);
  const int month = year != none && take(text, '-') ? take_whole(text, 2) : none;
  const int day = month != none && take(text, '-') ? take_whole(text, 2) : none;
  if (day == none) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) {
    return std::nullopt;
  }
  const auto days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (text.empty()) {
    return days;
  }
  if (!take(text, 'T') && !take(text, ' ')) {
    return std::nullopt;
  }
  const auto seconds = seconds_of(text);
  constexpr double day_seconds = 86400.0;
  return seconds ? std::optional(days + *seconds / day_seconds) : std::nullopt;
}

} // namespace duplex::data
