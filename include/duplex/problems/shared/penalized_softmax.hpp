#pragma once
// Softmax regression whose penalties are tuned: x holds their logarithms, y the weights.
//
//   f = (1/n) Σ_i CE_i(y) + ½ Σ_g e^{x_g} ‖y_g‖²   on the training samples,
//   F = (1/m) Σ_j CE_j(y)                          on the validation samples.
//
// The groups g are all weights, those of a class or those of a feature; biases are in none. y holds the weights class
// after class, in each the bias last (where there are biases). Two classes may have one contrast instead, logistic
// regression: D + 1 weights, class 1 against class 0, whose score is zero.
//
// Softmax does not see a number that is added to the biases of all classes, so that ∇²yy f would be singular. Where
// each class has a bias, f holds their mean at zero by ½ (Σ_k b_k)²/K as well: with it the minimizer has the same
// probabilities as without, and is one. Both levels are means over samples, which may be drawn in batches
// (finite_sum.hpp).

#include <duplex/kernels/softmax_loss.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problem/finite_sum.hpp>
#include <duplex/problems/shared/labelled_parts.hpp>
#include <duplex/problems/shared/loss_at_point.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace duplex {

/// What has a penalty of its own.
enum class Penalties : std::uint8_t { one, by_class, by_feature };
inline constexpr std::array<std::string_view, 3> penalties_names{"one", "class", "feature"};
constexpr const auto &names_of(Penalties /*unused*/) { return penalties_names; }

struct PenalizedSoftmaxOptions {
  Penalties penalties = Penalties::by_feature;
  bool bias = true;
  bool contrast = false; ///< of two classes: one vector of weights
  double start = -2.0;   ///< each entry of x
  double limit = 12.0;   ///< x stays within ± this
  int threads = 0;       ///< as softmax_shares() takes them
};

template <class Scalar> class PenalizedSoftmax {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// Shares the samples. Throws InvalidInput where they do not fit each other, where the training samples lack a class,
  /// whose bias would have no minimum, or where options contradict one another.
  PenalizedSoftmax(LabelledParts parts, PenalizedSoftmaxOptions options);

  /// Where the weights lie: y is `blocks` vectors of `stride`, of which the kernels' K × (D + 1) weights are made.
  struct Layout {
    Index classes = 0;
    Index features = 0;
    Index blocks = 0; ///< vectors of weights: a class's each, or the contrast's
    Index stride = 0; ///< features, and the bias where there is one
    Penalties penalties = Penalties::one;

    [[nodiscard]] bool has_bias() const { return stride > features; }
    [[nodiscard]] Index groups() const {
      return penalties == Penalties::one ? 1 : penalties == Penalties::by_class ? blocks : features;
    }
    [[nodiscard]] Index y_size() const { return blocks * stride; }
    [[nodiscard]] bool is_of_kernels() const { return blocks == classes && has_bias(); }
  };

  class Level : public LossAtPoint<Scalar> {
  public:
    void at(const Vector &x, const Vector &y) {
      LossAtPoint<Scalar>::at(x, y);
      if (!has_weights_ || weight_ != this->batch().weight) {
        weights_.setConstant(static_cast<Scalar>(this->batch().weight));
        weight_ = this->batch().weight;
        has_weights_ = true;
      }
    }

  protected:
    /// Of all samples where there is no batch.
    Level(const LabelledSamples &samples, const PenalizedSoftmax &problem, const Batch *batch);
    [[nodiscard]] const Layout &layout() const { return layout_; }
    [[nodiscard]] double mean_loss() { return loss().value(weights_); }
    void gradient(Vector &out);
    void hessian(const Vector &v, Vector &out);

  private:
    [[nodiscard]] SoftmaxLoss<Scalar> &loss();

    Layout layout_;
    Vector weights_; ///< of the samples
    double weight_ = 0.0;
    bool has_weights_ = false;
    Vector inner_;  ///< a point or a direction as the kernels have it, where that is another way than y's
    Vector answer_; ///< what they answer
  };

  class Lower : public Level {
  public:
    explicit Lower(const PenalizedSoftmax &problem, const Batch *batch = nullptr);
    void at(const Vector &x, const Vector &y);
    [[nodiscard]] double value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);
    void both_products(const Vector &v, Vector &hess, Vector &cross);

  private:
    void add_penalty(const Vector &v, Vector &out) const;
    Vector penalties_; ///< eˣ
  };

  class Upper : public Level {
  public:
    explicit Upper(const PenalizedSoftmax &problem, const Batch *batch = nullptr);
    [[nodiscard]] double value() { return this->mean_loss(); }
    void grad_x(Vector &out) { out.setZero(this->layout().groups()); }
    void grad_y(Vector &out) { this->gradient(out); }
    void hess_yy(const Vector &v, Vector &out) { this->hessian(v, out); }
    void cross_xy(const Vector & /*v*/, Vector &out) { out.setZero(this->layout().groups()); }
  };

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Lower lower(const Batch &batch) const { return Lower(*this, &batch); }
  [[nodiscard]] Upper upper(const Batch &batch) const { return Upper(*this, &batch); }
  [[nodiscard]] Index lower_samples() const { return parts_.training.features->rows(); }
  [[nodiscard]] Index upper_samples() const { return parts_.validation.features->rows(); }
  [[nodiscard]] Index x_size() const { return layout_.groups(); }
  [[nodiscard]] Index y_size() const { return layout_.y_size(); }
  [[nodiscard]] Vector lower_bound() const { return Vector::Constant(x_size(), static_cast<Scalar>(-options_.limit)); }
  [[nodiscard]] Vector upper_bound() const { return Vector::Constant(x_size(), static_cast<Scalar>(options_.limit)); }
  /// All penalties alike, no weights.
  [[nodiscard]] State<Vector> start() const;

  /// Mean cross entropy on the samples that neither level sees, where there are any.
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const;
  /// The part of these whose class is not the most probable one.
  [[nodiscard]] std::optional<double> held_out_error(const Vector &y) const;

  [[nodiscard]] const LabelledParts &parts() const { return parts_; }
  [[nodiscard]] const Layout &layout() const { return layout_; }
  /// y as the kernels have it: K × (D + 1).
  void spread(const Vector &y, Vector &out) const { spread(layout_, y, out); }

private:
  static void spread(const Layout &layout, const Vector &y, Vector &out);
  static void collect(const Layout &layout, const Vector &answer, Vector &out);

  LabelledParts parts_;
  PenalizedSoftmaxOptions options_;
  Layout layout_;
};

extern template class PenalizedSoftmax<float>;
extern template class PenalizedSoftmax<double>;

static_assert(AggregatedProblem<PenalizedSoftmax<float>> && FiniteSumProblem<PenalizedSoftmax<float>> &&
              PenalizableProblem<PenalizedSoftmax<float>> && StartedProblem<PenalizedSoftmax<float>>);

} // namespace duplex
