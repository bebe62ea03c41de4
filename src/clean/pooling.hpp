#pragma once
// Several models' log-probabilities z_m as one, G = Σ_m a_m z_m: weights a ≥ 0 that make the least of
//
//   −Σ log Σ_k softmax(G)_k P(given | k)   over training rows,   −Σ log softmax(G)_right   over trusted ones,
//   and 2 ‖a − a₀‖².

#include "clean/regression.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace duplex::clean {

/// One model's log-probabilities of rows that it has not seen.
struct Voice {
  const Matrix *training;
  const Matrix *trusted;
};

struct PooledLabels {
  const Matrix &likelihoods; ///< P(given | true class), training rows by classes
  std::span<const std::uint32_t> right;
  double weight_of_trusted = 1.0;
};

/// By Newton's method, with what model and label say together of the classes held fixed in each step's Hessian. Of many
/// training rows some thousand are taken.
[[nodiscard]] Eigen::VectorXd pooling_weights(std::span<const Voice> voices, const PooledLabels &labels,
                                              const Eigen::VectorXd &first);

/// log softmax(G), rows by classes, in the memory of the first model's scores.
[[nodiscard]] Matrix pooled(Matrix first, std::span<const Matrix *const> others, const Eigen::VectorXd &weights);

} // namespace duplex::clean
