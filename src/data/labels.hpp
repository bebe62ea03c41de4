#pragma once
// Labels as they come, one row after the other, numbered by name.

#include "data/dataset.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace duplex::data {

class LabelCollector {
public:
  void add(std::string_view name);
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  /// Moves labels and names into the dataset: whole numbers in their order if all names are such, else in the
  /// order of their bytes.
  void finish(Dataset &dataset) { finish(dataset.labels, dataset.label_names); }
  void finish(std::vector<std::uint32_t> &numbers, std::vector<std::string> &names);

private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::vector<std::uint32_t> numbers_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> known_;
};

} // namespace duplex::data
