#include "clean/copies.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace duplex::clean {

std::size_t hash_of_row(const FeatureTable &table, Index row) {
  const auto hash = [](const auto *first, std::size_t bytes) {
    return std::hash<std::string_view>()({reinterpret_cast<const char *>(first), bytes});
  };
  if (table.is_sparse()) {
    constexpr std::size_t odd = 0x9E3779B97F4A7C15U;
    const SparseRow own = table.sparse_row(row);
    return hash(own.columns.data(), own.columns.size_bytes()) * odd + hash(own.values.data(), own.values.size_bytes());
  }
  const std::size_t bytes = bytes_of(table.storage()) * static_cast<std::size_t>(table.columns());
  return hash(table.data() + bytes * static_cast<std::size_t>(row), bytes);
}

std::vector<Index> with_copies_together(const FeatureTable &table, const std::vector<Index> &order) {
  constexpr std::size_t few = 3;
  constexpr std::size_t part = 50; // of the rows: so many copies are no mistake
  std::unordered_map<std::size_t, std::vector<Index>> groups;
  std::vector<std::size_t> hashes(order.size());
  for (const Index row : order) {
    const std::size_t hash = hash_of_row(table, row);
    hashes[static_cast<std::size_t>(row)] = hash;
    groups[hash].push_back(row);
  }
  if (groups.size() == order.size()) {
    return order;
  }
  const std::size_t most = std::max(few, order.size() / part);
  std::vector<Index> out;
  out.reserve(order.size());
  for (const Index row : order) {
    const auto &copies = groups[hashes[static_cast<std::size_t>(row)]];
    if (copies.size() > most) {
      out.push_back(row);
    } else if (copies.front() == row) {
      out.insert(out.end(), copies.begin(), copies.end());
    }
  }
  return out;
}

std::vector<bool> copies_of(const FeatureTable &table, const FeatureTable &other) {
  constexpr std::ptrdiff_t of_each = 2;
  std::vector<bool> out(static_cast<std::size_t>(table.rows()));
  if (table.storage() != other.storage() || table.columns() != other.columns()) {
    return out;
  }
  std::unordered_set<std::size_t> known;
  for (Index i = 0; i < other.rows(); ++i) {
    known.insert(hash_of_row(other, i));
  }
  for (Index i = 0; i < table.rows(); ++i) {
    out[static_cast<std::size_t>(i)] = known.contains(hash_of_row(table, i));
  }
  if (std::count(out.begin(), out.end(), true) > of_each * other.rows()) {
    out.assign(out.size(), false);
  }
  return out;
}

} // namespace duplex::clean
