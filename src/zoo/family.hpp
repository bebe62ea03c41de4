#pragma once
// A family of the zoo: a bilevel problem that people have, with ten starts, over three scalars, and what is known of
// it.

#include "catalog/catalog.hpp"
#include "zoo/model.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex::zoo {

inline constexpr int starts_of_family = 10;

struct Facts {
  std::string name;
  std::string title;        ///< what it is, in a line
  bool is_convex = true;    ///< in y, on the lower level
  bool is_singular = false; ///< the lower level has more than one minimizer
  bool runs_in_float = false;
  std::string cause = {}; ///< why it has no answer, in the word by which a run should say so; empty where it has one
};

class Family {
public:
  /// `make` is generic: make.template operator()<T>() is the problem over T. `truth` makes the problem that is judged
  /// by, which is another one only where the first has a mistake in it.
  template <class Make, class Truth>
  Family(Facts facts, Make make, Truth truth)
      : facts_(std::move(facts)), make_([make] { return catalog::Problem(make.template operator()<double>()); }),
        model_([make] { return model_of(make.template operator()<double>()); }),
        truth_([truth] { return model_of(truth.template operator()<long double>()); }) {}
  template <class Make> Family(Facts facts, Make make) : Family(std::move(facts), make, make) {}
  /// One that runs in float. The others are not compiled over it, which would take half as long again.
  template <class Make> [[nodiscard]] static Family in_float(Facts facts, Make make) {
    facts.runs_in_float = true;
    Family family(std::move(facts), make);
    family.make_float_ = [make] { return catalog::FloatProblem(make.template operator()<float>()); };
    family.float_model_ = [make] { return model_of(make.template operator()<float>()); };
    return family;
  }

  [[nodiscard]] const Facts &facts() const { return facts_; }
  [[nodiscard]] const std::string &name() const { return facts_.name; }

  /// For the engine. Data are drawn anew at every call; they are the same. In float only where the family runs so.
  [[nodiscard]] catalog::Problem problem() const { return make_(); }
  [[nodiscard]] catalog::FloatProblem float_problem() const { return make_float_(); }

  /// For the stand-in, alike, and for the truth.
  [[nodiscard]] std::unique_ptr<Model<double>> model() const { return model_(); }
  [[nodiscard]] std::unique_ptr<Model<float>> float_model() const { return float_model_(); }
  [[nodiscard]] std::unique_ptr<Model<long double>> truth() const { return truth_(); }

  /// Throws InvalidInput unless k is from 0 to 9.
  [[nodiscard]] State<Eigen::VectorXd> start(int k) const;
  /// Bounds of x, where any is finite.
  [[nodiscard]] std::optional<Eigen::VectorXd> lower_bound() const;
  [[nodiscard]] std::optional<Eigen::VectorXd> upper_bound() const;

private:
  template <class P> static std::unique_ptr<Model<typename P::Vector::Scalar>> model_of(P problem) {
    return std::make_unique<ModelOf<P>>(std::move(problem));
  }

  Facts facts_;
  std::function<catalog::Problem()> make_;
  std::function<catalog::FloatProblem()> make_float_;
  std::function<std::unique_ptr<Model<double>>()> model_;
  std::function<std::unique_ptr<Model<float>>()> float_model_;
  std::function<std::unique_ptr<Model<long double>>()> truth_;
};

/// All of them.
[[nodiscard]] const std::vector<Family> &families();

/// Those whose name contains the text; all where it is empty. Throws InvalidInput where there is none.
[[nodiscard]] std::vector<Family> families_with(std::string_view text);

/// By its name. Throws InvalidInput, with the nearest name, where there is none.
[[nodiscard]] const Family &family_named(std::string_view name);

/// What families() is put together from, each list in a file of its own.
[[nodiscard]] std::vector<Family> regression_families();
[[nodiscard]] std::vector<Family> classification_families();
[[nodiscard]] std::vector<Family> sample_families();
[[nodiscard]] std::vector<Family> market_families();
[[nodiscard]] std::vector<Family> inverse_families();
[[nodiscard]] std::vector<Family> curved_families();
[[nodiscard]] std::vector<Family> degenerate_families();

} // namespace duplex::zoo
