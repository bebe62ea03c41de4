#pragma once
// A run's memory, written and read by one list of its members:
//
//   template <class Archive> void archive(Archive &members) {
//     members("step", step_);
//     members("first", first_);
//   }
//
// StateWriter puts them into a SavedState, StateReader takes them back, bit by bit. Vectors must have been allocated
// before they are read: a run that goes on is made like a run that begins, and then reads itself.

#include <duplex/saved_state.hpp>
#include <duplex/space.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex {

/// The entries of a vector. Another backend overloads both for its own vectors.
template <EigenVector V> [[nodiscard]] SavedState::Value numbers_of(const V &x) {
  return std::vector<typename V::Scalar>(x.data(), x.data() + x.size());
}

/// Into the memory of the vector. Throws InvalidInput where their count or type differs.
template <EigenVector V> void set_numbers(const SavedState::Value &numbers, V &x) {
  const auto *all = std::get_if<std::vector<typename V::Scalar>>(&numbers);
  if (all == nullptr || static_cast<Index>(all->size()) != x.size()) {
    throw InvalidInput("a vector of the saved state is of another length or type");
  }
  x = Eigen::Map<const V>(all->data(), x.size());
}

template <class T, class Archive>
concept Archived = requires(T &object, Archive &members) {
  object.archive(members);
};

class StateWriter {
public:
  explicit StateWriter(SavedState &to, std::string prefix = {}) : to_(&to), prefix_(std::move(prefix)) {}

  template <class T> void operator()(std::string_view name, T &member) {
    const std::string full = prefix_ + std::string(name);
    if constexpr (Archived<T, StateWriter>) {
      StateWriter within(*to_, full + ".");
      member.archive(within);
    } else if constexpr (std::integral<T>) {
      to_->put(full, SavedState::Integers{static_cast<std::int64_t>(member)});
    } else if constexpr (std::floating_point<T>) {
      to_->put(full, SavedState::Doubles{static_cast<double>(member)});
    } else if constexpr (std::same_as<T, std::mt19937_64>) {
      std::ostringstream text;
      text << member;
      to_->put(full, text.str());
    } else {
      to_->put(full, numbers_of(member));
    }
  }
  template <class T> void operator()(std::string_view name, std::optional<T> &member) {
    if (member) {
      (*this)(name, *member);
    }
  }
  template <class T> void operator()(std::string_view name, std::vector<T> &members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      (*this)(std::string(name) + " " + std::to_string(i), members[i]);
    }
  }
  /// Plain numbers, as many as there are.
  template <class T> void operator()(std::string_view name, std::span<T> numbers) {
    to_->put(prefix_ + std::string(name), std::vector<std::remove_const_t<T>>(numbers.begin(), numbers.end()));
  }

private:
  SavedState *to_;
  std::string prefix_;
};

/// Throws InvalidInput, with the name, where the saved state has no such member or it does not fit.
class StateReader {
public:
  explicit StateReader(const SavedState &from, std::string prefix = {}) : from_(&from), prefix_(std::move(prefix)) {}

  template <class T> void operator()(std::string_view name, T &member) {
    const std::string full = prefix_ + std::string(name);
    if constexpr (Archived<T, StateReader>) {
      StateReader within(*from_, full + ".");
      member.archive(within);
    } else if constexpr (std::integral<T>) {
      member = static_cast<T>(from_->first<SavedState::Integers>(full));
    } else if constexpr (std::floating_point<T>) {
      member = static_cast<T>(from_->first<SavedState::Doubles>(full));
    } else if constexpr (std::same_as<T, std::mt19937_64>) {
      std::istringstream text(from_->get<std::string>(full));
      text >> member;
      if (!text) {
        throw InvalidInput("'" + full + "' of the saved state is no generator");
      }
    } else {
      fit(full, [&] { set_numbers(from_->value(full), member); });
    }
  }
  template <class T> void operator()(std::string_view name, std::optional<T> &member) {
    if (member) {
      (*this)(name, *member);
    }
  }
  template <class T> void operator()(std::string_view name, std::vector<T> &members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      (*this)(std::string(name) + " " + std::to_string(i), members[i]);
    }
  }
  template <class T> void operator()(std::string_view name, std::span<T> numbers) {
    const std::string full = prefix_ + std::string(name);
    const auto &all = from_->get<std::vector<T>>(full);
    if (all.size() != numbers.size()) {
      throw InvalidInput("'" + full + "' of the saved state has " + std::to_string(all.size()) + " numbers, expected " +
                         std::to_string(numbers.size()));
    }
    std::copy(all.begin(), all.end(), numbers.begin());
  }

private:
  template <class Work> static void fit(const std::string &name, const Work &work) {
    try {
      work();
    } catch (const InvalidInput &error) {
      throw InvalidInput("'" + name + "': " + error.what());
    }
  }

  const SavedState *from_;
  std::string prefix_;
};

} // namespace duplex
