#pragma once
// What other tools reach on the cells of clean-anywhere, as bench/rivals/cleanlab_baseline.py writes it.

#include "reproduce/anywhere_cells.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace duplex::reproduce {

struct RivalScore {
  double f1 = 0.0;
  double average_precision = 0.0;
};

/// By the rival's name.
using RivalScores = std::map<std::string, RivalScore>;

class Rivals {
public:
  Rivals() = default;
  /// A CSV file with the columns table, noise, trusted, seed, rival, f1, average_precision. Throws InvalidInput, naming
  /// the line, where it is not that.
  explicit Rivals(const std::filesystem::path &file);

  /// Of one cell; null where no rival was run on it.
  [[nodiscard]] const RivalScores *of(const AnywhereCell &cell) const;
  [[nodiscard]] bool empty() const { return cells_.empty(); }

private:
  std::map<std::string, RivalScores> cells_;
};

} // namespace duplex::reproduce
