#pragma once
// Problems and evaluations whose types are forgotten. What measures a run (verification, exact solves, certificates)
// works on them, so that it is compiled once for each kind of vector and not once for each problem.

#include <duplex/core/error.hpp>
#include <duplex/problem/offered.hpp>
#include <duplex/problem/output_sizes.hpp>
#include <duplex/problem/problem.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace duplex {

/// A problem that knows y*(x) and v*(x) in closed form; respond() writes them, or
/// returns false where this object does not.
template <class P>
concept ClosedFormLower = SecondOrderProblem<P> && requires(const P &problem, const VectorOf<P> &x, VectorOf<P> &out) {
  { problem.respond(x, out, out) } -> std::convertible_to<bool>;
};

/// A lower level's evaluation whose type is forgotten.
template <VectorSpace V> class AnyLower {
  struct Base {
    virtual ~Base() = default;
    virtual void at(const V &x, const V &y) = 0;
    virtual double value() = 0;
    [[nodiscard]] virtual bool offers_grad_x() const = 0;
    virtual void grad_x(V &out) = 0;
    virtual void grad_y(V &out) = 0;
    virtual void hess_yy(const V &v, V &out) = 0;
    virtual void cross_xy(const V &v, V &out) = 0;
    virtual void both_products(const V &v, V &hess, V &cross) = 0;
    [[nodiscard]] virtual OfferedInverse offered_inverse() const = 0;
    virtual void apply_offered_inverse(const V &v, V &out) = 0;
  };

  template <class E> struct Of final : Base {
    Of(E evaluation, const char *level) : inner(std::move(evaluation)), sizes(level) {}
    void at(const V &x, const V &y) override {
      sizes.at(x, y);
      inner.at(x, y);
    }
    double value() override { return inner.value(); }
    [[nodiscard]] bool offers_grad_x() const override {
      if constexpr (requires { inner.offers_grad_x(); }) {
        return inner.offers_grad_x();
      } else {
        return OffersGradX<E, V>;
      }
    }
    void grad_x(V &out) override {
      if constexpr (OffersGradX<E, V>) {
        sizes.like_x(out, "grad_x", [&] { inner.grad_x(out); });
      } else {
        throw NotAvailable("the problem does not offer the lower level's grad_x(out)");
      }
    }
    void grad_y(V &out) override {
      sizes.like_y(out, "grad_y", [&] { inner.grad_y(out); });
    }
    void hess_yy(const V &v, V &out) override {
      if constexpr (OffersSecondOrder<E, V>) {
        sizes.like_y(out, "hess_yy", [&] { inner.hess_yy(v, out); });
      } else {
        throw NotAvailable("the problem does not offer hess_yy(v, out) here");
      }
    }
    void cross_xy(const V &v, V &out) override {
      if constexpr (OffersSecondOrder<E, V>) {
        sizes.like_x(out, "cross_xy", [&] { inner.cross_xy(v, out); });
      } else {
        throw NotAvailable("the problem does not offer cross_xy(v, out) here");
      }
    }
    void both_products(const V &v, V &hess, V &cross) override {
      if constexpr (requires { inner.both_products(v, hess, cross); }) {
        sizes.like_y(hess, "both_products",
                     [&] { sizes.like_x(cross, "both_products", [&] { inner.both_products(v, hess, cross); }); });
      } else {
        hess_yy(v, hess);
        cross_xy(v, cross);
      }
    }
    [[nodiscard]] OfferedInverse offered_inverse() const override { return duplex::offered_inverse<V>(inner); }
    void apply_offered_inverse(const V &v, V &out) override {
      sizes.like_y(out, "precondition or solve_lower", [&] { duplex::apply_offered_inverse(inner, v, out); });
    }
    E inner;
    OutputSizes<V> sizes;
  };

public:
  /// Which of the two is looked at first matters: whether an AnyLower can be moved asks whether this takes one.
  template <class E>
  requires(!std::derived_from<E, AnyLower>) && Evaluation<E, V> explicit AnyLower(E evaluation)
      : AnyLower(std::move(evaluation), "lower()") {}

  void at(const V &x, const V &y) { inner_->at(x, y); }
  [[nodiscard]] double value() { return inner_->value(); }
  /// ∇x f may be asked of it only where it offers that.
  [[nodiscard]] bool offers_grad_x() const { return inner_->offers_grad_x(); }
  void grad_x(V &out) { inner_->grad_x(out); }
  void grad_y(V &out) { inner_->grad_y(out); }
  void hess_yy(const V &v, V &out) { inner_->hess_yy(v, out); }
  void cross_xy(const V &v, V &out) { inner_->cross_xy(v, out); }
  void both_products(const V &v, V &hess, V &cross) { inner_->both_products(v, hess, cross); }
  [[nodiscard]] OfferedInverse offered_inverse() const { return inner_->offered_inverse(); }
  void apply_offered_inverse(const V &v, V &out) { inner_->apply_offered_inverse(v, out); }

protected:
  template <class E>
  AnyLower(E evaluation, const char *level) : inner_(std::make_unique<Of<E>>(std::move(evaluation), level)) {}

private:
  std::unique_ptr<Base> inner_;
};

/// An upper level's. hess_yy and cross_xy may be asked of it only where the problem offers_aggregation().
template <VectorSpace V> class AnyUpper : public AnyLower<V> {
public:
  template <class E>
  requires(!std::derived_from<E, AnyLower<V>>) && Evaluation<E, V> explicit AnyUpper(E evaluation)
      : AnyLower<V>(std::move(evaluation), "upper()") {}
};

/// A problem that lies elsewhere, and must outlive its view.
template <VectorSpace V> class ProblemView {
  struct Base {
    virtual ~Base() = default;
    [[nodiscard]] virtual AnyLower<V> lower() const = 0;
    [[nodiscard]] virtual AnyUpper<V> upper() const = 0;
    [[nodiscard]] virtual Index x_size() const = 0;
    [[nodiscard]] virtual Index y_size() const = 0;
    [[nodiscard]] virtual bool offers_aggregation() const = 0;
    [[nodiscard]] virtual Box<V> box() const = 0;
    [[nodiscard]] virtual V x_scale() const = 0;
    [[nodiscard]] virtual V y_scale() const = 0;
    virtual bool respond(const V &x, V &y, V &v) const = 0;
  };

  template <class P> struct Of final : Base {
    explicit Of(const P &viewed) : problem(&viewed) {}
    [[nodiscard]] AnyLower<V> lower() const override { return AnyLower<V>(problem->lower()); }
    [[nodiscard]] AnyUpper<V> upper() const override { return AnyUpper<V>(problem->upper()); }
    [[nodiscard]] Index x_size() const override { return problem->x_size(); }
    [[nodiscard]] Index y_size() const override { return problem->y_size(); }
    [[nodiscard]] bool offers_aggregation() const override { return duplex::offers_aggregation(*problem); }
    [[nodiscard]] Box<V> box() const override { return box_of(*problem); }
    [[nodiscard]] V x_scale() const override { return duplex::x_scale(*problem); }
    [[nodiscard]] V y_scale() const override { return duplex::y_scale(*problem); }
    bool respond(const V &x, V &y, V &v) const override {
      if constexpr (ClosedFormLower<P>) {
        return problem->respond(x, y, v);
      } else {
        return false;
      }
    }
    const P *problem;
  };

public:
  using Vector = V;

  template <SecondOrderProblem P>
  requires(!std::same_as<P, ProblemView>) explicit ProblemView(const P &problem)
      : viewed_(std::make_shared<const Of<P>>(problem)) {}

  [[nodiscard]] AnyLower<V> lower() const { return viewed_->lower(); }
  [[nodiscard]] AnyUpper<V> upper() const { return viewed_->upper(); }
  [[nodiscard]] Index x_size() const { return viewed_->x_size(); }
  [[nodiscard]] Index y_size() const { return viewed_->y_size(); }
  [[nodiscard]] bool offers_aggregation() const { return viewed_->offers_aggregation(); }
  /// The bounds of x.
  [[nodiscard]] Box<V> box() const { return viewed_->box(); }
  /// How large the entries of x and of y typically are; empty where the problem does not say.
  [[nodiscard]] V x_scale() const { return viewed_->x_scale(); }
  [[nodiscard]] V y_scale() const { return viewed_->y_scale(); }
  bool respond(const V &x, V &y, V &v) const { return viewed_->respond(x, y, v); }

private:
  std::shared_ptr<const Base> viewed_;
};

} // namespace duplex
