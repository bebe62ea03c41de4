#pragma once
// Directions along which check() looks, one entry each where there are few, groups of entries where there are many, and
// curves along them.

#include "measure/check_points.hpp"
#include "measure/check_tally.hpp"

#include <cstddef>
#include <functional>
#include <random>
#include <vector>

namespace duplex::detail {

using Group = std::vector<std::size_t>;

/// How many directions are taken at a point: so many, or a unit vector for each entry where these are not more.
struct ProbeCounts {
  std::size_t units;
  std::size_t groups;
};
inline constexpr ProbeCounts probes_at_first_point{.units = 32, .groups = 16};
inline constexpr ProbeCounts probes_at_other_points{.units = 8, .groups = 8};

/// Groups of the entries whose unit is not zero: of like sizes where sizes are given, at random where they are empty.
[[nodiscard]] std::vector<Group> probe_groups(const Numbers &unit, const Numbers &sizes, ProbeCounts counts,
                                              std::mt19937_64 &generator);

/// The units of a group's entries, each with a sign that is the same for every group, and zero elsewhere.
[[nodiscard]] Numbers along_group(const Group &group, const Numbers &signed_unit);

/// Units with random signs.
[[nodiscard]] Numbers with_signs(const Numbers &unit, std::mt19937_64 &generator);

[[nodiscard]] double dot_of(const Numbers &a, const Numbers &b);
/// Σ|a_i b_i|
[[nodiscard]] double size_of_dot(const Numbers &a, const Numbers &b);
/// √Σ(a_i b_i)²
[[nodiscard]] double length_of_terms(const Numbers &a, const Numbers &b);
[[nodiscard]] double largest_of(const Numbers &a, const Numbers &unit);
[[nodiscard]] bool is_all_finite(const Numbers &all);
[[nodiscard]] std::string entry_name(const char *of, std::size_t entry);

/// Halves a group as long as one half is wrong by itself; what is left, mostly one entry.
[[nodiscard]] Group worst_within(Group group, double tolerance, const std::function<Compared(const Group &)> &compare);

/// Slopes by differences; where they contradict what is claimed, by two sets of steps, of which neither may contradict
/// the other.
[[nodiscard]] Slopes confirmed_slopes(const Curve &curve, const Numbers &at_zero, const Numbers &noise,
                                      const Numbers &claimed, Room room, const LadderSettings &settings);

} // namespace duplex::detail
