#include "clean/cleaning.hpp"

#include "clean/anchors.hpp"
#include "clean/beliefs.hpp"
#include "clean/bilevel.hpp"
#include "clean/choice.hpp"
#include "clean/copies.hpp"
#include "clean/disagreement.hpp"
#include "clean/journal.hpp"
#include "clean/network.hpp"
#include "clean/out_of_fold.hpp"
#include "clean/pooling.hpp"
#include "clean/require_fitting.hpp"
#include "clean/skill.hpp"
#include "clean/subsets.hpp"

#include <duplex/core/clock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace duplex::clean {

namespace {

/// Five; of many rows three, whose models have seen enough of them.
Index folds_of(Index rows) {
  constexpr Index many = 2500;
  return std::min<Index>(rows >= many ? 3 : 5, rows);
}

/// Fewer trusted samples than these tell nothing by themselves.
constexpr Index least_trusted_to_pool = 10;

class Cleaner {
public:
  Cleaner(const LabelledSamples &training, const LabelledSamples &trusted, Index classes, const Options &options,
          const std::function<void(const Look &)> &watch)
      : options_(options), watch_(watch), classes_(classes) {
    const Index folds = folds_of(training.features->rows());
    training_ = {training, folds};
    trusted_.folds = folds;
    if (trusted.features && trusted.features->rows() > 0) {
      order_ = interleaved_order(*trusted.labels, classes, options.seed + 1);
      trusted_.samples = gather(trusted, order_);
      right_ = *trusted_.samples.labels;
      if (options.others) {
        others_of_trusted_ = options.others->trusted(order_, Eigen::all);
      }
    }
    trusted_classes_ = std::set<std::uint32_t>(right_.begin(), right_.end());
    counts_in_fits_ = Vector::Ones(rows());
    if (trusted_.rows() > 0) { // a copy would tell a model the trusted row that it is to judge
      const auto is_copy = copies_of(*training.features, *trusted.features);
      for (Index i = 0; i < rows(); ++i) {
        counts_in_fits_[i] = is_copy[static_cast<std::size_t>(i)] ? 0.0F : 1.0F;
      }
    }
    if (counts_in_fits_.sum() == 0.0F) { // all that there is
      counts_in_fits_.setOnes();
    }
  }

  /// With a classifier of one's own in the place of those that are chosen.
  Result run(std::shared_ptr<const Classifier> classifier) {
    Stopwatch clock;
    const auto timed = [&](double &seconds, const auto &work) {
      const double before = clock.seconds_while_paused();
      clock.start();
      work();
      clock.pause();
      seconds = clock.seconds_while_paused() - before;
      refuse_if_interrupted(options_.interrupt);
    };
    timed(result_.timings.choice, [&] { choose(std::move(classifier)); });
    timed(result_.timings.trusted_model, [&] { fit_trusted(); });
    timed(result_.timings.bilevel, [&] { weigh_sources(); });
    timed(result_.timings.rounds, [&] {
      judge_in_rounds();
      give_verdict();
    });
    timed(result_.timings.final_model, [&] { fit_final(); });
    return std::move(result_);
  }

private:
  /// What one way of judging rows has come to, but for what its models say of the training rows: a number for each row
  /// and class is much memory, and they can say it again.
  struct PutAside {
    std::vector<OutOfFold> fitted;
    Eigen::VectorXd pooling;
  };

  [[nodiscard]] Index rows() const { return training_.rows(); }
  [[nodiscard]] std::span<const std::uint32_t> given() const { return *training_.samples.labels; }
  [[nodiscard]] bool has_sources() const { return !options_.sources.of_row.empty(); }
  void tell(const std::string &what) const {
    if (options_.tell) {
      options_.tell(what);
    }
  }

  void choose(std::shared_ptr<const Classifier> classifier) {
    tell("choosing what models see of the features");
    if (classifier) {
      MappedSamples samples(training_, trusted_, *training_.samples.features);
      chosen_.push_back(
          {Learner(std::move(classifier), robust_map(*training_.samples.features, options_.pixels), samples), {}, 0.0});
      remember(chosen_.front().learner);
      const Learner &learner = chosen_.front().learner;
      const Tried tried = try_penalties(learner, lesson(learner.classifier().plan().at_first),
                                        learner.classifier().plan().penalties, 1);
      chosen_.front().fitness = tried.fitness;
      chosen_.front().rho = tried.rho;
      result_.seen_as.emplace_back("a network");
    } else {
      chosen_ = choose_learners(training_, trusted_, classes_, options_);
      for (auto &chosen : chosen_) {
        result_.seen_as.push_back(chosen.learner.sight().name());
        remember(chosen.learner);
      }
    }
    fitted_.resize(chosen_.size());
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      fitted_[i].rho = chosen_[i].rho;
    }
  }

  /// Fits of a learner are written down from now on.
  void remember(Learner &learner) const {
    if (options_.journal != nullptr) {
      learner.replace_classifier(remembering(learner.shared_classifier(), *options_.journal));
    }
  }

  [[nodiscard]] Lesson lesson(std::int64_t iterations) const {
    return {.iterations = iterations, .interrupt = options_.interrupt};
  }

  void fit_trusted() {
    if (trusted_.rows() == 0) {
      return;
    }
    tell("fitting a model to the trusted rows alone");
    for (const auto &chosen : chosen_) { // few rows may want another one than many
      auto fitted = fit_trusted_alone(chosen.learner, right_, classes_, options_.interrupt);
      if (!of_trusted_ || mean_loss(fitted.trusted, right_) < mean_loss(of_trusted_->trusted, right_)) {
        of_trusted_ = std::move(fitted);
        result_.trusted_only = written(chosen.learner, of_trusted_->model);
      }
    }
    result_.trusted_model_says = predicted(of_trusted_->training);
    result_.trusted_model_confidence =
        static_cast<double>(of_trusted_->training.rowwise().maxCoeff().array().exp().mean());
    if (trusted_classes_.size() > 1) {
      result_.trusted_model_agreement = agreement_of(predicted(of_trusted_->trusted), right_, classes_).beyond_chance();
    }
    for (Matrix *scores : {&of_trusted_->training, &of_trusted_->trusted}) {
      say_nothing_of_unknown_classes(*scores);
    }
  }

  /// A model of the trusted rows has not learnt a class that none of them has: it neither favours nor rejects it.
  void say_nothing_of_unknown_classes(Matrix &scores) const {
    if (static_cast<Index>(trusted_classes_.size()) == classes_) {
      return;
    }
    for (Index i = 0; i < scores.rows(); ++i) {
      float sum = 0.0F;
      for (const auto known : trusted_classes_) {
        sum += scores(i, known);
      }
      for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(classes_); ++k) {
        if (!trusted_classes_.contains(k)) {
          scores(i, k) = sum / static_cast<float>(trusted_classes_.size());
        }
      }
    }
  }

  /// A weight for each source of labels, such that a model of the weighted rows does well on trusted ones.
  void weigh_sources() {
    result_.weight = Vector::Ones(rows());
    constexpr Index least = 8; // of trusted samples, to hold some of them out
    if (!has_sources() || trusted_.rows() < least) {
      return;
    }
    tell("weighing the sources of labels");
    const Learner &learner = chosen_.front().learner;
    constexpr Index most_rows_of_fold = 4000;
    const FoldedSamples training = some_of_each_fold(learner.seen(), most_rows_of_fold);
    SourcesOfRows sources{.of_row = {}, .count = options_.sources.count};
    for (Index fold = 0; fold < training.folds; ++fold) {
      const auto first = options_.sources.of_row.begin() + training_.first(fold);
      sources.of_row.insert(sources.of_row.end(), first, first + training.count(fold));
    }
    const Index held = trusted_.rows() / 4;
    const LabelledSamples &trusted = learner.trusted_seen().samples;
    auto problem = make_source_problem({.training = training.samples,
                                        .sources = std::move(sources),
                                        .used = slice(trusted, held, trusted_.rows() - held),
                                        .held_out = slice(trusted, 0, held),
                                        .classes = classes_,
                                        .rho = chosen_.front().rho,
                                        .threads = options_.threads});
    if (options_.journal != nullptr) {
      problem = remembering(std::move(problem), *options_.journal);
    }
    const Vector x = solve_bilevel(*problem, options_, watch_, result_).x;
    const Vector weights = x.unaryExpr([](float logit) { return 1.0F / (1.0F + std::exp(-logit)); });
    const float largest = weights.maxCoeff();
    for (const float weight : weights) {
      result_.source_weight.push_back(static_cast<double>(weight / largest));
    }
    for (Index i = 0; i < rows(); ++i) {
      result_.weight[i] = weights[static_cast<Index>(options_.sources.of_row[static_cast<std::size_t>(i)])] / largest;
    }
  }

  /// What is believed of the labels before anything is known of how they came about: a part of them is drawn by chance.
  [[nodiscard]] Matrix likelihoods_by_chance(double by_chance) const {
    Matrix out = Matrix::Constant(rows(), classes_, static_cast<float>(by_chance / static_cast<double>(classes_)));
    for (Index i = 0; i < rows(); ++i) {
      out(i, given()[static_cast<std::size_t>(i)]) += static_cast<float>(1.0 - by_chance);
    }
    return out;
  }

  void judge_in_rounds() {
    Eigen::VectorXd first = Eigen::VectorXd::Zero(static_cast<Index>(voices()));
    first[0] = chosen_.front().fitness.sharpness;
    tell("fitting models to the given labels");
    const Vector weights = result_.weight.cwiseProduct(counts_in_fits_);
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      Lesson given_labels = lesson(chosen_[i].learner.classifier().plan().at_first);
      given_labels.weights = &weights;
      fit_folds(chosen_[i].learner, given_labels, fitted_[i]);
    }
    if (options_.others) {
      result_.others_agreement = share_of_equal(predicted(options_.others->training), given());
      result_.own_agreement = share_of_equal(predicted(fitted_.front().training), given());
    }
    likelihoods_ = std::make_shared<const Matrix>(likelihoods_by_chance(chosen_.front().fitness.by_chance));
    pool(first, 1.0);
    see_through_wrong_labels();
    improve(first, 1.0);
    begin_with_trusted_model();
  }

  /// What models say that were fitted to the given labels is how rows are labelled: from here on, what they are.
  void see_through_wrong_labels() {
    const Anchors anchors(beliefs_, given());
    beliefs_ = anchors.beliefs_of_true_classes(beliefs_, options_.interrupt);
    trusted_beliefs_ = anchors.beliefs_of_true_classes(trusted_beliefs_, options_.interrupt);
  }

  /// Rounds from the beliefs as they are.
  void improve(const Eigen::VectorXd &first, double weight_of_trusted) {
    for (std::int64_t round = 1; round <= options_.rounds; ++round) {
      tell(fmt::format("round {} of {}", round, options_.rounds));
      likelihoods_.reset(); // what is not needed makes room for what comes
      likelihoods_ = std::make_shared<const Matrix>(account(Sharpness::as_it_is).likelihoods);
      beliefs_.resize(0, 0);
      for (std::size_t i = 0; i < chosen_.size(); ++i) {
        Lesson now = lesson(chosen_[i].learner.classifier().plan().in_a_round);
        now.likelihoods = likelihoods_;
        now.weights = &counts_in_fits_;
        fit_folds(chosen_[i].learner, now, fitted_[i]);
      }
      pool(first, weight_of_trusted);
      result_.rounds = round;
    }
  }

  /// Where labels are wrong wherever classes meet, models of the given labels draw boundaries in the wrong place, and
  /// rounds from there do not find back. What is believed then is what fits trusted rows much better: the model of the
  /// trusted rows alone, or rounds that begin with it, where it does about as well on them as what was found so far.
  void begin_with_trusted_model() {
    constexpr double much = 6.0; // of the log-likelihood of trusted rows by models that have not seen them
    constexpr Index least = 50;  // trusted rows, for rounds that begin with their model
    if (!pools_trusted()) {
      return;
    }
    const auto fit_to_trusted = [&](const Matrix &log_p) {
      return -static_cast<double>(trusted_.rows()) * mean_loss(log_p, right_);
    };
    const double so_far = fit_to_trusted(trusted_beliefs_);
    const double alone = fit_to_trusted(of_trusted_->trusted);
    if (alone < so_far - much) {
      return;
    }
    Eigen::VectorXd trusted_model = Eigen::VectorXd::Zero(pooling_.size());
    trusted_model[pooling_.size() - 1] = 1.0;
    if (trusted_.rows() >= least && options_.rounds > 0) {
      tell("once more, from the trusted rows");
      PutAside before = put_aside();
      for (std::size_t i = 0; i < fitted_.size(); ++i) {
        fitted_[i].models.assign(fitted_[i].models.size(), chosen_[i].learner.classifier().untrained());
      }
      beliefs_ = of_trusted_->training;
      trusted_beliefs_ = of_trusted_->trusted;
      improve(trusted_model, std::sqrt(static_cast<double>(rows()) / static_cast<double>(trusted_.rows())));
      if (fit_to_trusted(trusted_beliefs_) > std::max(so_far + much, alone)) {
        result_.began_with_trusted = true;
        return;
      }
      go_back_to(std::move(before));
    }
    if (alone > so_far + much) {
      beliefs_ = of_trusted_->training;
      trusted_beliefs_ = of_trusted_->trusted;
      pooling_ = trusted_model;
      result_.began_with_trusted = true;
      trusted_alone_ = true;
    }
  }

  /// Nothing is believed of the training rows after it: go_back_to() has it said again. Beliefs must be what pool()
  /// made of the models, as they are after a round.
  [[nodiscard]] PutAside put_aside() {
    forget_training_beliefs();
    return {fitted_, pooling_};
  }
  void forget_training_beliefs() {
    beliefs_.resize(0, 0);
    for (auto &fitted : fitted_) {
      fitted.training.resize(0, 0);
    }
  }

  void go_back_to(PutAside before) {
    beliefs_.resize(0, 0); // room for what comes, as in a round
    likelihoods_.reset();
    fitted_ = std::move(before.fitted);
    for (std::size_t i = 0; i < fitted_.size(); ++i) {
      judge_folds(chosen_[i].learner, options_.interrupt, fitted_[i]);
    }
    pooling_ = std::move(before.pooling);
    pool_beliefs();
  }

  [[nodiscard]] bool pools_trusted() const {
    return of_trusted_ && trusted_.rows() >= least_trusted_to_pool && trusted_classes_.size() > 1;
  }
  [[nodiscard]] std::size_t voices() const {
    return fitted_.size() + (options_.others ? 1 : 0) + (pools_trusted() ? 1 : 0);
  }

  /// What the models say, of which the pooling takes a share each.
  [[nodiscard]] std::vector<Voice> all_voices() const {
    std::vector<Voice> all;
    for (const auto &fitted : fitted_) {
      all.push_back({&fitted.training, &fitted.trusted});
    }
    if (options_.others) {
      all.push_back({&options_.others->training, &others_of_trusted_});
    }
    if (pools_trusted()) {
      all.push_back({&of_trusted_->training, &of_trusted_->trusted});
    }
    return all;
  }

  void pool(const Eigen::VectorXd &first, double weight_of_trusted) {
    pooling_ = pooling_weights(all_voices(), {*likelihoods_, right_, weight_of_trusted}, first);
    pool_beliefs();
  }

  /// Models are left with what they say of a few rows: a number for each row and class is much memory.
  void pool_beliefs() {
    const auto voices = all_voices();
    std::vector<const Matrix *> training;
    std::vector<const Matrix *> trusted;
    for (std::size_t m = 1; m < voices.size(); ++m) {
      training.push_back(voices[m].training);
      trusted.push_back(voices[m].trusted);
    }
    trusted_beliefs_ = trusted_.rows() > 0 ? pooled(*voices.front().trusted, trusted, pooling_) : Matrix(0, classes_);
    Matrix first = std::move(fitted_.front().training);
    fitted_.front().training = rows_that_tell(first);
    beliefs_ = pooled(std::move(first), training, pooling_);
    for (auto &fitted : fitted_) {
      fitted.training = rows_that_tell(fitted.training);
    }
  }

  [[nodiscard]] LabelAccount account(Sharpness sharpness) const {
    return account_for_labels({.log_p = beliefs_,
                               .labels = given(),
                               .sources = options_.sources.of_row,
                               .source_count = static_cast<std::size_t>(options_.sources.count)},
                              {.log_p = trusted_beliefs_, .labels = right_}, sharpness, options_.interrupt);
  }

  void give_verdict() {
    tell("judging the labels");
    likelihoods_.reset();
    LabelAccount found = account(Sharpness::found);
    likelihoods_ = std::make_shared<const Matrix>(std::move(found.likelihoods));
    result_.noise = std::move(found.noise);
    result_.near_boundaries = found.near_boundaries;
    result_.wrong_by_class = found.wrong_by_class;
    result_.source_right = std::move(found.right_by_source);
    result_.trust.resize(rows());
    result_.probability.resize(rows());
    for (Index i = 0; i < rows(); ++i) {
      const auto label = static_cast<Index>(given()[static_cast<std::size_t>(i)]);
      result_.trust[i] = std::clamp(found.posterior(i, label), 0.0F, 1.0F);
      result_.probability[i] = std::exp(beliefs_(i, label));
    }
    result_.skill = skill();
    constexpr float even_odds = 0.5F;
    const bool is_a_guess = result_.skill < skill_of_a_guess;
    result_.trust_before_doubts = result_.trust;
    if (result_.skill >= little_skill && pools_trusted()) { // where models hardly fit they cannot but disagree
      doubt_labels_near_boundaries(found.posterior);
    }
    result_.suspect_below = options_.threshold > 0.0 ? static_cast<float>(options_.threshold)
                            : is_a_guess             ? even_odds // no F1 is to be expected of a guess
                                                     : threshold_of_best_f1(result_.trust);
    suggest(found.posterior);
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const Learner &learner = chosen_[i].learner;
      double &own = learner.landmarks()                 ? result_.pooling.kernel
                    : learner.classifier().hidden() > 0 ? result_.pooling.network
                                                        : result_.pooling.linear;
      own = pooling_[static_cast<Index>(i)];
    }
    result_.pooling.others = options_.others ? pooling_[static_cast<Index>(fitted_.size())] : 0.0;
    result_.pooling.trusted = pools_trusted() ? pooling_[pooling_.size() - 1] : 0.0;
  }

  /// Trust of rows near boundaries that only trusted rows can tell to be too high.
  void doubt_labels_near_boundaries(const Matrix &posterior) {
    const double wrong = result_.wrong_by_class + result_.near_boundaries;
    result_.disagreement =
        disagreement_of({.log_p = beliefs_, .labels = given()}, {.log_p = trusted_beliefs_, .labels = right_},
                        {.posterior = posterior, .share_by_class = wrong > 0.0 ? result_.wrong_by_class / wrong : 0.0});
    const auto part_wrong = [&] { return 1.0 - result_.trust.cast<double>().mean(); };
    const double before = part_wrong();
    lower_trust(part_taken_for_wrong(result_.disagreement, result_.wrong_by_class), result_.trust);
    result_.doubted = part_wrong() - before;
    result_.near_boundaries += result_.doubted;
  }

  [[nodiscard]] double skill() const {
    return trusted_classes_.size() < 2 ? skill_on_given_labels(beliefs_, *training_.samples.labels)
                                       : std::max(skill_on_right_labels(of_trusted_->trusted, right_),
                                                  skill_on_right_labels(trusted_beliefs_, right_));
  }

  /// The given label where it is trusted, else the most probable other class.
  void suggest(const Matrix &posterior) {
    result_.suggested.assign(given().begin(), given().end());
    for (Index i = 0; i < rows(); ++i) {
      if (result_.trust[i] < result_.suspect_below) {
        Eigen::RowVectorXf others = posterior.row(i);
        others[static_cast<Index>(given()[static_cast<std::size_t>(i)])] = -1.0F;
        Index best = 0;
        (void)others.maxCoeff(&best);
        result_.suggested[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(best);
      }
    }
  }

  /// The learner that fits best now, on all rows. Where the model of the trusted rows alone has judged them, labels go
  /// wrong in a way that no account here knows: then on the rows that are no suspects, as they are labelled.
  void fit_final() {
    tell("fitting the model to all rows");
    std::size_t best = 0;
    double least = infinity;
    for (std::size_t i = 0; i < fitted_.size(); ++i) {
      const double loss = fitness_of(unseen_that_tell(fitted_[i], given(), right_), likelihoods_.get()).loss;
      if (loss < least) {
        least = loss;
        best = i;
      }
    }
    forget_training_beliefs(); // which nothing needs any more
    if (of_trusted_) {
      of_trusted_->training.resize(0, 0);
    }
    const Learner &learner = chosen_[best].learner;
    const OutOfFold &fitted = fitted_[best];
    Lesson last = lesson(learner.classifier().plan().at_last);
    Vector counts = counts_in_fits_;
    last.weights = &counts;
    if (trusted_alone_) {
      likelihoods_.reset();
      counts.array() *= (result_.trust.array() >= result_.suspect_below).cast<float>();
    } else {
      last.likelihoods = likelihoods_;
    }
    result_.rho = fitted.rho;
    Vector model = trusted_alone_ ? learner.classifier().untrained() : fitted.models.front();
    fit_outside(learner, -1, last, result_.rho, model);
    result_.model = written(learner, model);
  }

  [[nodiscard]] FittedModel written(const Learner &learner, const Vector &model) const {
    FittedModel out{.parameters = learner.as_written(model, classes_),
                    .hidden = learner.classifier().hidden(),
                    .columns = learner.rule(),
                    .landmarks = {}};
    if (learner.landmarks()) {
      out.landmarks = learner.landmarks()->rows;
      out.kernel_scale = learner.landmarks()->scale;
    }
    return out;
  }

  const Options &options_;
  const std::function<void(const Look &)> &watch_;
  Index classes_;
  FoldedSamples training_;
  FoldedSamples trusted_; ///< in an order of its own
  std::vector<Index> order_;
  std::vector<std::uint32_t> right_; ///< labels of the trusted samples
  std::set<std::uint32_t> trusted_classes_;
  std::vector<Chosen> chosen_; ///< the best first
  std::vector<OutOfFold> fitted_;
  std::optional<OfTrusted> of_trusted_;
  Matrix others_of_trusted_;                  ///< what others' models believe of the trusted samples
  Vector counts_in_fits_;                     ///< 1, or 0 where a training row is a copy of a trusted one
  bool trusted_alone_ = false;                ///< whether the model of the trusted rows alone judges
  std::shared_ptr<const Matrix> likelihoods_; ///< P(given label | true class), training rows by classes
  Eigen::VectorXd pooling_; ///< of the learners, of others, and of the trusted model, where these have a voice
  Matrix beliefs_;          ///< log p of the true classes, from the features
  Matrix trusted_beliefs_;
  Result result_;
};

/// None: learners are chosen.
std::shared_ptr<const Classifier> classifier_asked_for(const LabelledSamples &training, Index classes,
                                                       const Options &options) {
  if (options.model != ModelKind::mlp) {
    return nullptr;
  }
  const ColumnRule rule{.kind = robust_map(*training.features, options.pixels)};
  return make_network({.features = training.features->columns(),
                       .hidden = options.hidden,
                       .classes = classes,
                       .unit = mean_squared_length(*mapped(rule, training.features)),
                       .device = options.device,
                       .threads = options.threads,
                       .seed = options.seed,
                       .interrupt = options.interrupt});
}

} // namespace

Result clean(const LabelledSamples &training, const LabelledSamples &trusted, Index classes, const Options &options,
             const std::function<void(const Look &)> &watch) {
  require_fitting(training, trusted, classes, options);
  return clean(classifier_asked_for(training, classes, options), training, trusted, classes, options, watch);
}

Result clean(std::shared_ptr<const Classifier> classifier, const LabelledSamples &training,
             const LabelledSamples &trusted, Index classes, const Options &options,
             const std::function<void(const Look &)> &watch) {
  require_fitting(training, trusted, classes, options);
  if (options.journal != nullptr) {
    options.journal->require_same_data(training, trusted, options.others.get());
  }
  return Cleaner(training, trusted, classes, options, watch).run(std::move(classifier));
}

} // namespace duplex::clean
