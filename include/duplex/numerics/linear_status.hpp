#pragma once
// What became of a linear solve, and what that says of its matrix.

#include <array>
#include <cstdint>
#include <string_view>

namespace duplex {

enum class LinearStatus : std::uint8_t {
  converged,  ///< the relative residual is at most the tolerance
  step_limit, ///< not yet, after the allowed number of steps
  singular,   ///< a direction of zero curvature: H is singular and b is not in its range
  indefinite, ///< a direction of negative curvature
  not_finite, ///< NaN or infinity in b, in v or in a product
};

constexpr std::array<std::string_view, 5> linear_status_names{"converged", "step limit", "singular", "indefinite",
                                                              "not finite"};
constexpr const auto &names_of(LinearStatus /*unused*/) { return linear_status_names; }

} // namespace duplex
