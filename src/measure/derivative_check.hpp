#pragma once
// The comparisons of check(): gradients with differences of values, products with differences of gradients, and the
// hypergradient with differences of φ.

#include "measure/check_probes.hpp"

#include <deque>
#include <string>

namespace duplex::detail {

class DerivativeCheck {
public:
  DerivativeCheck(CheckedProblem problem, const CheckOptions &options, double tolerance);

  [[nodiscard]] std::vector<CheckRow> rows();

private:
  enum class Variable { x, y };
  using Slope = std::function<Numbers(double)>;
  using Product = std::function<Numbers(const Numbers &, double)>;
  using Write = std::function<Numbers(double)>;

  /// A level, its gradient in y at the point, and what rounding does to that along x and along y.
  struct At {
    std::string name; ///< "lower" or "upper"
    CheckedLevel *level;
    Numbers slope;
    Numbers noise_in_x;
    Numbers noise_in_y;
  };

  void check_all();
  [[nodiscard]] Tally &tally(const std::string &quantity);
  [[nodiscard]] bool any_refused() const;

  void place(const At &at) { at.level->at(point_.x, point_.y); }
  [[nodiscard]] const Numbers &unit(Variable variable) const {
    return variable == Variable::x ? point_.x_unit : point_.y_unit;
  }
  [[nodiscard]] Room room(Variable variable, const Numbers &direction) const;
  /// The values of a level along a direction; none where the level itself is not finite.
  [[nodiscard]] Curve along(const At &at, Variable variable, const Numbers &direction,
                            const std::function<Numbers()> &values) const;
  [[nodiscard]] Numbers noise(const At &at, Variable variable, const Numbers &at_zero,
                              const std::function<Numbers()> &values);
  /// What write() leaves at the point; none, and a mistake in the tally, where that is not what it should be.
  [[nodiscard]] Numbers written(Tally &into, const At &at, std::size_t size, const Write &write);

  void gradient(At &at, Variable variable, const std::string &name, const Slope &slope);
  void hessian(At &at);
  /// The columns of a group, added up with signs in the product k.
  void hessian_columns(At &at, const Group &group, const Numbers &signs, const std::vector<Numbers> &products,
                       std::size_t k, Tally &into);
  void symmetry(At &at, const std::vector<Group> &groups, const Numbers &signs, const std::vector<Numbers> &products);
  void cross(At &at);
  /// What the lower level offers in the place of its Hessian's inverse.
  void inverses(At &at);
  void linearity(At &at, const char *name, const Product &product, Variable out, Tally &into);
  void hypergradient();

  CheckedProblem problem_;
  CheckOptions options_;
  double tolerance_;
  std::mt19937_64 generator_;
  CheckPoints points_;
  LadderSettings ladder_;
  ProbeCounts counts_ = probes_at_first_point;
  CheckPoint point_;
  std::deque<Tally> tallies_; ///< references to them stay
};

} // namespace duplex::detail
