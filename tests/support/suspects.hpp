#pragma once
// How good suspects are.

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace duplex::testing {

/// Of the labels that are called wrong.
inline double f1_of(const Eigen::VectorXf &trust, float threshold, const std::vector<std::uint32_t> &given,
                    const std::vector<std::uint32_t> &right) {
  double found = 0.0;
  double called = 0.0;
  double wrong = 0.0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool is_called = trust[static_cast<Eigen::Index>(i)] < threshold;
    const bool is_wrong = given[i] != right[i];
    found += is_called && is_wrong ? 1.0 : 0.0;
    called += is_called ? 1.0 : 0.0;
    wrong += is_wrong ? 1.0 : 0.0;
  }
  return 2.0 * found / (called + wrong);
}

} // namespace duplex::testing
