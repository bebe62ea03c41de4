#include "names/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace duplex::names {

namespace {

/// Fewest insertions, deletions, replacements and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}

} // namespace

std::string nearest(std::string_view name, const std::vector<std::string> &known) {
  const auto begins_with_name = [&](const std::string &candidate) { return candidate.starts_with(name); };
  if (name.size() > 2 && std::count_if(known.begin(), known.end(), begins_with_name) == 1) {
    return *std::find_if(known.begin(), known.end(), begins_with_name);
  }
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 2);
  for (const auto &candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= best_distance && (best.empty() || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string> &known) {
  const std::string near = nearest(name, known);
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
  return fmt::format("unknown {} '{}'{} (known: {})", kind, name, hint, fmt::join(known, ", "));
}

} // namespace duplex::names
