#pragma once
// What a run remembers, by names: texts, numbers and whole numbers. Runs write themselves into it and read themselves
// back by one list of their members (archive.hpp); how it lies on a disk is not known here.

#include <duplex/core/error.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace duplex {

class SavedState {
public:
  using Floats = std::vector<float>;
  using Doubles = std::vector<double>;
  using Integers = std::vector<std::int64_t>;
  using Value = std::variant<std::string, Floats, Doubles, Integers>;

  static constexpr std::array<std::string_view, 4> kind_names{"text", "32-bit numbers", "64-bit numbers",
                                                              "whole numbers"};

  void put(std::string name, Value value) { entries_[std::move(name)] = std::move(value); }

  [[nodiscard]] bool has(const std::string &name) const { return entries_.contains(name); }
  /// Throws InvalidInput, with the name, where there is no such entry.
  [[nodiscard]] const Value &value(const std::string &name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      throw InvalidInput("the saved state has no '" + name + "'");
    }
    return found->second;
  }
  /// The same of one kind; throws InvalidInput where it is of another.
  template <class T> [[nodiscard]] const T &get(const std::string &name) const {
    const Value &found = value(name);
    const T *of_kind = std::get_if<T>(&found);
    if (of_kind == nullptr) {
      throw InvalidInput("'" + name + "' of the saved state is " + std::string(kind_names[found.index()]) +
                         ", expected " + std::string(kind_names[Value(T()).index()]));
    }
    return *of_kind;
  }
  /// The first of the numbers. Throws as get() does, and where there is none.
  template <class T> [[nodiscard]] typename T::value_type first(const std::string &name) const {
    const T &all = get<T>(name);
    if (all.empty()) {
      throw InvalidInput("'" + name + "' of the saved state is empty");
    }
    return all.front();
  }

  /// All entries of another state under names with a prefix, in the place of those that had it.
  void put_nested(const std::string &prefix, const SavedState &state) {
    entries_.erase(entries_.lower_bound(prefix), end_of(prefix));
    for (const auto &[name, value] : state.entries_) {
      entries_[prefix + name] = value;
    }
  }
  /// Gives back the entries that put_nested() put under a prefix, under their own names.
  [[nodiscard]] SavedState nested(const std::string &prefix) const {
    SavedState state;
    for (auto entry = entries_.lower_bound(prefix); entry != end_of(prefix); ++entry) {
      state.put(entry->first.substr(prefix.size()), entry->second);
    }
    return state;
  }

  [[nodiscard]] const std::map<std::string, Value> &entries() const { return entries_; }

private:
  /// After the last entry whose name has the prefix.
  [[nodiscard]] std::map<std::string, Value>::const_iterator end_of(const std::string &prefix) const {
    auto entry = entries_.lower_bound(prefix);
    while (entry != entries_.end() && entry->first.starts_with(prefix)) {
      ++entry;
    }
    return entry;
  }

  std::map<std::string, Value> entries_;
};

} // namespace duplex
