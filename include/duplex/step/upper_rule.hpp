#pragma once
// How the upper variable follows a direction: gradient, momentum, Adam, or the gradient in
// units of its own largest size so far, and then to the nearest point within the bounds of x, where there are any.
// Every solver updates x through this.

#include <duplex/core/fields.hpp>
#include <duplex/space/box.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace duplex {

enum class UpperMethod : std::uint8_t { gradient, momentum, adam, normalized };

constexpr std::array<std::string_view, 4> upper_method_names{"gradient", "momentum", "adam", "normalized"};
constexpr const auto &names_of(UpperMethod /*unused*/) { return upper_method_names; }

struct UpperRule {
  UpperMethod method = UpperMethod::gradient;
  double momentum = 0.9;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("upper", self.method, any_number, "how x follows the direction d");
    visit("momentum", self.momentum, below_one, "weight of the previous move (upper = momentum)");
    visit("adam-beta1", self.adam_beta1, below_one, "decay of Adam's first moment");
    visit("adam-beta2", self.adam_beta2, below_one, "decay of Adam's second moment");
    visit("adam-epsilon", self.adam_epsilon, finite_positive, "Adam's guard against division by zero");
  }

  /// Throws InvalidInput where an option was changed that this method has no use for.
  void refuse_what_is_ignored(std::string_view owner) const;
};

/// Throws InvalidInput: `field` counts only beside `expected`.
[[noreturn]] void refuse_ignored(std::string_view owner, std::string_view field, double value,
                                 std::string_view expected);

/// The constant steps of a method that has them, for its own fields().
template <class Self, class Visit> void visit_step_fields(Self &self, Visit &&visit) {
  visit("alpha", self.alpha, finite_positive, "upper step size", Role::upper_step);
  visit("beta", self.beta, finite_positive, "lower step size", Role::lower_step);
}

/// m ← β₁m + (1−β₁)d, s ← β₂s + (1−β₂)d∘d, x ← x − α m̂ / (√ŝ + ε)
/// (Kingma and Ba, 2015). Another backend overloads it for its own vectors.
template <class D, class M, class X>
void adam_update(const UpperRule &rule, double alpha, std::int64_t step, const Eigen::MatrixBase<D> &d,
                 Eigen::MatrixBase<M> &first, Eigen::MatrixBase<M> &second, Eigen::MatrixBase<X> &x) {
  using Scalar = typename D::Scalar;
  const auto beta1 = static_cast<Scalar>(rule.adam_beta1);
  const auto beta2 = static_cast<Scalar>(rule.adam_beta2);
  const auto t = static_cast<double>(step);
  const auto correction1 = static_cast<Scalar>(1.0 - std::pow(rule.adam_beta1, t));
  const auto correction2 = static_cast<Scalar>(1.0 - std::pow(rule.adam_beta2, t));
  first = beta1 * first + (Scalar(1) - beta1) * d;
  second = beta2 * second + (Scalar(1) - beta2) * d.cwiseAbs2();
  x.derived().array() -= static_cast<Scalar>(alpha) * (first.array() / correction1) /
                         ((second.array() / correction2).sqrt() + static_cast<Scalar>(rule.adam_epsilon));
}

/// The rule with the vectors that it keeps between steps.
template <VectorSpace V> class UpperUpdate {
public:
  /// x stays in the box.
  UpperUpdate(const UpperRule &rule, const V &x, Box<V> box = {})
      : rule_(rule), box_(std::move(box)), entries_root_(std::sqrt(static_cast<double>(size(x)))) {
    if (rule.method == UpperMethod::momentum || rule.method == UpperMethod::adam) {
      first_ = zeros_like(x);
    }
    if (rule.method == UpperMethod::adam) {
      second_ = zeros_like(x);
    }
  }

  void apply(double alpha, const V &d, V &x) {
    begin();
    switch (rule_.method) {
    case UpperMethod::gradient:
    case UpperMethod::normalized:
      axpy(-alpha * unit(), d, x);
      break;
    case UpperMethod::momentum: // m ← γm + d, x ← x − αm
      scale(rule_.momentum, first_);
      axpy(1.0, d, first_);
      axpy(-alpha, first_, x);
      break;
    case UpperMethod::adam:
      adam_update(rule_, alpha, step_, d, first_, second_, x);
      break;
    }
    box_.project(x);
  }

  /// The same in pieces, by a step that holds some entries of d and x in cache: begin() once, then
  /// every entry once. Pieces that do not overlap may be moved by several threads.
  void begin() { ++step_; }
  void move(double alpha, const V &d, V &x, Index entry, Index count) requires EigenVector<V> {
    auto moved = x.segment(entry, count);
    const auto direction = d.segment(entry, count);
    const auto step = static_cast<typename V::Scalar>(alpha * unit());
    switch (rule_.method) {
    case UpperMethod::gradient:
    case UpperMethod::normalized:
      moved -= step * direction;
      break;
    case UpperMethod::momentum: {
      auto first = first_.segment(entry, count);
      first = static_cast<typename V::Scalar>(rule_.momentum) * first + direction;
      moved -= step * first;
      break;
    }
    case UpperMethod::adam: {
      auto first = first_.segment(entry, count);
      auto second = second_.segment(entry, count);
      adam_update(rule_, alpha, step_, direction, first, second, moved);
      break;
    }
    }
    box_.project(x, entry, count);
  }

  /// Where x may be. A method that moves x without this rule keeps it there.
  [[nodiscard]] const Box<V> &box() const { return box_; }

  template <class Archive> void archive(Archive &members) {
    members("first", first_);
    members("second", second_);
    members("step", step_);
    members("largest norm", largest_norm_);
    members("bounds", box_);
  }

  /// Whether the rule has to be told of every ‖d‖, and is told of one after x has followed d.
  [[nodiscard]] bool reads_norms() const { return rule_.method == UpperMethod::normalized; }
  void learn(double direction_norm) { largest_norm_ = std::max(largest_norm_, direction_norm); }

private:
  /// normalized: x ← x − α d / max_j rms(d_j) over the steps before this one, so that the first leaves x alone.
  [[nodiscard]] double unit() const {
    if (rule_.method != UpperMethod::normalized) {
      return 1.0;
    }
    return largest_norm_ > 0.0 ? entries_root_ / largest_norm_ : 0.0;
  }

  UpperRule rule_;
  Box<V> box_;
  double entries_root_ = 1.0; ///< √n
  double largest_norm_ = 0.0;
  V first_;
  V second_;
  std::int64_t step_ = 0;
};

} // namespace duplex
