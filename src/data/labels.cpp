#include "data/labels.hpp"

#include "data/text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace duplex::data {
namespace {

/// Where each name stands in the order of classes.
std::vector<std::uint32_t> ranks_of(const std::vector<std::string> &names) {
  std::vector<std::int64_t> values(names.size());
  bool all_whole = true;
  for (std::size_t i = 0; i < names.size() && all_whole; ++i) {
    all_whole = parse_whole(names[i], values[i]);
  }
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return all_whole && values[a] != values[b] ? values[a] < values[b] : names[a] < names[b];
  });
  std::vector<std::uint32_t> ranks(names.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = rank;
  }
  return ranks;
}

} // namespace

void LabelCollector::add(std::string_view name) {
  auto found = known_.find(name);
  if (found == known_.end()) {
    found = known_.emplace(std::string(name), static_cast<std::uint32_t>(names_.size())).first;
    names_.emplace_back(name);
  }
  numbers_.push_back(found->second);
}

void LabelCollector::finish(std::vector<std::uint32_t> &numbers, std::vector<std::string> &names) {
  const std::vector<std::uint32_t> ranks = ranks_of(names_);
  for (std::uint32_t &number : numbers_) {
    number = ranks[number];
  }
  names.resize(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    names[ranks[i]] = std::move(names_[i]);
  }
  numbers = std::move(numbers_);
}

} // namespace duplex::data
