#pragma once
// How the upper variable follows a direction: gradient, momentum or Adam. Every
// solver updates x through this.

#include <duplex/fields.hpp>
#include <duplex/space.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace duplex {

enum class UpperMethod : std::uint8_t { gradient, momentum, adam };

constexpr std::array<std::string_view, 3> upper_method_names{"gradient", "momentum", "adam"};
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
};

/// The constant steps of a method that has them, for its own fields().
template <class Self, class Visit> void visit_step_fields(Self &self, Visit &&visit) {
  visit("alpha", self.alpha, finite_positive, "upper step size");
  visit("beta", self.beta, finite_positive, "lower step size");
}

/// m ← β₁m + (1−β₁)d, s ← β₂s + (1−β₂)d∘d, x ← x − α m̂ / (√ŝ + ε)
/// (Kingma and Ba, 2015). Another backend overloads it for its own vectors.
template <EigenVector V>
void adam_update(const UpperRule &rule, double alpha, std::int64_t step, const V &d, V &first, V &second, V &x) {
  using Scalar = typename V::Scalar;
  const auto beta1 = static_cast<Scalar>(rule.adam_beta1);
  const auto beta2 = static_cast<Scalar>(rule.adam_beta2);
  const auto t = static_cast<double>(step);
  const auto correction1 = static_cast<Scalar>(1.0 - std::pow(rule.adam_beta1, t));
  const auto correction2 = static_cast<Scalar>(1.0 - std::pow(rule.adam_beta2, t));
  first = beta1 * first + (Scalar(1) - beta1) * d;
  second = beta2 * second + (Scalar(1) - beta2) * d.cwiseAbs2();
  x.array() -= static_cast<Scalar>(alpha) * (first.array() / correction1) /
               ((second.array() / correction2).sqrt() + static_cast<Scalar>(rule.adam_epsilon));
}

/// The rule with the vectors that it keeps between steps.
template <VectorSpace V> class UpperUpdate {
public:
  UpperUpdate(const UpperRule &rule, const V &x) : rule_(rule) {
    if (rule.method != UpperMethod::gradient) {
      first_ = zeros_like(x);
    }
    if (rule.method == UpperMethod::adam) {
      second_ = zeros_like(x);
    }
  }

  void apply(double alpha, const V &d, V &x) {
    switch (rule_.method) {
    case UpperMethod::gradient:
      axpy(-alpha, d, x);
      break;
    case UpperMethod::momentum: // m ← γm + d, x ← x − αm
      scale(rule_.momentum, first_);
      axpy(1.0, d, first_);
      axpy(-alpha, first_, x);
      break;
    case UpperMethod::adam:
      adam_update(rule_, alpha, ++step_, d, first_, second_, x);
      break;
    }
  }

private:
  UpperRule rule_;
  V first_;
  V second_;
  std::int64_t step_ = 0;
};

} // namespace duplex
