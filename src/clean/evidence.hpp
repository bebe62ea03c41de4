#pragma once
// What speaks against a label, in the words of the user's columns.

#include "clean/cleaning.hpp"
#include "clean/prepare.hpp"
#include "data/dataset.hpp"

#include <string>
#include <vector>

namespace duplex::clean {

/// A feature as it was in the file: scaling is undone where it was applied in place.
[[nodiscard]] float original_feature(const Prepared &prepared, Index sample, Index column);

class Evidence {
public:
  /// All must outlive it.
  Evidence(const Result &result, const Prepared &prepared, const data::Dataset &training);

  /// Whether the model is linear in the features, so that each has a share in its scores.
  [[nodiscard]] bool is_available() const { return is_available_; }

  /// What the feature is counted from in the file.
  [[nodiscard]] double origin(Index column) const {
    return looks_.empty() ? 0.0 : looks_[static_cast<std::size_t>(column)].origin;
  }

  /// "petal width 2.4; colour = red": the features that move the model's score most from the given class to the
  /// suggested one beside an average row, strongest first, three at most. Empty where none does.
  [[nodiscard]] std::string against(Index sample, std::uint32_t given, std::uint32_t suggested) const;

private:
  struct Look {
    std::string name;
    double origin = 0.0;
    bool is_switch = false; ///< 1 or 0, and its name says what 1 means
    bool is_date = false;   ///< days since 1970
  };

  [[nodiscard]] std::string told(Index sample, Index column) const;

  const Result &result_;
  const Prepared &prepared_;
  std::vector<Look> looks_;
  bool is_available_ = false;
};

} // namespace duplex::clean
