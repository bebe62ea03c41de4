#include "measure/check_probes.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::detail {

std::vector<Group> probe_groups(const Numbers &unit, const Numbers &sizes, ProbeCounts counts,
                                std::mt19937_64 &generator) {
  Group all;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (unit[i] > 0.0) {
      all.push_back(i);
    }
  }
  std::vector<Group> out;
  if (all.size() <= counts.units) {
    for (const std::size_t i : all) {
      out.push_back({i});
    }
    return out;
  }
  if (sizes.empty()) {
    std::shuffle(all.begin(), all.end(), generator);
  } else {
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(sizes[a] * unit[a]) < std::abs(sizes[b] * unit[b]);
    });
  }
  for (std::size_t k = 0; k < counts.groups; ++k) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(k * all.size() / counts.groups);
    const auto to = all.begin() + static_cast<std::ptrdiff_t>((k + 1) * all.size() / counts.groups);
    out.emplace_back(from, to);
  }
  return out;
}

Numbers along_group(const Group &group, const Numbers &signed_unit) {
  Numbers out(signed_unit.size(), 0.0);
  for (const std::size_t i : group) {
    out[i] = signed_unit[i];
  }
  return out;
}

Numbers with_signs(const Numbers &unit, std::mt19937_64 &generator) {
  Numbers out = unit;
  for (double &entry : out) {
    entry = (generator() >> 63U) != 0 ? entry : -entry;
  }
  return out;
}

double dot_of(const Numbers &a, const Numbers &b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

double size_of_dot(const Numbers &a, const Numbers &b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(a[i] * b[i]);
  }
  return sum;
}

double length_of_terms(const Numbers &a, const Numbers &b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i] * a[i] * b[i];
  }
  return std::sqrt(sum);
}

double largest_of(const Numbers &a, const Numbers &unit) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i]) * unit[i]);
  }
  return largest;
}

bool is_all_finite(const Numbers &all) {
  return std::all_of(all.begin(), all.end(), [](double entry) { return std::isfinite(entry); });
}

std::string entry_name(const char *of, std::size_t entry) {
  return std::string(of) + "[" + std::to_string(entry) + "]";
}

Group worst_within(Group group, double tolerance, const std::function<Compared(const Group &)> &compare) {
  while (group.size() > 1) {
    const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
    Group first(group.begin(), middle);
    Group second(middle, group.end());
    const double in_first = compare(first).excess(tolerance);
    const double in_second = compare(second).excess(tolerance);
    if (!(in_first > 0.0) && !(in_second > 0.0)) {
      break;
    }
    group = in_first >= in_second ? std::move(first) : std::move(second);
  }
  return group;
}

Slopes confirmed_slopes(const Curve &curve, const Numbers &at_zero, const Numbers &noise, const Numbers &claimed,
                        Room room, const LadderSettings &settings) {
  Slopes found = slopes_of(curve, at_zero, noise, claimed, room, settings);
  const auto contradicts = [&](std::size_t i) {
    return std::abs(found.value[i] - claimed[i]) >
           ladder_safety * found.error[i] +
               settings.tolerance * std::max(std::abs(found.value[i]), std::abs(claimed[i]));
  };
  bool any = false;
  for (std::size_t i = 0; i < claimed.size() && !any; ++i) {
    any = contradicts(i);
  }
  if (!found.any || !any) {
    return found;
  }
  LadderSettings other = settings;
  other.first *= 0.75;
  other.all = true;
  const Slopes again = slopes_of(curve, at_zero, noise, claimed, room, other);
  for (std::size_t i = 0; again.any && i < claimed.size(); ++i) {
    const double apart = std::abs(found.value[i] - again.value[i]);
    const double allowed = ladder_safety * (found.error[i] + again.error[i]);
    if (again.error[i] < found.error[i]) {
      found.value[i] = again.value[i];
      found.error[i] = again.error[i];
    }
    if (!(apart <= allowed)) {
      found.error[i] += apart;
    }
  }
  return found;
}

} // namespace duplex::detail
