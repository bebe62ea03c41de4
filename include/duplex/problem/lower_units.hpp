#pragma once
// A problem with y in units of its own, y = Sŷ with S = diag(y_scale()): f̂(x, ŷ) = f(x, Sŷ) and the same of F. Its φ
// and ∇φ are those of the problem, its ∇²ŷŷ f̂ = S ∇²yy f S has the condition that is left where the entries of y are
// alike, and its multiplier is v̂ = S⁻¹v. S holds powers of two (offered.hpp), so that nothing is rounded on the way.

#include <duplex/core/error.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/space/archive.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace duplex {

/// An evaluation of a level of such a problem. `Level` is AnyLower<V> or AnyUpper<V>.
template <class Level, EigenVector V> class LevelInUnits {
public:
  LevelInUnits(Level level, std::shared_ptr<const V> units)
      : level_(std::move(level)), units_(std::move(units)), y_(std::make_unique<V>(*units_)), in_(*units_) {}

  void at(const V &x, const V &y) {
    *y_ = units_->cwiseProduct(y);
    level_.at(x, *y_);
  }
  [[nodiscard]] double value() { return level_.value(); }
  void grad_x(V &out) requires requires(Level level) { level.grad_x(out); }
  { level_.grad_x(out); }
  void grad_y(V &out) {
    level_.grad_y(out);
    out.array() *= units_->array();
  }
  void hess_yy(const V &v, V &out) {
    in_ = units_->cwiseProduct(v);
    level_.hess_yy(in_, out);
    out.array() *= units_->array();
  }
  void cross_xy(const V &v, V &out) {
    in_ = units_->cwiseProduct(v);
    level_.cross_xy(in_, out);
  }
  [[nodiscard]] OfferedInverse offered_inverse() const { return level_.offered_inverse(); }
  void apply_offered_inverse(const V &v, V &out) {
    in_ = v.cwiseQuotient(*units_);
    level_.apply_offered_inverse(in_, out);
    out.array() /= units_->array();
  }

private:
  Level level_;
  std::shared_ptr<const V> units_;
  std::unique_ptr<V> y_; ///< where the level stands, which borrows it also when this is moved
  V in_;
};

/// Of vectors that are not Eigen's: they have no units.
template <class V> class LowerUnits {
public:
  explicit LowerUnits(const ProblemView<V> &problem) : view_(problem) {}
  [[nodiscard]] const ProblemView<V> &view() const { return view_; }
  void enter(V & /*y*/) const {}
  [[nodiscard]] State<V> entered(State<V> state) const { return state; }
  void leave(State<V> & /*state*/) const {}
  template <class Archive> void archive(Archive & /*members*/) {}

private:
  ProblemView<V> view_;
};

/// The units of a problem's y, and the problem in them; the problem itself where it does not say any.
template <EigenVector V> class LowerUnits<V> {
  struct InUnits {
    using Vector = V;
    [[nodiscard]] auto lower() const { return LevelInUnits<AnyLower<V>, V>(problem.lower(), units); }
    [[nodiscard]] auto upper() const { return LevelInUnits<AnyUpper<V>, V>(problem.upper(), units); }
    [[nodiscard]] Index x_size() const { return problem.x_size(); }
    [[nodiscard]] Index y_size() const { return problem.y_size(); }
    [[nodiscard]] bool offers_aggregation() const { return problem.offers_aggregation(); }
    [[nodiscard]] Box<V> box() const { return problem.box(); }
    [[nodiscard]] V x_scale() const { return problem.x_scale(); }
    ProblemView<V> problem;
    std::shared_ptr<const V> units;
  };

public:
  explicit LowerUnits(const ProblemView<V> &problem) : view_(problem) {
    if (V scale = problem.y_scale(); scale.size() > 0) {
      units_ = std::make_shared<const V>(units_of(std::move(scale)));
      in_units_ = std::make_shared<const InUnits>(InUnits{problem, units_});
      view_ = ProblemView<V>(*in_units_);
    }
  }

  /// The problem in these units. It lives as long as this.
  [[nodiscard]] const ProblemView<V> &view() const { return view_; }
  /// y ← S⁻¹y, of y and of v alike: v is what y moves by.
  void enter(V &y) const {
    if (units_ && y.size() == units_->size()) {
      y.array() /= units_->array();
    }
  }
  [[nodiscard]] State<V> entered(State<V> state) const {
    enter(state.y);
    enter(state.v);
    return state;
  }
  /// y ← Sy, and v alike.
  void leave(State<V> &state) const {
    for (V *vector : {&state.y, &state.v}) {
      if (units_ && vector->size() == units_->size()) {
        vector->array() *= units_->array();
      }
    }
  }

  /// What is saved of a run is in these units. Throws InvalidInput where those that were saved are others.
  template <class Archive> void archive(Archive &members) {
    constexpr bool reads = !std::same_as<Archive, StateWriter>;
    if (reads && members.offers("scale") != (units_ != nullptr)) {
      throw InvalidInput(
          units_ ? "the saved run has no scale of y, or an earlier version has saved none, and this one has one"
                 : "the saved run has a scale of y, and this one has none");
    }
    if (units_) {
      V saved = *units_;
      members("scale", saved);
      if (numbers_of(saved) != numbers_of(*units_)) {
        throw InvalidInput("the saved run has another scale of y");
      }
    }
  }

private:
  std::shared_ptr<const V> units_;          ///< S; null where the problem has none
  std::shared_ptr<const InUnits> in_units_; ///< which the view looks at
  ProblemView<V> view_;
};

} // namespace duplex
