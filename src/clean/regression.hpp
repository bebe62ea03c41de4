#pragma once
// Softmax regression on groups of samples:
//
//   min over y of  Σ w_i ℓ_i(y) / Σ w_i + (ρ/2) (‖weights‖² + 10⁻³ ‖biases‖²),
//
// where ℓ_i is the cross-entropy of the sample's label or, where it is known how labels come about, that of the label
// given the class, ℓ_i = −log Σ_k p_ik P(label of i | true class k) (the forward loss; Patrini et al., 2017). Its slope
// in the scores is p − q, with q_k ∝ p_k P(label | k) what model and label say together of the class.

#include <duplex/core/error.hpp>
#include <duplex/kernels/softmax_loss.hpp>

#include <atomic>
#include <span>

namespace duplex::clean {

using Vector = Eigen::VectorXf;
using Matrix = SoftmaxLoss<float>::Matrix; ///< samples by classes
using Loss = SoftmaxLoss<float>;

struct Group {
  Loss *loss;
  const Vector *weights;               ///< one per sample
  const Matrix *likelihoods = nullptr; ///< P(label | true class), by classes; none: labels are right
  Index first_likelihood = 0;          ///< the row of the first sample; the others follow
};

struct FitOptions {
  double rho = 0.0;
  std::int64_t iterations = 60;
  const std::atomic<bool> *interrupt = nullptr;
};

inline void refuse_if_interrupted(const std::atomic<bool> *interrupt) {
  if (interrupt != nullptr && interrupt->load()) {
    throw Interrupted("interrupted");
  }
}

/// Moves y from where it is. Throws Interrupted on request.
void fit(std::span<const Group> groups, Index classes, const FitOptions &options, Vector &y);

/// log p of every class, at y.
[[nodiscard]] Matrix log_probabilities(Loss &loss, const Vector &y);

/// Each row the softmax of scores, in place.
void softmax_rows(Matrix &scores);

} // namespace duplex::clean
