#pragma once
// How the multiplier v of a single-loop method moves along the residual r = ∇yF − ∇²yyψ·v, by one of the rules of
// DualStep (step_sizes.hpp).

#include <duplex/numerics/anderson.hpp>
#include <duplex/space/space.hpp>
#include <duplex/step/step_sizes.hpp>

#include <algorithm>

namespace duplex {

/// The options of the rule, for a method's own fields().
template <class Self, class Visit> void visit_multiplier_fields(Self &self, Visit &&visit) {
  const bool searches = self.dual != DualStep::constant;
  visit("eta", self.eta, finite_positive, "multiplier step size where dual = constant (theorem: factor of mu^4)",
        Role::multiplier_step);
  visit("dual", self.dual, any_number, "how the multiplier's step is chosen");
  visit("relaxation", self.relaxation, Bound{.low = 0.0, .high = 2.0, .low_open = true, .high_open = true},
        "factor on the line search where dual = relaxed");
  visit("eta-cap", self.eta_cap, positive, "largest step that a line search may take",
        searches ? Role::multiplier_cap : Role::none);
}

/// How y and v move, for a fused step, which does a whole step in one pass over the data.
template <class V> struct FusedRules {
  DualStep dual = DualStep::constant;
  double relaxation = 1.0; ///< factor on the line search
  LineSearch *search = nullptr;
  AndersonMixing<V> *y_mixing = nullptr; ///< for y and v, or for neither
  AndersonMixing<V> *v_mixing = nullptr;
};

template <VectorSpace V> class MultiplierRule {
public:
  /// `options` are a method's, with the fields above and `mixing`, the pairs of Anderson mixing.
  template <class Options>
  MultiplierRule(const Options &options, const V &v)
      : dual_(options.dual), factor_(options.dual == DualStep::relaxed ? options.relaxation : 1.0),
        search_(options.eta, options.eta_cap), mover_(options.mixing, v), residual_(zeros_like(v)),
        product_(zeros_like(v)) {
    if (dual_ == DualStep::polak_ribiere) {
      residual_before_ = zeros_like(v);
      conjugate_ = zeros_like(v);
    }
  }

  [[nodiscard]] FusedRules<V> with(Mover<V> &y_mover) {
    return {dual_, factor_, &search_, y_mover.mixing(), mover_.mixing()};
  }

  /// v ← v + η r, or along a conjugate direction, with both levels where ∇yF and ∇²yyψ are to be taken; returns η.
  template <class Lower, class Upper> double move(Lower &lower, Upper &upper, double constant_eta, V &v) {
    upper.grad_y(residual_);
    lower.hess_yy(v, product_);
    axpy(-1.0, product_, residual_);
    if (dual_ == DualStep::constant) {
      mover_.move(constant_eta, residual_, v);
      return constant_eta;
    }
    const V &along = dual_ == DualStep::polak_ribiere ? conjugate_to_the_last() : residual_;
    lower.hess_yy(along, product_);
    const double eta = factor_ * search_.step(dot(residual_, along), dot(along, product_), dot(along, along));
    mover_.move(eta, along, v);
    return eta;
  }

  template <class Archive> void archive(Archive &members) {
    members("search", search_);
    members("mover", mover_);
    members("residual before", residual_before_);
    members("conjugate", conjugate_);
  }

private:
  /// p ← r + max(0, rᵀ(r − r₋)/r₋ᵀr₋) p
  [[nodiscard]] const V &conjugate_to_the_last() {
    const double before = dot(residual_before_, residual_before_);
    const double now = dot(residual_, residual_);
    const double mixed = dot(residual_, residual_before_);
    scale(before > 0.0 ? std::max(0.0, (now - mixed) / before) : 0.0, conjugate_);
    axpy(1.0, residual_, conjugate_);
    if (!(dot(residual_, conjugate_) > 0.0)) { // the target moved: p no longer ascends, start afresh
      assign(residual_, conjugate_);
    }
    assign(residual_, residual_before_);
    return conjugate_;
  }

  DualStep dual_;
  double factor_; ///< on what the line search finds
  LineSearch search_;
  Mover<V> mover_;
  V residual_;
  V product_;
  V residual_before_;
  V conjugate_;
};

} // namespace duplex
