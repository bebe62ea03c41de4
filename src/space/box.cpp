#include <duplex/space/box.hpp>

#include <duplex/core/fields.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <variant>
#include <vector>

namespace duplex::detail {

namespace {

std::vector<double> as_doubles(const Entries &entries) {
  return std::visit(
      [](const auto &all) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(all)>, std::string>) {
          return std::vector<double>();
        } else {
          return std::vector<double>(all.begin(), all.end());
        }
      },
      entries);
}

std::string entry_text(const char *name, std::size_t i, double value) {
  return std::string(name) + "[" + std::to_string(i) + "] = " + number_text(value);
}

/// change(room below x, room above x, entry) for every entry of the direction.
template <class Change>
Entries changed(const Entries &lower, const Entries &upper, const Entries &x, Entries direction, const Change &change) {
  const auto low = as_doubles(lower);
  const auto high = as_doubles(upper);
  const auto at = as_doubles(x);
  std::visit(
      [&](auto &entries) {
        using Numbers = std::remove_cvref_t<decltype(entries)>;
        if constexpr (!std::is_same_v<Numbers, std::string>) {
          for (std::size_t i = 0; i < entries.size(); ++i) {
            entries[i] = static_cast<typename Numbers::value_type>(
                change(at[i] - low[i], high[i] - at[i], static_cast<double>(entries[i])));
          }
        }
      },
      direction);
  return direction;
}

} // namespace

void require_bounds(const Entries &lower, const Entries &upper) {
  const auto low = as_doubles(lower);
  const auto high = as_doubles(upper);
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (!(low[i] < infinity)) {
      throw InvalidInput("bounds: " + entry_text("lower", i, low[i]) + ", expected a number or -inf");
    }
    if (!(high[i] > -infinity)) {
      throw InvalidInput("bounds: " + entry_text("upper", i, high[i]) + ", expected a number or inf");
    }
    if (!(low[i] <= high[i])) {
      throw InvalidInput("bounds: " + entry_text("lower", i, low[i]) + " and " + entry_text("upper", i, high[i]) +
                         ", expected lower <= upper");
    }
  }
}

bool has_finite_entry(const Entries &bound) {
  const auto all = as_doubles(bound);
  return std::any_of(all.begin(), all.end(), [](double entry) { return std::isfinite(entry); });
}

std::string outside_text(const Entries &lower, const Entries &upper, const Entries &x) {
  const auto low = as_doubles(lower);
  const auto high = as_doubles(upper);
  const auto at = as_doubles(x);
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!(at[i] >= low[i])) {
      return entry_text("x", i, at[i]) + ", expected at least its lower bound " + number_text(low[i]);
    }
    if (!(at[i] <= high[i])) {
      return entry_text("x", i, at[i]) + ", expected at most its upper bound " + number_text(high[i]);
    }
  }
  return {};
}

Index entries_at_bounds(const Entries &lower, const Entries &upper, const Entries &x) {
  const auto low = as_doubles(lower);
  const auto high = as_doubles(upper);
  const auto at = as_doubles(x);
  Index count = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    count += at[i] <= low[i] || at[i] >= high[i] ? 1 : 0;
  }
  return count;
}

bool all_outward(const Entries &lower, const Entries &upper, const Entries &x, const Entries &d, double margin) {
  const auto low = as_doubles(lower);
  const auto high = as_doubles(upper);
  const auto at = as_doubles(x);
  const auto along = as_doubles(d);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const bool stays_below = at[i] <= low[i] && (along[i] > margin || at[i] >= high[i]);
    const bool stays_above = at[i] >= high[i] && along[i] < -margin;
    if (!stays_below && !stays_above) {
      return false;
    }
  }
  return true;
}

Entries with_room(const Entries &lower, const Entries &upper, const Entries &x, double reach, Entries direction) {
  return changed(lower, upper, x, std::move(direction), [reach](double below, double above, double entry) {
    return below >= reach && above >= reach ? entry : 0.0;
  });
}

Entries turned_inward(const Entries &lower, const Entries &upper, const Entries &x, double reach, Entries direction) {
  return changed(lower, upper, x, std::move(direction), [reach](double below, double above, double entry) {
    const bool is_near_lower = below < reach;
    const bool is_near_upper = above < reach;
    if (is_near_lower == is_near_upper) {
      return 0.0;
    }
    return is_near_lower ? std::abs(entry) : -std::abs(entry);
  });
}

} // namespace duplex::detail
