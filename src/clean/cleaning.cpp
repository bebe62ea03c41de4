#include "clean/cleaning.hpp"

#include "clean/beliefs.hpp"
#include "clean/subsets.hpp"

#include <duplex/curvature.hpp>
#include <duplex/problems/hyper_cleaning.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace duplex::clean {

namespace {

using catalog::FloatProblem;

/// Penalties that are tried, in units of the samples' mean squared length.
constexpr std::array<double, 6> penalties{1.5e-3, 5e-4, 1.5e-4, 5e-5, 1.5e-5, 5e-6};
constexpr double bilevel_penalty = 1.5e-5;

class Cleaner {
public:
  Cleaner(const LabelledSamples &training, const LabelledSamples &trusted, Index classes, const Options &options,
          const std::function<void(const Look &)> &watch)
      : options_(options), watch_(watch), training_(training), trusted_(trusted), classes_(classes),
        rows_(training.features->rows()), trusted_rows_(trusted.features->rows()),
        unit_(mean_squared_length(*training.features)), trusted_loss_(trusted, classes, options.threads),
        order_(interleaved_order(*trusted.labels, classes, options.seed + 1)) {
    const Index middle = rows_ / 2;
    halves_[0] = slice(training, 0, middle);
    halves_[1] = slice(training, middle, rows_ - middle);
  }

  Result run() {
    Stopwatch clock;
    const auto timed = [&](double &seconds, const auto &work) {
      const double before = clock.seconds_while_paused();
      clock.start();
      work();
      clock.pause();
      seconds = clock.seconds_while_paused() - before;
      refuse_if_interrupted();
    };
    timed(result_.timings.trusted_model, [&] { fit_trusted(); });
    timed(result_.timings.bilevel, [&] { bilevel_runs(); });
    timed(result_.timings.rounds, [&] { improve_in_rounds(); });
    timed(result_.timings.final_model, [&] { fit_final(); });
    return std::move(result_);
  }

private:
  void refuse_if_interrupted() const {
    if (options_.interrupt != nullptr && options_.interrupt->load()) {
      throw Interrupted("interrupted");
    }
  }

  [[nodiscard]] Vector zero_model() const { return Vector::Zero(trusted_loss_.y_size()); }

  /// Folds are runs of the interleaved order: every class is in each, as evenly as can be.
  [[nodiscard]] Index fold_of(Index place, Index folds) const { return place * folds / trusted_rows_; }

  /// 0 for the samples of the fold, 1 for the others.
  [[nodiscard]] Vector outside_fold(Index fold, Index folds) const {
    Vector weights = Vector::Ones(trusted_rows_);
    for (Index place = 0; place < trusted_rows_; ++place) {
      if (fold_of(place, folds) == fold) {
        weights[order_[static_cast<std::size_t>(place)]] = 0.0F;
      }
    }
    return weights;
  }

  void fit_trusted() {
    constexpr Index many = 1000;
    const Index folds = trusted_rows_ > many ? 2 : std::min<Index>(5, trusted_rows_);
    std::array<Matrix, penalties.size()> unseen;
    unseen.fill(Matrix::Zero(trusted_rows_, classes_));
    for (Index fold = 0; fold < folds && folds > 1; ++fold) {
      const Vector weights = outside_fold(fold, folds);
      Vector y = zero_model();
      for (std::size_t i = 0; i < penalties.size(); ++i) {
        const Group group{&trusted_loss_, &weights};
        fit({&group, 1}, classes_, {.rho = penalties[i] * unit_, .interrupt = options_.interrupt}, y);
        const Matrix log_p = log_probabilities(trusted_loss_, y);
        for (Index row = 0; row < trusted_rows_; ++row) {
          if (weights[row] == 0.0F) {
            unseen[i].row(row) = log_p.row(row);
          }
        }
        refuse_if_interrupted();
      }
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < penalties.size() && folds > 1; ++i) {
      if (mean_loss(unseen[i], *trusted_.labels) < mean_loss(unseen[best], *trusted_.labels)) {
        best = i;
      }
    }
    rho_ = penalties[best] * unit_;
    unseen_ = std::move(unseen[best]);
    const double entropy = entropy_of(*trusted_.labels, classes_);
    result_.skill =
        folds > 1 && entropy > 0.0 ? std::max(0.0, 1.0 - mean_loss(unseen_, *trusted_.labels) / entropy) : 0.0;
    result_.trusted_only = zero_model();
    const Vector ones = Vector::Ones(trusted_rows_);
    const Group all{&trusted_loss_, &ones};
    fit({&all, 1}, classes_, {.rho = rho_, .interrupt = options_.interrupt}, result_.trusted_only);
  }

  /// What the trusted model believes of the training samples, pooled with the bilevel models' beliefs.
  void bilevel_runs() {
    result_.weight.resize(rows_);
    beliefs_.resize(rows_, classes_);
    Matrix held_out_bilevel(0, classes_);
    Matrix held_out_trusted(0, classes_);
    std::vector<std::uint32_t> held_out_labels;
    for (int half = 0; half < 2; ++half) {
      const LabelledSamples &seen = halves_[static_cast<std::size_t>(1 - half)];
      std::vector<Index> held;
      std::vector<Index> used;
      constexpr Index quarters = 4;
      for (Index place = 0; place < trusted_rows_; ++place) {
        const Index row = order_[static_cast<std::size_t>(place)];
        (fold_of(place, quarters) == half ? held : used).push_back(row);
      }
      if (held.empty() || used.empty()) { // too few to hold any out
        held = used = order_;
      }
      const LabelledSamples held_out = gather(trusted_, held);
      const Vector y = bilevel_run(half, seen, gather(trusted_, used), held_out);
      judge(half, y);
      Loss loss(held_out, classes_, options_.threads);
      append(held_out_bilevel, log_probabilities(loss, y));
      Matrix of_trusted(static_cast<Index>(held.size()), classes_);
      for (std::size_t i = 0; i < held.size(); ++i) {
        of_trusted.row(static_cast<Index>(i)) = unseen_.row(held[i]);
      }
      append(held_out_trusted, of_trusted);
      held_out_labels.insert(held_out_labels.end(), held_out.labels->begin(), held_out.labels->end());
    }
    const Eigen::Vector2d ab = pooling_weights(held_out_trusted, held_out_bilevel, held_out_labels);
    result_.pooled_trusted = ab[0];
    result_.pooled_bilevel = ab[1];
    for (int half = 0; half < 2; ++half) {
      Loss loss(halves_[static_cast<std::size_t>(half)], classes_, options_.threads);
      auto own = rows_of_half(half);
      own = static_cast<float>(ab[1]) * own + static_cast<float>(ab[0]) * log_probabilities(loss, result_.trusted_only);
    }
    softmax_rows(beliefs_);
    admit_unknown_classes();
  }

  /// A class without a trusted sample is believed in as often as labels are right in the other classes:
  /// no model has learnt it, so that its own label is the only witness.
  void admit_unknown_classes() {
    std::vector<bool> known(static_cast<std::size_t>(classes_), false);
    for (const auto label : *trusted_.labels) {
      known[label] = true;
    }
    std::vector<Index> rows;
    std::vector<std::uint32_t> labels;
    for (Index i = 0; i < rows_; ++i) {
      const auto label = given()[static_cast<std::size_t>(i)];
      if (known[label]) {
        rows.push_back(i);
        labels.push_back(label);
      }
    }
    if (static_cast<Index>(rows.size()) == rows_ || rows.empty()) {
      return;
    }
    const Matrix of_known = beliefs_(rows, Eigen::all);
    const LabelNoise noise = LabelNoise::estimate(of_known, labels);
    double right = 0.0;
    double classes = 0.0;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k]) {
        right += noise.transition(static_cast<Index>(k), static_cast<Index>(k));
        classes += 1.0;
      }
    }
    const auto share = static_cast<float>(right / classes);
    for (Index i = 0; i < rows_; ++i) {
      const auto label = given()[static_cast<std::size_t>(i)];
      if (!known[label]) {
        beliefs_.row(i) *= 1.0F - share;
        beliefs_(i, label) += share;
      }
    }
  }

  static void append(Matrix &to, const Matrix &more) {
    to.conservativeResize(to.rows() + more.rows(), more.cols());
    to.bottomRows(more.rows()) = more;
  }

  [[nodiscard]] Index first_of(int half) const { return half == 0 ? 0 : rows_ / 2; }
  [[nodiscard]] Index count_of(int half) const { return half == 0 ? rows_ / 2 : rows_ - rows_ / 2; }
  [[nodiscard]] Eigen::Block<Matrix> rows_of_half(int half) {
    return beliefs_.block(first_of(half), 0, count_of(half), classes_);
  }
  [[nodiscard]] std::span<const std::uint32_t> given() const { return *training_.labels; }

  /// log p of the half's samples under a model that has not seen them.
  void judge(int half, const Vector &y) {
    Loss loss(halves_[static_cast<std::size_t>(half)], classes_, options_.threads);
    rows_of_half(half) = log_probabilities(loss, y);
  }

  /// The best model of a run by its loss on held-out samples. Where a lower step is too long for the curvature
  /// that the run meets on its way, it is halved and the run begins again.
  Vector bilevel_run(int run, const LabelledSamples &seen, const LabelledSamples &used,
                     const LabelledSamples &held_out) {
    const HyperCleaning<float> problem(seen, used, classes_, bilevel_penalty * unit_, options_.threads);
    double beta = 1.0 / std::max(largest_curvature(problem, problem.start().x, class_priors(seen)), 1e-12);
    constexpr int halvings = 8;
    for (int attempt = 0; attempt <= halvings; ++attempt, beta *= 0.5) {
      const std::size_t looks_before = result_.looks.size();
      if (const auto best = bilevel_attempt(run, problem, beta, held_out)) {
        for (Index i = 0; i < best->x.size(); ++i) {
          result_.weight[first_of(1 - run) + i] = 1.0F / (1.0F + std::exp(-best->x[i]));
        }
        return best->y;
      }
      result_.looks.resize(looks_before);
    }
    throw std::runtime_error("the bilevel run diverged, however short its lower steps; try --beta or --alpha");
  }

  /// Biases at the logarithms of the classes' shares: where a run is soon, and the curvature larger than at zero.
  [[nodiscard]] Vector class_priors(const LabelledSamples &samples) const {
    Vector y = zero_model();
    const Index stride = y.size() / classes_;
    Eigen::VectorXd counts = Eigen::VectorXd::Ones(classes_);
    for (const auto label : *samples.labels) {
      counts[static_cast<Index>(label)] += 1.0;
    }
    for (Index k = 0; k < classes_; ++k) {
      y[(k + 1) * stride - 1] = static_cast<float>(std::log(counts[k] / counts.sum()));
    }
    return y;
  }

  /// Nothing where the held-out loss rose far above its lowest, or the run diverged.
  std::optional<State<Vector>> bilevel_attempt(int run, const HyperCleaning<float> &problem, double beta,
                                               const LabelledSamples &held_out) {
    auto state = problem.start();
    const auto solver = configured_solver(beta);
    Loss held(held_out, classes_, options_.threads);
    Loss upper(problem.trusted(), classes_, options_.threads);
    const Vector held_weights = Vector::Constant(held.rows(), 1.0F / static_cast<float>(held.rows()));
    const Vector used_weights = Vector::Constant(upper.rows(), 1.0F / static_cast<float>(upper.rows()));
    std::vector<double> losses;
    State<Vector> best;
    std::int64_t best_step = 0;
    bool overshot = false;
    const std::int64_t steps_before = run == 0 ? 0 : result_.steps[0];
    const double before = run == 0 ? 0.0 : solving_seconds_;
    Monitor<Vector> monitor;
    monitor.cadence = {.every = 5};
    monitor.stop_when = [&](const Progress<Vector> &progress) {
      held.at(progress.state.y);
      upper.at(progress.state.y);
      losses.push_back(held.value(held_weights));
      const double lowest = *std::min_element(losses.begin(), losses.end());
      if (losses.back() == lowest) {
        best = progress.state;
        best_step = progress.iteration;
      }
      const Look look{.run = run,
                      .step = progress.iteration,
                      .steps_in_all = steps_before + progress.iteration,
                      .seconds = before + progress.seconds,
                      .trusted_loss = upper.value(used_weights),
                      .held_out_loss = losses.back(),
                      .held_out_accuracy = share_of_equal(predicted(held.probabilities()), *held_out.labels),
                      .suspects = static_cast<Index>((progress.state.x.array() < 0.0F).count())};
      result_.looks.push_back(look);
      if (watch_) {
        watch_(look);
      }
      constexpr double far = 1.25;
      overshot = !std::isfinite(losses.back()) || losses.back() > far * lowest + 0.01;
      return overshot || no_longer_falls(losses);
    };
    const Summary summary = solver->run(
        FloatProblem(problem), state,
        {.max_iterations = options_.most_steps, .divergence_factor = infinity, .interrupt = options_.interrupt},
        monitor);
    refuse_if_interrupted();
    if (summary.termination == Termination::step_failed) {
      throw std::runtime_error("the bilevel run failed: " + summary.message);
    }
    if (overshot || summary.failed()) {
      return std::nullopt;
    }
    solving_seconds_ = before + summary.seconds;
    const auto index = static_cast<std::size_t>(run);
    result_.steps[index] = summary.iterations;
    result_.best_step[index] = best_step;
    result_.endings[index] = summary.termination == Termination::predicate
                                 ? "the held-out loss no longer fell by 1 % in 20 steps"
                                 : "as many steps as were allowed";
    return best;
  }

  /// Less than one per cent in the last four looks.
  static bool no_longer_falls(const std::vector<double> &losses) {
    constexpr std::size_t patience = 4;
    return losses.size() > patience && losses.back() > 0.99 * losses[losses.size() - 1 - patience];
  }

  std::unique_ptr<catalog::ConfiguredSolver> configured_solver(double beta) {
    auto solver = catalog::make_solver(options_.solver.empty() ? "bagdc" : options_.solver);
    for (const auto &[option, value] :
         std::initializer_list<std::pair<const char *, std::string>>{{"upper", "normalized"},
                                                                     {"alpha", "0.1"},
                                                                     {"beta", fmt::format("{:.4g}", beta)},
                                                                     {"dual", "relaxed"},
                                                                     {"eta-cap", fmt::format("{:.4g}", 10.0 * beta)}}) {
      (void)solver->set_unless_pinned(option, value);
    }
    result_.solver = std::string(solver->name());
    for (const auto &info : solver->options()) {
      result_.solver += ":" + info.name + "=" + info.value;
    }
    return solver;
  }

  void estimate_noise() {
    result_.noise = LabelNoise::estimate(beliefs_, given());
    posterior_ = result_.noise.posterior(beliefs_, given());
    const Eigen::VectorXd shares = posterior_.cast<double>().colwise().mean().transpose();
    // A training sample tells less of its class than a trusted one does.
    result_.label_information = std::sqrt(result_.noise.information(shares));
  }

  /// More samples need less of a penalty. It counts all of the training samples, also for a model of one half.
  [[nodiscard]] double rho_with_training() const {
    const auto trusted = static_cast<double>(trusted_rows_);
    return rho_ * std::sqrt(trusted / (trusted + result_.label_information * static_cast<double>(rows_)));
  }

  void fit_with(std::initializer_list<int> halves, std::int64_t iterations, double rho, Vector &y) {
    const Vector ones = Vector::Ones(trusted_rows_);
    std::vector<Loss> losses;
    std::vector<Vector> weights;
    for (const int half : halves) {
      losses.emplace_back(halves_[static_cast<std::size_t>(half)], classes_, options_.threads);
      losses.back().set_targets(posterior_.middleRows(first_of(half), count_of(half)));
      weights.push_back(Vector::Constant(count_of(half), static_cast<float>(result_.label_information)));
    }
    std::vector<Group> groups{{&trusted_loss_, &ones}};
    for (std::size_t i = 0; i < losses.size(); ++i) {
      groups.push_back({&losses[i], &weights[i]});
    }
    fit(groups, classes_, {.rho = rho, .iterations = iterations, .interrupt = options_.interrupt}, y);
  }

  void improve_in_rounds() {
    constexpr double few_changes = 0.005;
    constexpr std::int64_t iterations = 12;
    std::array<Vector, 2> models{zero_model(), zero_model()};
    estimate_noise();
    for (std::int64_t round = 1; round <= options_.rounds; ++round) {
      const Vector before = trust();
      for (int half = 0; half < 2; ++half) {
        Vector &y = models[static_cast<std::size_t>(half)];
        fit_with({1 - half}, iterations, rho_with_training(), y);
        refuse_if_interrupted();
        judge(half, y);
      }
      softmax_rows(beliefs_);
      estimate_noise();
      result_.rounds = round;
      const auto changed = ((trust().array() >= suspect_below) != (before.array() >= suspect_below)).count();
      if (static_cast<double>(changed) < few_changes * static_cast<double>(rows_)) {
        break;
      }
    }
    result_.trust = trust();
    result_.probability.resize(rows_);
    for (Index i = 0; i < rows_; ++i) {
      result_.probability[i] = beliefs_(i, given()[static_cast<std::size_t>(i)]);
    }
    suggest();
  }

  [[nodiscard]] Vector trust() const {
    Vector out(rows_);
    for (Index i = 0; i < rows_; ++i) {
      out[i] = posterior_(i, given()[static_cast<std::size_t>(i)]);
    }
    return out;
  }

  /// The given label where it is trusted, else the most probable other class.
  void suggest() {
    result_.suggested.assign(given().begin(), given().end());
    for (Index i = 0; i < rows_; ++i) {
      if (result_.trust[i] < suspect_below) {
        Eigen::RowVectorXf others = posterior_.row(i);
        others[static_cast<Index>(given()[static_cast<std::size_t>(i)])] = -1.0F;
        Index best = 0;
        (void)others.maxCoeff(&best);
        result_.suggested[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(best);
      }
    }
  }

  void fit_final() {
    constexpr std::int64_t iterations = 40;
    result_.model = zero_model();
    result_.rho = 0.5 * rho_with_training(); // all samples at once, and no sample judges itself any more
    fit_with({0, 1}, iterations, result_.rho, result_.model);
  }

  const Options &options_;
  const std::function<void(const Look &)> &watch_;
  LabelledSamples training_;
  LabelledSamples trusted_;
  Index classes_;
  Index rows_;
  Index trusted_rows_;
  double unit_; ///< the samples' mean squared length
  Loss trusted_loss_;
  std::vector<Index> order_; ///< of the trusted samples
  std::array<LabelledSamples, 2> halves_;
  double rho_ = 0.0;
  double solving_seconds_ = 0.0;
  Matrix unseen_;    ///< log p of trusted samples by models that have not seen them
  Matrix beliefs_;   ///< about the true classes, from the features
  Matrix posterior_; ///< and from the given labels
  Result result_;
};

} // namespace

Result clean(const LabelledSamples &training, const LabelledSamples &trusted, Index classes, const Options &options,
             const std::function<void(const Look &)> &watch) {
  require_samples(training, classes, "training");
  require_samples(trusted, classes, "trusted");
  if (training.features->rows() < 2) {
    throw InvalidInput("training: 1 sample, expected at least 2");
  }
  return Cleaner(training, trusted, classes, options, watch).run();
}

} // namespace duplex::clean
