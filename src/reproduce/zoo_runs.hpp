#pragma once
// Runs on the families of the zoo: automatic, and the stand-in, from the same start, both judged in long double.

#include "reproduce/reproduce.hpp"
#include "zoo/family.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex::reproduce {

/// On ‖∇φ‖/‖∇φ₀‖, what automatic runs to unless told otherwise.
inline constexpr double zoo_tolerance = 1e-5;

/// One of the two.
struct JudgedRun {
  double ratio = infinity; ///< ‖∇φ‖/‖∇φ₀‖ in long double, without what bounds hold back; infinite where it is not known
  double seconds = 0.0;
  bool claimed = false;
  std::string said;
  std::string judged; ///< why the ratio is not known

  [[nodiscard]] bool is_right() const { return ratio <= zoo_tolerance; }
  [[nodiscard]] bool is_false() const { return claimed && !is_right(); }
  [[nodiscard]] bool solved() const { return claimed && is_right(); }
};

struct ZooRun {
  JudgedRun engine;
  JudgedRun stand_in;
};

/// Both from the k-th start, on the calling thread alone.
[[nodiscard]] ZooRun run_both(const zoo::Family &family, int k, const Settings &settings);

/// Where every other method ends that is run as it comes, from the first start.
[[nodiscard]] std::vector<std::pair<std::string, JudgedRun>> run_others(const zoo::Family &family,
                                                                        const Settings &settings);

/// The names of those methods.
[[nodiscard]] std::vector<std::string> other_methods();

} // namespace duplex::reproduce
