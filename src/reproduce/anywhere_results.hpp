#pragma once
// What clean-anywhere measured, as tables, a figure and claims.

#include "experiment/experiment.hpp"
#include "reproduce/anywhere_rivals.hpp"

#include <vector>

namespace duplex::reproduce {

struct AnywhereScore {
  double f1 = 0.0;                ///< of the suspects
  double average_precision = 0.0; ///< of the ranking by trust
  double calibration_error = 0.0; ///< expected, of trust, in ten bins
  double seconds = 0.0;
  bool is_doubtful = false; ///< by a warning of its own, of few trusted rows or of suspects not to be relied on
};

struct AnywhereResult {
  AnywhereCell cell;
  AnywhereScore score;
};

/// Σ over ten bins of trust of (rows in it / rows) |mean trust − part of its labels that are right|.
[[nodiscard]] double calibration_error(const Eigen::VectorXf &trust, const std::vector<bool> &wrong);

/// Tables by noise, by data set and, where there are any, beside rivals on the cells that they were run on; a figure, a
/// series for each cell.
void show(const std::vector<AnywhereResult> &results, const Rivals &rivals, experiment::Experiment &into);

/// Of what the cells are enough for.
void claim(const std::vector<AnywhereResult> &results, const Rivals &rivals, experiment::Experiment &into);

} // namespace duplex::reproduce
