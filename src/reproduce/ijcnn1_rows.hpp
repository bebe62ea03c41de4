#pragma once
// ijcnn1, the field's benchmark of penalties, from a file that the user has: its rows, and the truth about penalties on
// them by Newton's method and LDLᵀ, which share nothing with any run.

#include "data/dataset.hpp"
#include "reproduce/reproduce.hpp"
#include "zoo/penalized_logistic.hpp"

#include <duplex/problem/problem.hpp>
#include <duplex/space/box.hpp>

#include <Eigen/Cholesky>

#include <cstdint>
#include <string_view>

namespace duplex::reproduce {

inline constexpr double ijcnn1_limit = 12.0; ///< of the log-penalties: ‖∇φ‖ vanishes also where they run away
inline constexpr Index ijcnn1_training_rows = 35'000; ///< the first of the file; the others are held out

/// Throws InvalidInput, with the experiment that needs it, where the file is missing or another one.
[[nodiscard]] data::Dataset read_ijcnn1(const Settings &settings, std::string_view experiment);

/// A penalty for each feature, tuned on the rows that are held out.
[[nodiscard]] zoo::PenalizedLogistic penalties_of_ijcnn1(const data::Dataset &all);

/// As the field's benchmark starts: x = log U(0, 1), within the bounds, and y normal.
[[nodiscard]] State<Eigen::VectorXd> start_on_ijcnn1(Index features, std::uint64_t seed);

/// φ and ∇φ of such a problem, exactly.
class ExactPenalties {
public:
  using Vector = Eigen::VectorXd;

  /// The problem must outlive it.
  explicit ExactPenalties(const zoo::PenalizedLogistic &problem);

  struct Truth {
    double loss = 0.0;  ///< φ
    double slope = 0.0; ///< norm of the free part of ∇φ
  };
  /// From the minimizer that it found last.
  [[nodiscard]] Truth at(const Vector &x);

private:
  void minimize(const Vector &penalties);
  [[nodiscard]] double value(const Vector &penalties, const Vector &y);

  const zoo::PenalizedLogistic *problem_;
  Box<Vector> box_;
  zoo::PenalizedLogistic::MeanLoss loss_;
  zoo::PenalizedLogistic::MeanLoss held_out_;
  Eigen::LDLT<Eigen::MatrixXd> factors_;
  Vector y_;
};

} // namespace duplex::reproduce
