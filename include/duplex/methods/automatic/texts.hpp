#pragma once
// What an automatic run says of itself.

#include <duplex/core/text.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace duplex::automatic {

[[nodiscard]] std::string failure_text(LinearStatus status);

/// Of a run whose value has fallen by far more than it was worth.
[[nodiscard]] std::string unbounded_text(double first, double now, double length_of_x);

/// What a run measured and chose.
struct Findings {
  double mu = 0.0; ///< at the end; zero where the lower level is taken as it is
  double smallest_curvature = 0.0;
  double largest_curvature = 0.0;
  bool lower_is_curved = false;
  bool lower_hessian_changes = false;
  std::int64_t y_steps = 0;
  std::int64_t v_steps = 0;
  double y_gain = 0.0;
  double v_gain = 0.0;
  double share = 0.0;
  double smallest_alpha = 0.0; ///< zero where x has not moved
  double largest_alpha = 0.0;
  std::int64_t steps = 0;
  std::int64_t interpolated = 0;
  std::int64_t refreshes = 0;
  std::int64_t restarts = 0;
  double relative_direction = 0.0;

  /// What accumulates here; the rest is asked for when it is told.
  template <class Archive> void archive(Archive &members) {
    members("smallest alpha", smallest_alpha);
    members("largest alpha", largest_alpha);
    members("steps", steps);
  }

  void note_alpha(double alpha) {
    if (alpha > 0.0) {
      smallest_alpha = smallest_alpha > 0.0 ? std::min(smallest_alpha, alpha) : alpha;
      largest_alpha = std::max(largest_alpha, alpha);
    }
  }
};

[[nodiscard]] std::string text_of(const Findings &found);

} // namespace duplex::automatic
