#pragma once
// How the given labels came about, and what they then say of the true classes. A label may be wrong in two ways:
//
//   by class        the true class k was called l with a probability C_kl, whatever the row is like
//   near boundaries the row lies between two classes and was given the other one's label, with a probability ε of rows
//                   so near; which of the others, by what the model believes of the row
//
//   P(given g | true k, row) = (1 − ε_b) C_kg + ε_b r(g | k),   r(l | k) = R_l² / Σ_{j ≠ k} R_j²
//
// with b the bin of the row's margin between its two most probable classes, and R the model's belief. Where it is known
// which source each label has (who or what gave it), C is that of the source. C and ε, which does not grow with the
// margin, are found by expectation maximization. A model that is unsure near a boundary may be so because labels there
// are wrong or because classes overlap: given labels cannot tell, but trusted ones can. A share s of ε is taken for
// wrong labels and the rest for overlap, and the model's scores may be too sharp or too blunt by τ; all pairs of a grid
// of s and τ are weighed by how likely they make given and trusted labels, and averaged.

#include "clean/regression.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace duplex::clean {

/// What a model that has not seen the rows believes of them.
struct UnseenBeliefs {
  const Matrix &log_p;                         ///< rows by classes
  std::span<const std::uint32_t> labels;       ///< given ones, or right ones where the rows are trusted
  std::span<const std::uint32_t> sources = {}; ///< of given labels; none: all have the same
  std::size_t source_count = 1;
};

/// T_kl = P(given label l | true class k).
struct LabelNoise {
  Eigen::MatrixXd transition;
};

struct LabelAccount {
  Matrix posterior;                         ///< P(true class | row, given label)
  Matrix likelihoods;                       ///< P(given label | true class, row)
  LabelNoise noise;                         ///< how often a true class got which label, in either way
  double wrong_by_class = 0.0;              ///< part of the labels that are wrong by class
  double near_boundaries = 0.0;             ///< part of them that were given the name of a neighbour, near boundaries
  std::vector<double> right_by_source = {}; ///< part of each source's labels that are right, where there are sources
};

/// Whether the model's scores are taken as they are, τ = 1, or τ is found: labels that a model is to learn from next
/// must not be surer than the model that they come from.
enum class Sharpness : std::uint8_t { as_it_is, found };

/// Trusted rows may be none. Throws NotAvailable where a belief is not finite, Interrupted on request.
[[nodiscard]] LabelAccount account_for_labels(const UnseenBeliefs &rows, const UnseenBeliefs &trusted,
                                              Sharpness sharpness, const std::atomic<bool> *interrupt = nullptr);

/// Where hardly a label is wrong, calling some of them so would be the best guess too; none of these is called so.
inline constexpr float most_trust_of_a_suspect = 0.8F;

/// The trust below which rows are to be called wrong for the F1 of the suspects to be as large as can be expected,
/// where trust is the probability that it should be: 1 − F/2 with F the largest 2 Σ_called (1 − t) / (called + Σ_all (1
/// − t)).
[[nodiscard]] float threshold_of_best_f1(const Vector &trust);

} // namespace duplex::clean
