#pragma once
// A problem as check() sees it: plain functions of lists of numbers, so that what compares them with differences is
// compiled once for every problem and every kind of vector.

#include <duplex/measure/exact.hpp>
#include <duplex/problem/problem.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace duplex::detail {

using Numbers = std::vector<double>;

/// What a level offers; a function that it does not offer is empty. Outputs are filled with `fill` before the call and
/// are returned as they are left, whatever their size.
struct CheckedLevel {
  std::function<void(const Numbers &x, const Numbers &y)> at;
  std::function<double()> value;
  std::function<Numbers(double fill)> grad_x;
  std::function<Numbers(double fill)> grad_y;
  std::function<Numbers(const Numbers &v, double fill)> hess_yy;
  std::function<Numbers(const Numbers &v, double fill)> cross_xy;
  std::function<Numbers(const Numbers &v, double fill)> precondition;
  std::function<Numbers(const Numbers &b, double fill)> solve_lower;
};

struct CheckedPhi {
  Numbers slope; ///< ∇φ(x)
  double value;  ///< φ(x)
};

struct CheckedProblem {
  CheckedLevel lower;
  CheckedLevel upper;
  std::function<CheckedPhi(const Numbers &x, const Numbers &y)> phi; ///< throws NotAvailable
  Numbers x;                                                         ///< of the start
  Numbers y;
  Numbers lower_bound; ///< of x; empty where there are no bounds
  Numbers upper_bound;
  double precision; ///< of the numbers that a vector holds
};

template <VectorSpace V> [[nodiscard]] Numbers entries_of(const V &vector) {
  return std::visit(
      [](const auto &all) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(all)>, std::string>) {
          return Numbers();
        } else {
          return Numbers(all.begin(), all.end());
        }
      },
      numbers_of(vector));
}

template <VectorSpace V> void set_entries(const Numbers &entries, V &vector) {
  auto numbers = numbers_of(vector);
  std::visit(
      [&](auto &all) {
        using All = std::remove_cvref_t<decltype(all)>;
        if constexpr (!std::is_same_v<All, std::string>) {
          for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = static_cast<typename All::value_type>(entries[i]);
          }
        }
      },
      numbers);
  set_numbers(numbers, vector);
}

/// An evaluation with the point that it borrows.
template <class E, VectorSpace V> struct PlacedLevel {
  PlacedLevel(E made, const State<V> &start) : evaluation(std::move(made)), x(start.x), y(start.y), v(start.y) {}

  /// out, of the size of `like`, after write(out).
  template <class Write> [[nodiscard]] static Numbers written(const V &like, double fill_with, const Write &write) {
    V out = zeros_like(like);
    if (fill_with != 0.0) {
      scale(fill_with, out); // 0 · NaN
    }
    write(out);
    return entries_of(out);
  }

  E evaluation;
  V x;
  V y;
  V v;
};

template <class E, VectorSpace V> [[nodiscard]] CheckedLevel checked_level(E evaluation, const State<V> &start) {
  auto level = std::make_shared<PlacedLevel<E, V>>(std::move(evaluation), start);
  CheckedLevel out;
  out.at = [level](const Numbers &x, const Numbers &y) {
    set_entries(x, level->x);
    set_entries(y, level->y);
    level->evaluation.at(level->x, level->y);
  };
  out.value = [level] { return static_cast<double>(level->evaluation.value()); };
  out.grad_y = [level](double fill_with) {
    return level->written(level->y, fill_with, [&](V &to) { level->evaluation.grad_y(to); });
  };
  if constexpr (OffersGradX<E, V>) {
    out.grad_x = [level](double fill_with) {
      return level->written(level->x, fill_with, [&](V &to) { level->evaluation.grad_x(to); });
    };
  }
  if constexpr (OffersSecondOrder<E, V>) {
    out.hess_yy = [level](const Numbers &v, double fill_with) {
      set_entries(v, level->v);
      return level->written(level->y, fill_with, [&](V &to) { level->evaluation.hess_yy(level->v, to); });
    };
    out.cross_xy = [level](const Numbers &v, double fill_with) {
      set_entries(v, level->v);
      return level->written(level->x, fill_with, [&](V &to) { level->evaluation.cross_xy(level->v, to); });
    };
  }
  const auto inverse = [level](const Numbers &v, double fill_with) {
    set_entries(v, level->v);
    return level->written(level->y, fill_with, [&](V &to) { apply_offered_inverse(level->evaluation, level->v, to); });
  };
  switch (offered_inverse<V>(level->evaluation)) {
  case OfferedInverse::exact:
    out.solve_lower = inverse;
    break;
  case OfferedInverse::approximate:
    out.precondition = inverse;
    break;
  case OfferedInverse::none:
    break;
  }
  return out;
}

/// The problem must outlive what is returned.
template <FirstOrderProblem P>
[[nodiscard]] CheckedProblem checked_problem(const P &problem, const State<VectorOf<P>> &start) {
  using V = VectorOf<P>;
  CheckedProblem out{.lower = checked_level(problem.lower(), start),
                     .upper = checked_level(problem.upper(), start),
                     .phi = {},
                     .x = entries_of(start.x),
                     .y = entries_of(start.y),
                     .lower_bound = {},
                     .upper_bound = {},
                     .precision = precision(start.x)};
  if (!offers_lower_grad_x(problem)) {
    out.lower.grad_x = nullptr;
  }
  if (!offers_aggregation(problem)) {
    out.upper.hess_yy = nullptr;
    out.upper.cross_xy = nullptr;
  }
  if constexpr (SecondOrderProblem<P>) {
    auto exact = std::make_shared<ExactSolver<P>>(problem);
    auto point = std::make_shared<State<V>>(start);
    out.phi = [exact, point](const Numbers &x, const Numbers &y) {
      set_entries(x, point->x);
      set_entries(y, point->y);
      const auto &found = exact->at(point->x, point->y);
      return CheckedPhi{.slope = entries_of(found.hypergradient), .value = found.value};
    };
  }
  if (const auto box = box_of(problem); box.exists()) {
    out.lower_bound = entries_of(box.lower());
    out.upper_bound = entries_of(box.upper());
  }
  return out;
}

} // namespace duplex::detail
