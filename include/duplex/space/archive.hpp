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
//
// A saved state may come from anywhere, so that what is read is checked: lengths, types and the range of whole numbers.
// Those with a sign are counts: from 0 to a quarter of what their type holds, so that a run that counts on from there
// does not overflow. Others are refused when they are written; a sign or a code that may be negative goes as a double.

#include <duplex/core/conversion.hpp>
#include <duplex/core/saved_state.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
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

/// How members lie within one another, for writing and reading alike: Derived has plain(name, member) for what has no
/// members of its own.
template <class Derived, class State> class MemberWalk {
public:
  explicit MemberWalk(State &state, std::string prefix = {}) : state_(&state), prefix_(std::move(prefix)) {}

  template <class T> void operator()(std::string_view name, T &member) {
    const std::string full = prefix_ + std::string(name);
    if constexpr (Archived<T, Derived>) {
      Derived within(*state_, full + ".");
      member.archive(within);
    } else {
      static_cast<Derived &>(*this).plain(full, member);
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
  /// As many members as there were when they were written, at most `most`; make() gives one to read into.
  template <class T, class Make>
  void resized(std::string_view name, std::vector<T> &members, std::size_t most, const Make &make) {
    auto count = static_cast<std::int64_t>(members.size());
    (*this)(std::string(name) + " count", count);
    if (count < 0 || count > static_cast<std::int64_t>(most)) {
      throw InvalidInput("'" + prefix_ + std::string(name) + "' of the saved state has " + std::to_string(count) +
                         " members, expected at most " + std::to_string(most));
    }
    const auto size = static_cast<std::size_t>(count);
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(std::min(size, members.size())), members.end());
    while (members.size() < size) {
      members.push_back(make());
    }
    (*this)(name, members);
  }
  /// Plain numbers, as many as there are.
  template <class T> void operator()(std::string_view name, std::span<T> numbers) {
    static_cast<Derived &>(*this).plain(prefix_ + std::string(name), numbers);
  }

protected:
  [[nodiscard]] State &state() const { return *state_; }
  [[nodiscard]] std::string full_name(std::string_view name) const { return prefix_ + std::string(name); }
  /// For messages.
  [[nodiscard]] static std::string text_for(const std::string &name) { return "'" + name + "' of the saved state"; }

private:
  State *state_;
  std::string prefix_;
};

class StateWriter : public MemberWalk<StateWriter, SavedState> {
public:
  using MemberWalk::MemberWalk;

  [[nodiscard]] static bool offers(std::string_view /*name*/) { return true; }

  template <class T> void plain(const std::string &name, T &member) {
    if constexpr (std::integral<T>) {
      const auto kept = static_cast<std::int64_t>(member);
      (void)saved_integer<T>(kept, text_for(name));
      put_integer(name, kept);
    } else if constexpr (std::floating_point<T>) {
      put_number(name, static_cast<double>(member));
    } else if constexpr (std::same_as<T, std::mt19937_64>) {
      put_generator(name, member);
    } else {
      put(name, numbers_of(member));
    }
  }
  template <class T> void plain(const std::string &name, std::span<T> numbers) {
    put(name, std::vector<std::remove_const_t<T>>(numbers.begin(), numbers.end()));
  }

private:
  void put(const std::string &name, SavedState::Value value);
  void put_integer(const std::string &name, std::int64_t value);
  void put_number(const std::string &name, double value);
  void put_generator(const std::string &name, const std::mt19937_64 &generator);
};

/// Throws InvalidInput, with the name, where the saved state has no such member or it does not fit.
class StateReader : public MemberWalk<StateReader, const SavedState> {
public:
  using MemberWalk::MemberWalk;

  /// Whether a plain member of that name was written.
  [[nodiscard]] bool offers(std::string_view name) const { return state().has(full_name(name)); }

  template <class T> void plain(const std::string &name, T &member) {
    if constexpr (std::integral<T>) {
      member = saved_integer<T>(integer(name), text_for(name));
    } else if constexpr (std::floating_point<T>) {
      member = static_cast<T>(number(name, static_cast<double>(std::numeric_limits<T>::max())));
    } else if constexpr (std::same_as<T, std::mt19937_64>) {
      read_generator(name, member);
    } else {
      try {
        set_numbers(state().value(name), member);
      } catch (const InvalidInput &error) {
        throw InvalidInput("'" + name + "': " + error.what());
      }
    }
  }
  template <class T> void plain(const std::string &name, std::span<T> numbers) {
    const auto &all = state().template get<std::vector<T>>(name);
    if (all.size() != numbers.size()) {
      throw InvalidInput("'" + name + "' of the saved state has " + std::to_string(all.size()) + " numbers, expected " +
                         std::to_string(numbers.size()));
    }
    std::copy(all.begin(), all.end(), numbers.begin());
  }

private:
  [[nodiscard]] std::int64_t integer(const std::string &name) const;
  /// Finite ones are at most `most` in size.
  [[nodiscard]] double number(const std::string &name, double most) const;
  void read_generator(const std::string &name, std::mt19937_64 &generator) const;
};

} // namespace duplex
