#pragma once
// Samples as a file and as the test spells them out, and problems of the catalog on them.

#include "catalog/catalog.hpp"
#include "support.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace duplex::testing {

/// Of the problem with these options, which are pairs of a name and a value.
inline std::unique_ptr<catalog::ConfiguredProblem> problem_with(const std::string &name,
                                                                const std::map<std::string, std::string> &options) {
  auto problem = catalog::make_problem(name);
  for (const auto &[option, value] : options) {
    EXPECT_TRUE(problem->set(option, value)) << option;
  }
  return problem;
}

inline constexpr const char *training_csv = "a,b,c,kind\n1,2,7,no\n2,0,7,yes\n4,1,7,no\n5,5,7,yes\n";
inline constexpr const char *validation_csv = "a,b,c,kind\n3,2,7,yes\n0,1,8,no\n";
inline const std::vector<std::vector<float>> training_rows{{1, 2, 7}, {2, 0, 7}, {4, 1, 7}, {5, 5, 7}};
inline const std::vector<std::uint32_t> training_labels{0, 1, 0, 1};
inline const std::vector<std::vector<float>> validation_rows{{3, 2, 7}, {0, 1, 8}};
inline const std::vector<std::uint32_t> validation_labels{1, 0};

} // namespace duplex::testing
