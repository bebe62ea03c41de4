#pragma once
// Bounds on the entries of a vector: the box of all x with lower ≤ x ≤ upper, entry by entry. Where x is at a bound,
// and a step along −d would leave the box there, that entry of d is not free: x stays, whatever d says of it. The rest
// of d is its free part, and x is stationary where that vanishes.

#include <duplex/core/error.hpp>
#include <duplex/space/archive.hpp>
#include <duplex/space/space.hpp>

#include <concepts>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace duplex {

// What a vector must do to have bounds, and Eigen's way of doing it. Another backend overloads these for its own.

/// Every entry = value.
template <EigenVector V> void fill(double value, V &x) { x.setConstant(static_cast<typename V::Scalar>(value)); }

/// The nearest x in the box. A NaN stays one.
template <class L, class U, class X>
void clip(const Eigen::MatrixBase<L> &lower, const Eigen::MatrixBase<U> &upper, Eigen::MatrixBase<X> &x) {
  x = (x.array() < lower.array()).select(lower, x);
  x = (x.array() > upper.array()).select(upper, x);
}

/// Zero in the place of those entries of d along which −d leaves the box at x.
template <EigenVector V> void drop_outward(const V &lower, const V &upper, const V &x, V &d) {
  using Scalar = typename V::Scalar;
  d = ((x.array() <= lower.array() && d.array() > Scalar(0)) || (x.array() >= upper.array() && d.array() < Scalar(0)))
          .select(V::Zero(d.size()), d);
}

template <class V>
concept BoundedSpace = VectorSpace<V> && requires(const V &bound, V &x) {
  fill(0.5, x);
  clip(bound, bound, x);
  drop_outward(bound, bound, bound, x);
};

namespace detail {

using Entries = SavedState::Value;

/// Throws InvalidInput, with the entry, where bounds are not numbers or a lower one is above its upper one.
void require_bounds(const Entries &lower, const Entries &upper);
[[nodiscard]] bool has_finite_entry(const Entries &bound);
/// Which entry of x is not between its bounds, with what was expected; empty where all are.
[[nodiscard]] std::string outside_text(const Entries &lower, const Entries &upper, const Entries &x);
/// How many entries of x are at one of their bounds.
[[nodiscard]] Index entries_at_bounds(const Entries &lower, const Entries &upper, const Entries &x);
/// Whether each entry of x is at a bound that d points out of by more than `margin`, or at both.
[[nodiscard]] bool all_outward(const Entries &lower, const Entries &upper, const Entries &x, const Entries &d,
                               double margin);
/// The direction, but zero where x has less room than `reach` to one of its bounds.
[[nodiscard]] Entries with_room(const Entries &lower, const Entries &upper, const Entries &x, double reach,
                                Entries direction);
/// The direction where x has less room than `reach` to one of its bounds, away from that bound; zero elsewhere, and
/// where there is no room to the other one either.
[[nodiscard]] Entries turned_inward(const Entries &lower, const Entries &upper, const Entries &x, double reach,
                                    Entries direction);

} // namespace detail

/// Copies share the bounds. A box without bounds costs a branch.
template <VectorSpace V> class Box {
public:
  Box() = default;

  /// An empty vector stands for no bound on that side. Throws InvalidInput where sizes differ from `expected`, an entry
  /// is NaN, or a lower bound is above its upper one; they may be equal, which fixes an entry.
  Box(V lower, V upper, Index expected) requires BoundedSpace<V> {
    require_size("lower", size(lower), expected);
    require_size("upper", size(upper), expected);
    if (size(lower) == 0 && size(upper) == 0) {
      return;
    }
    if (size(lower) == 0) {
      lower = zeros_like(upper);
      fill(-infinite, lower);
    }
    if (size(upper) == 0) {
      upper = zeros_like(lower);
      fill(infinite, upper);
    }
    detail::require_bounds(numbers_of(lower), numbers_of(upper));
    if (detail::has_finite_entry(numbers_of(lower)) || detail::has_finite_entry(numbers_of(upper))) {
      sides_ = std::make_shared<const Sides>(Sides{std::move(lower), std::move(upper)});
    }
  }

  /// Whether there are bounds at all.
  [[nodiscard]] bool exists() const { return sides_ != nullptr; }
  /// Where exists().
  [[nodiscard]] const V &lower() const { return sides_->lower; }
  [[nodiscard]] const V &upper() const { return sides_->upper; }

  /// What is in both boxes. Throws InvalidInput, with the entry, where nothing is.
  [[nodiscard]] Box within(const Box &other) const requires BoundedSpace<V> {
    if (!exists() || !other.exists()) {
      return exists() ? *this : other;
    }
    V low = lower(); // the larger of the two lower bounds
    V high = upper();
    V unbounded = zeros_like(low);
    fill(infinite, unbounded);
    clip(other.lower(), unbounded, low);
    fill(-infinite, unbounded);
    clip(unbounded, other.upper(), high);
    return Box(std::move(low), std::move(high), size(unbounded));
  }

  /// Moves x to the nearest point of the box.
  void project(V &x) const {
    if constexpr (BoundedSpace<V>) {
      if (sides_) {
        clip(sides_->lower, sides_->upper, x);
      }
    }
  }
  /// The same of some entries only.
  void project(V &x, Index entry, Index count) const requires EigenVector<V> {
    if (sides_) {
      auto part = x.segment(entry, count);
      clip(sides_->lower.segment(entry, count), sides_->upper.segment(entry, count), part);
    }
  }

  /// Leaves of d its free part at x.
  void keep_free(const V &x, V &d) const {
    if constexpr (BoundedSpace<V>) {
      if (sides_) {
        drop_outward(sides_->lower, sides_->upper, x, d);
      }
    }
  }
  /// out = the free part of d at x.
  void free_part(const V &x, const V &d, V &out) const {
    assign(d, out);
    keep_free(x, out);
  }
  /// The norm of the free part of d at x, with the caller's scratch vector, which is left alone where there are no
  /// bounds.
  [[nodiscard]] double free_norm(const V &x, const V &d, V &scratch) const {
    if (!sides_) {
      return norm(d);
    }
    free_part(x, d, scratch);
    return norm(scratch);
  }

  /// Which entry of x is outside, and what was expected; empty where x is in the box.
  [[nodiscard]] std::string outside_text(const V &x) const {
    return sides_ ? detail::outside_text(numbers_of(lower()), numbers_of(upper()), numbers_of(x)) : std::string{};
  }
  [[nodiscard]] bool holds(const V &x) const { return outside_text(x).empty(); }
  /// How many entries of x are at one of their bounds.
  [[nodiscard]] Index entries_at_bounds(const V &x) const {
    return sides_ ? detail::entries_at_bounds(numbers_of(lower()), numbers_of(upper()), numbers_of(x)) : 0;
  }

  /// Whether the free part at x is zero for every d that differs from this one by at most `margin` in each entry.
  [[nodiscard]] bool leaves_nothing_free(const V &x, const V &d, double margin) const {
    return sides_ &&
           detail::all_outward(numbers_of(lower()), numbers_of(upper()), numbers_of(x), numbers_of(d), margin);
  }

  // Moves that stay inside, for differences; `direction` is of length one at most.

  /// Leaves of a direction what x may follow by `reach` to both sides.
  void keep_room(const V &x, double reach, V &direction) const {
    if (sides_) {
      set_numbers(
          detail::with_room(numbers_of(lower()), numbers_of(upper()), numbers_of(x), reach, numbers_of(direction)),
          direction);
    }
  }
  /// Leaves of a direction what the other one drops, turned so that x may follow it by `reach` to one side.
  void turn_inward(const V &x, double reach, V &direction) const {
    if (sides_) {
      set_numbers(
          detail::turned_inward(numbers_of(lower()), numbers_of(upper()), numbers_of(x), reach, numbers_of(direction)),
          direction);
    } else {
      set_zero(direction);
    }
  }

  /// Bounds do not change while a run goes on. Throws InvalidInput where those that were saved are others.
  template <class Archive> void archive(Archive &members) {
    constexpr bool reads = !std::same_as<Archive, StateWriter>;
    if (reads && members.offers("lower") != exists()) {
      throw InvalidInput(exists() ? "the saved run has no bounds on x, and this one has"
                                  : "the saved run has bounds on x, and this one has none");
    }
    if (exists()) {
      V low = lower();
      V high = upper();
      members("lower", low);
      members("upper", high);
      if (numbers_of(low) != numbers_of(lower()) || numbers_of(high) != numbers_of(upper())) {
        throw InvalidInput("the saved run has other bounds on x");
      }
    }
  }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  struct Sides {
    V lower;
    V upper;
  };

  static void require_size(const char *side, Index found, Index expected) {
    if (found != 0 && found != expected) {
      throw InvalidInput("bounds: the " + std::string(side) + " bound of x has " + std::to_string(found) +
                         " entries, expected " + std::to_string(expected));
    }
  }

  std::shared_ptr<const Sides> sides_; ///< null: no bounds
};

} // namespace duplex
