#include "clean/cleaning.hpp"

#include "clean/beliefs.hpp"
#include "clean/bilevel.hpp"
#include "clean/journal.hpp"
#include "clean/label_account.hpp"
#include "clean/linear.hpp"
#include "clean/network.hpp"
#include "clean/subsets.hpp"

#include <duplex/solve.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::clean {

namespace {

class Cleaner {
public:
  Cleaner(const Classifier &classifier, const LabelledSamples &training, const LabelledSamples &trusted, Index classes,
          const Options &options, const std::function<void(const Look &)> &watch)
      : classifier_(classifier), options_(options), watch_(watch), training_(training), trusted_(trusted),
        classes_(classes), rows_(training.features->rows()), trusted_rows_(trusted.features->rows()),
        order_(interleaved_order(*trusted.labels, classes, options.seed + 1)) {
    result_.hidden = classifier.hidden();
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
      refuse_if_interrupted(options_.interrupt);
    };
    timed(result_.timings.trusted_model, [&] { fit_trusted(); });
    timed(result_.timings.bilevel, [&] { bilevel_runs(); });
    timed(result_.timings.rounds, [&] {
      improve_in_rounds();
      judge_labels();
    });
    timed(result_.timings.final_model, [&] { fit_final(); });
    return std::move(result_);
  }

private:
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
    const auto &penalties = classifier_.plan().penalties;
    std::vector<Matrix> unseen(penalties.size(), Matrix::Zero(trusted_rows_, classes_));
    for (Index fold = 0; fold < folds && folds > 1; ++fold) {
      const WeightedSamples outside{trusted_, outside_fold(fold, folds)};
      Vector y = classifier_.untrained();
      for (std::size_t i = 0; i < penalties.size(); ++i) {
        classifier_.fit({&outside, 1}, fit_options(penalties[i], classifier_.plan().alone), y);
        const Matrix log_p = classifier_.log_probabilities(trusted_, y);
        for (Index row = 0; row < trusted_rows_; ++row) {
          if (outside.weights[row] == 0.0F) {
            unseen[i].row(row) = log_p.row(row);
          }
        }
        refuse_if_interrupted(options_.interrupt);
      }
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < penalties.size() && folds > 1; ++i) {
      if (mean_loss(unseen[i], *trusted_.labels) < mean_loss(unseen[best], *trusted_.labels)) {
        best = i;
      }
    }
    rho_ = penalties[best];
    unseen_ = std::move(unseen[best]);
    const double entropy = entropy_of(*trusted_.labels, classes_);
    result_.skill =
        folds > 1 && entropy > 0.0 ? std::max(0.0, 1.0 - mean_loss(unseen_, *trusted_.labels) / entropy) : 0.0;
    result_.trusted_only = classifier_.untrained();
    const WeightedSamples all{trusted_, Vector::Ones(trusted_rows_)};
    classifier_.fit({&all, 1}, fit_options(rho_, classifier_.plan().alone), result_.trusted_only);
  }

  [[nodiscard]] FitOptions fit_options(double rho, std::int64_t iterations) const {
    return {.rho = rho, .iterations = iterations, .interrupt = options_.interrupt};
  }

  /// What the trusted model believes of the training samples, pooled with the bilevel models' beliefs.
  void bilevel_runs() {
    result_.weight.resize(rows_);
    beliefs_.resize(rows_, classes_);
    Matrix held_out_bilevel(0, classes_);
    Matrix held_out_trusted(0, classes_);
    std::vector<std::uint32_t> held_out_labels;
    BilevelRuns runs(options_, classifier_.plan(), watch_, result_);
    for (int half = 0; half < 2; ++half) {
      const LabelledSamples &seen = half_of(1 - half);
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
      const auto problem = classifier_.bilevel(seen, gather(trusted_, used), held_out);
      const BilevelAnswer answer = runs.run(half, *problem);
      result_.weight.segment(first_of(1 - half), count_of(1 - half)) =
          answer.x.unaryExpr([](float x) { return 1.0F / (1.0F + std::exp(-x)); });
      judge(half, answer.model);
      append(held_out_bilevel, classifier_.log_probabilities(held_out, answer.model));
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
      auto own = rows_of_half(half);
      own = static_cast<float>(ab[1]) * own +
            static_cast<float>(ab[0]) * classifier_.log_probabilities(half_of(half), result_.trusted_only);
    }
    softmax_rows(beliefs_);
    admit_unknown_classes();
    unseen_trusted_ = static_cast<float>(ab[1]) * held_out_bilevel + static_cast<float>(ab[0]) * held_out_trusted;
    unseen_labels_ = std::move(held_out_labels);
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
  [[nodiscard]] const LabelledSamples &half_of(int half) const { return halves_[static_cast<std::size_t>(half)]; }
  [[nodiscard]] std::span<const std::uint32_t> given() const { return *training_.labels; }

  /// log p of the half's samples under a model that has not seen them.
  void judge(int half, const Vector &y) { rows_of_half(half) = classifier_.log_probabilities(half_of(half), y); }

  [[nodiscard]] LabelAccount account(Sharpness sharpness) const {
    constexpr float smallest = 1e-30F;
    const Matrix log_p = beliefs_.array().max(smallest).log();
    return account_for_labels({log_p, given()}, {unseen_trusted_, unseen_labels_}, sharpness, options_.interrupt);
  }

  /// What the next models are to learn from.
  void estimate_classes() {
    LabelAccount found = account(Sharpness::as_it_is);
    posterior_ = std::move(found.posterior);
    const Eigen::VectorXd shares = posterior_.cast<double>().colwise().mean().transpose();
    // A training sample tells less of its class than a trusted one does.
    result_.label_information = std::sqrt(found.noise.information(shares));
  }

  /// More samples need less of a penalty. It counts all of the training samples, also for a model of one half.
  [[nodiscard]] double rho_with_training() const {
    const auto trusted = static_cast<double>(trusted_rows_);
    const double share = trusted / (trusted + result_.label_information * static_cast<double>(rows_));
    return classifier_.plan().less_of_penalty * rho_ * std::sqrt(share);
  }

  void fit_with(std::initializer_list<int> halves, std::int64_t iterations, double rho, Vector &y) {
    std::vector<WeightedSamples> parts{{trusted_, Vector::Ones(trusted_rows_)}};
    for (const int half : halves) {
      parts.push_back({half_of(half), Vector::Constant(count_of(half), static_cast<float>(result_.label_information)),
                       posterior_.middleRows(first_of(half), count_of(half))});
    }
    classifier_.fit(parts, fit_options(rho, iterations), y);
  }

  void improve_in_rounds() {
    constexpr double few_changes = 0.005;
    constexpr float even_odds = 0.5F;
    std::array<Vector, 2> models{classifier_.untrained(), classifier_.untrained()};
    estimate_classes();
    for (std::int64_t round = 1; round <= options_.rounds; ++round) {
      const Vector before = trust_by(posterior_);
      for (int half = 0; half < 2; ++half) {
        Vector &y = models[static_cast<std::size_t>(half)];
        fit_with({1 - half}, classifier_.plan().in_a_round, rho_with_training(), y);
        refuse_if_interrupted(options_.interrupt);
        judge(half, y);
      }
      softmax_rows(beliefs_);
      estimate_classes();
      result_.rounds = round;
      const auto changed = ((trust_by(posterior_).array() >= even_odds) != (before.array() >= even_odds)).count();
      if (static_cast<double>(changed) < few_changes * static_cast<double>(rows_)) {
        break;
      }
    }
  }

  void judge_labels() {
    LabelAccount found = account(Sharpness::found);
    result_.noise = std::move(found.noise);
    result_.near_boundaries = found.near_boundaries;
    result_.wrong_by_class = found.wrong_by_class;
    result_.trust = trust_by(found.posterior);
    result_.suspect_below =
        options_.threshold > 0.0 ? static_cast<float>(options_.threshold) : threshold_of_best_f1(result_.trust);
    result_.probability.resize(rows_);
    for (Index i = 0; i < rows_; ++i) {
      result_.probability[i] = beliefs_(i, given()[static_cast<std::size_t>(i)]);
    }
    suggest(found.posterior);
  }

  [[nodiscard]] Vector trust_by(const Matrix &posterior) const {
    Vector out(rows_);
    for (Index i = 0; i < rows_; ++i) {
      out[i] = posterior(i, given()[static_cast<std::size_t>(i)]);
    }
    return out;
  }

  /// The given label where it is trusted, else the most probable other class.
  void suggest(const Matrix &posterior) {
    result_.suggested.assign(given().begin(), given().end());
    for (Index i = 0; i < rows_; ++i) {
      if (result_.trust[i] < result_.suspect_below) {
        Eigen::RowVectorXf others = posterior.row(i);
        others[static_cast<Index>(given()[static_cast<std::size_t>(i)])] = -1.0F;
        Index best = 0;
        (void)others.maxCoeff(&best);
        result_.suggested[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(best);
      }
    }
  }

  void fit_final() {
    result_.model = classifier_.untrained();
    result_.rho = 0.5 * rho_with_training(); // all samples at once, and no sample judges itself any more
    fit_with({0, 1}, classifier_.plan().at_last, result_.rho, result_.model);
  }

  const Classifier &classifier_;
  const Options &options_;
  const std::function<void(const Look &)> &watch_;
  LabelledSamples training_;
  LabelledSamples trusted_;
  Index classes_;
  Index rows_;
  Index trusted_rows_;
  std::vector<Index> order_; ///< of the trusted samples
  std::array<LabelledSamples, 2> halves_;
  double rho_ = 0.0;
  Matrix unseen_;         ///< log p of trusted samples by models that have not seen them
  Matrix unseen_trusted_; ///< pooled scores of the trusted samples that were held out from the bilevel runs
  std::vector<std::uint32_t> unseen_labels_;
  Matrix beliefs_;   ///< about the true classes, from the features
  Matrix posterior_; ///< and from the given labels
  Result result_;
};

void require_both(const LabelledSamples &training, const LabelledSamples &trusted, Index classes) {
  require_samples(training, classes, "training");
  require_samples(trusted, classes, "trusted");
  if (training.features->rows() < 2) {
    throw InvalidInput("training: 1 sample, expected at least 2");
  }
}

std::unique_ptr<Classifier> make_classifier(const LabelledSamples &training, Index classes, const Options &options) {
  const Index features = training.features->columns();
  const double unit = mean_squared_length(*training.features);
  if (options.model == ModelKind::linear) {
    return make_linear(features, classes, unit, options.threads);
  }
  return make_network({.features = features,
                       .hidden = options.hidden,
                       .classes = classes,
                       .unit = unit,
                       .device = options.device,
                       .threads = options.threads,
                       .seed = options.seed,
                       .interrupt = options.interrupt});
}

} // namespace

Result clean(const LabelledSamples &training, const LabelledSamples &trusted, Index classes, const Options &options,
             const std::function<void(const Look &)> &watch) {
  require_both(training, trusted, classes);
  const auto classifier = make_classifier(training, classes, options);
  if (options.journal == nullptr) {
    return clean(*classifier, training, trusted, classes, options, watch);
  }
  options.journal->require_same_data(training, trusted);
  return clean(*remembering(*classifier, *options.journal), training, trusted, classes, options, watch);
}

Result clean(const Classifier &classifier, const LabelledSamples &training, const LabelledSamples &trusted,
             Index classes, const Options &options, const std::function<void(const Look &)> &watch) {
  require_both(training, trusted, classes);
  return Cleaner(classifier, training, trusted, classes, options, watch).run();
}

} // namespace duplex::clean
