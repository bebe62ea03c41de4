#pragma once
// The numbers by which an automatic run decides: ratios and counts, found by trials on quadratic problems of condition
// 1 to 10⁴. The first share is not sharp: .01 or .1 changed the products of 200 random problems by 5 %, as it adapts.

#include <cstdint>

namespace duplex::automatic::rule {

inline constexpr double first_share = 0.03; ///< of ‖d‖ that its error may be; it adapts between the next two
inline constexpr double smallest_share = 1e-4;
inline constexpr double largest_share = 0.2;
inline constexpr double poor_match = 0.3;  ///< d as carried along is this far off, of ‖d‖: solve more tightly
inline constexpr double good_match = 0.03; ///< less than this: solve more loosely
inline constexpr double nearly = 0.9;      ///< of the tolerance: time to verify
inline constexpr double tighter = 0.1;     ///< of the tolerance, where a run is to go on beyond it
inline constexpr int most_steps_without_refresh = 16;
inline constexpr double calm_match = 0.1; ///< of a step's change of value, by which a quadratic prediction may miss it
inline constexpr int calm_steps_to_trust = 3;
inline constexpr double disagreement =
    0.5; ///< of a step's change of value, from what d says of it, that rejects the step
inline constexpr std::int64_t disagreements_that_doubt_d = 10;
inline constexpr int disagreements_in_a_row = 8;   ///< of ever shorter steps, which no smooth φ has
inline constexpr double slope_that_matters = 1e-3; ///< of the first, where differences deny success
inline constexpr double fall_without_end = 1e8;    ///< of F, over its first value and first fall
inline constexpr double close_agreement = 0.2;
inline constexpr double growth_of_radius = 3.0; ///< of the trust region, by a step that fills it and agrees well
inline constexpr std::int64_t largest_assembled_x = 500;
inline constexpr double difference_of_x = 1e-3;   ///< of how much x's entries change in a step, for differences of d
inline constexpr double least_change_of_d = 1e-5; ///< of its norm, in such a difference
inline constexpr double accuracy_of_difference = 1e-8;    ///< of the norm of d
inline constexpr double accuracy_of_upper_hessian = 1e-8; ///< by such differences, of its largest curvature
inline constexpr double share_that_is_felt = 1e-4; ///< of the fall that a move of x promises, by all of its entries
inline constexpr int exact_solves_to_believe = 4;  ///< that an assembled H does not change
inline constexpr int solves_between_checks = 16;
inline constexpr int most_shortenings = 25;
inline constexpr int shortenings_that_doubt_d = 4;
inline constexpr double growth_that_restarts = 100.0; ///< of ‖d‖ over its smallest so far
inline constexpr double first_mu = 0.5;               ///< where the lower Hessian is singular
inline constexpr double mu_decay = 0.1;               ///< from one solution to the next
inline constexpr double smallest_mu = 1e-11;
inline constexpr int most_refutations = 20; ///< of claims
inline constexpr double fall_with_mu = 0.5; ///< of the lower gradient, when mu falls by its decay
inline constexpr int most_blurred_steps = 20;
inline constexpr std::int64_t most_steps_without_progress = 500;

// Of the opening (opening.hpp): on hyper-cleaning with FashionMNIST, five splits, 36 to 53 steps to 81 % with these.
inline constexpr double share_of_scale = 0.1;   ///< of x's scale, by which a step moves its entries about
inline constexpr double share_of_stable = 0.75; ///< of 2/λ
inline constexpr int mixed_pairs = 5;
inline constexpr int turns_that_end = 3;      ///< in a row
inline constexpr int most_remeasurements = 4; ///< of the curvature
inline constexpr std::int64_t longest_opening = 100;

} // namespace duplex::automatic::rule
