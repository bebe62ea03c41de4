#pragma once
// Labels that are wrong by class, seen through a model that was fitted to them. Such a model says how rows are
// labelled, not what they are: where a third of a rare class got another name, it is never surer than two thirds of any
// row of that class. Where each class has rows that are certainly of it (its anchors), what is said of these tells
// P(given | true), and beliefs can be taken back through it.

#include "clean/regression.hpp"

#include <atomic>
#include <cstdint>
#include <span>

namespace duplex::clean {

class Anchors {
public:
  /// Throws NotAvailable where a belief is not finite.
  Anchors(const Matrix &log_p, std::span<const std::uint32_t> labels);

  /// P(given l | true k): the mean belief of the rows labelled k that are believed most to be so. The row of a class
  /// with a handful of labels is that of the identity.
  [[nodiscard]] const Eigen::MatrixXd &transition() const { return transition_; }

  /// log p of the true classes, of which q = Cᵀp are the beliefs of labels: Richardson and Lucy's iteration from p = q,
  /// which approaches the p, among those that are probabilities, that makes q likeliest. So many iterations, as many
  /// for any rows, as take some seconds for those that the anchors are of; q itself where these are too few to be of
  /// use. Throws Interrupted on request.
  [[nodiscard]] Matrix beliefs_of_true_classes(const Matrix &log_q, const std::atomic<bool> *interrupt = nullptr) const;

private:
  Eigen::MatrixXd transition_;
  Index iterations_ = 0;
};

} // namespace duplex::clean
