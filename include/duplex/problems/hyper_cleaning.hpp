#pragma once
// Data hyper-cleaning: a weight for each sample of a training set whose labels are partly
// wrong, such that softmax regression on the weighted samples does well on trusted ones.
//
//   f = (1/N) Σ_i σ(x_i) CE_i(y) + (ρ/2)‖y‖²   on the training samples,
//   F = (1/M) Σ_i CE_i(y)                       on the trusted samples.
//
// y holds K × (D + 1) weights, class after class, the bias last. BAGDC's fused step reads the
// training samples twice and the trusted ones once. Both levels are means over samples, which may be drawn in batches
// (finite_sum.hpp).

#include <duplex/core/fields.hpp>
#include <duplex/kernels/softmax_loss.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problem/finite_sum.hpp>
#include <duplex/problem/fused.hpp>
#include <duplex/problems/shared/labelled_parts.hpp>
#include <duplex/problems/shared/loss_at_point.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace duplex {

template <class Scalar> class HyperCleaning {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// Shares the samples. Throws InvalidInput where they do not fit each other. threads = 0: as many as are useful.
  HyperCleaning(LabelledSamples training, LabelledSamples trusted, Index classes, double rho = 0.0, int threads = 0);

  class Level : public LossAtPoint<Scalar> {
  protected:
    /// Of all samples where there is no batch.
    Level(const LabelledSamples &samples, const HyperCleaning &problem, const Batch *batch)
        : LossAtPoint<Scalar>(samples, problem.classes_, problem.threads_, batch) {}
    [[nodiscard]] SoftmaxLoss<Scalar> &loss() {
      return this->loss_at([this]() -> const Vector & { return this->y(); });
    }
  };

  class Lower : public Level {
  public:
    explicit Lower(const HyperCleaning &problem, const Batch *batch = nullptr);
    void at(const Vector &x, const Vector &y);
    [[nodiscard]] double value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);
    void both_products(const Vector &v, Vector &hess, Vector &cross);

  private:
    Scalar rho_;
    Index x_size_;
    Vector weights_; ///< σ(x) times the weight of a sample, of the batch's samples
    Vector slopes_;  ///< σ'(x) times that
  };

  class Upper : public Level {
  public:
    explicit Upper(const HyperCleaning &problem, const Batch *batch = nullptr);
    [[nodiscard]] double value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);

  private:
    Index x_size_;
    Vector weights_; ///< of the samples
  };

  /// Two passes over the data a step, three with a line search on η.
  class Fused {
  public:
    explicit Fused(const HyperCleaning &problem);
    Fused(Fused &&) noexcept;
    Fused &operator=(Fused &&) noexcept;
    Fused(const Fused &) = delete;
    Fused &operator=(const Fused &) = delete;
    ~Fused();

    [[nodiscard]] static bool supports(DualStep rule, bool /*mixes*/) { return rule != DualStep::polak_ribiere; }
    void begin(const State<Vector> &start);
    double step(State<Vector> &s, const StepSizes &steps, const FusedRules<Vector> &rules, UpperUpdate<Vector> &move,
                Vector &d);
    void archive(StateWriter &members);
    void archive(StateReader &members);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Lower lower(const Batch &batch) const { return Lower(*this, &batch); }
  [[nodiscard]] Upper upper(const Batch &batch) const { return Upper(*this, &batch); }
  [[nodiscard]] Index lower_samples() const { return training_.features->rows(); }
  [[nodiscard]] Index upper_samples() const { return trusted_.features->rows(); }
  [[nodiscard]] std::optional<Fused> fused_bagdc() const { return Fused(*this); }
  [[nodiscard]] Index x_size() const { return training_.features->rows(); }
  [[nodiscard]] Index y_size() const { return classes_ * (training_.features->columns() + 1); }
  /// x_i is a logit.
  [[nodiscard]] static double upper_scale() { return 1.0; }
  /// Everything at zero: every sample has the weight one half, every class the same probability.
  [[nodiscard]] State<Vector> start() const;

  /// Samples that neither level sees. Throws InvalidInput where they do not fit the others.
  void hold_out(LabelledSamples samples);
  /// Their mean cross entropy, where there are any.
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const;

  [[nodiscard]] const LabelledSamples &training() const { return training_; }
  [[nodiscard]] const LabelledSamples &trusted() const { return trusted_; }
  [[nodiscard]] Index classes() const { return classes_; }
  [[nodiscard]] double rho() const { return rho_; }
  [[nodiscard]] int threads() const { return threads_; }

private:
  void require_fitting(const LabelledSamples &samples, const std::string &kind) const;

  LabelledSamples training_;
  LabelledSamples trusted_;
  std::optional<LabelledSamples> held_out_ = {};
  Index classes_;
  double rho_;
  int threads_;
};

/// Synthetic: a cloud of samples around each class's centre, some training labels replaced by wrong ones.
struct HyperCleaningSettings {
  static constexpr std::string_view name = "hyper-cleaning";
  static constexpr std::string_view title = "weights of samples with partly wrong labels, tuned on trusted samples";

  /// Options of the synthetic samples alone.
  static constexpr std::array<std::string_view, 7> of_synthetic{"samples", "trusted", "held-out",  "features",
                                                                "classes", "noise",   "separation"};

  Index samples = 60;
  Index trusted = 40;
  Index held_out = 40;
  Index features = 5;
  Index classes = 3;
  double noise = 0.3;
  double separation = 1.5;
  double rho = 0.1;
  std::uint64_t seed = 0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("samples", self.samples, at_least_one, "training samples, the entries of x");
    visit("trusted", self.trusted, at_least_one, "trusted samples");
    visit("held-out", self.held_out, non_negative, "samples that neither level sees");
    visit("features", self.features, at_least_one, "numbers per sample");
    visit("classes", self.classes, Bound{.low = 2}, "classes");
    visit("noise", self.noise, Bound{.low = 0.0, .high = 1.0}, "part of the training labels that is wrong");
    visit("separation", self.separation, finite_non_negative, "distance of the classes' centres from the origin");
    visit("rho", self.rho, finite_non_negative, "weight of ‖y‖²/2 in the lower level");
    visit("seed", self.seed, non_negative, "seed of the samples, or of which rows of a file are trusted");
  }

  [[nodiscard]] std::uint64_t seed_of_samples() const { return seed; }
  /// About how many numbers the problem and a run on it hold.
  [[nodiscard]] double numbers() const {
    const auto columns = static_cast<double>(features);
    const double rows = static_cast<double>(samples) + static_cast<double>(trusted) + static_cast<double>(held_out);
    return rows * (columns + 20.0) + 20.0 * static_cast<double>(classes) * (columns + 1.0);
  }

  /// Throws InvalidInput where that is larger than memory.
  template <class Scalar> [[nodiscard]] HyperCleaning<Scalar> generate() const;
  /// The same problem on samples that are given; those that validate are trusted.
  template <class Scalar> [[nodiscard]] HyperCleaning<Scalar> generate(LabelledParts parts) const;

  template <class Scalar> [[nodiscard]] AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> make() const;
};

extern template class HyperCleaning<float>;
extern template class HyperCleaning<double>;
extern template HyperCleaning<float> HyperCleaningSettings::generate() const;
extern template HyperCleaning<double> HyperCleaningSettings::generate() const;
extern template HyperCleaning<float> HyperCleaningSettings::generate(LabelledParts parts) const;
extern template HyperCleaning<double> HyperCleaningSettings::generate(LabelledParts parts) const;
extern template AnyProblem<Eigen::VectorXf> HyperCleaningSettings::make<float>() const;
extern template AnyProblem<Eigen::VectorXd> HyperCleaningSettings::make<double>() const;

static_assert(AggregatedProblem<HyperCleaning<float>> && FiniteSumProblem<HyperCleaning<float>> &&
              FusedProblem<HyperCleaning<float>> && StartedProblem<HyperCleaning<float>>);

} // namespace duplex
