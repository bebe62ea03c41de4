#pragma once
// Labels that are wrong by class, seen through a model that was fitted to them. Such a model says how rows are
// labelled, not what they are: where a third of a rare class got another name, it is never surer than two thirds of any
// row of that class. Where each class has rows that are certainly of it (its anchors), what is said of these tells
// P(given | true), and beliefs can be taken back through it.

#include "clean/regression.hpp"

#include <cstdint>
#include <span>

namespace duplex::clean {

/// P(given l | true k): the mean belief of the rows labelled k that are believed most to be so. Ones on the diagonal
/// where too few rows are labelled k.
[[nodiscard]] Eigen::MatrixXd transition_by_anchors(const Matrix &log_p, std::span<const std::uint32_t> labels);

/// log p of the true classes, of which q = Cᵀp are the beliefs of labels: the p, among those that are probabilities,
/// that makes q likeliest (Richardson and Lucy's iteration, from p = q).
[[nodiscard]] Matrix beliefs_of_true_classes(const Matrix &log_q, const Eigen::MatrixXd &transition);

} // namespace duplex::clean
