#include "clean/label_account.hpp"

#include "clean/beliefs.hpp"
#include "clean/label_rules.hpp"

#include <duplex/core/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>

namespace duplex::clean {

namespace {

constexpr std::array<double, 6> all_sharpnesses{0.5, 0.7, 1.0, 1.4, 2.0, 2.8}; ///< τ
constexpr std::array<double, 1> as_it_is{1.0};
constexpr std::array<double, 5> shares{0.0, 0.25, 0.5, 0.75, 1.0}; ///< s

/// So many rows tell τ, s and what goes with them; C and ε are then learnt from more where there are many classes.
Index rows_of_grid(Index classes) {
  constexpr Index usual = 2000;
  constexpr Index least = 500;
  constexpr Index entries = 200'000; // so that it takes no longer than a second
  return std::min(usual, std::max(least, entries / classes));
}
Index rows_of_rules(Index classes, std::size_t sources) {
  constexpr Index of_a_class = 400;
  constexpr Index entries = 20'000'000;
  const Index wanted = of_a_class * classes * static_cast<Index>(std::min<std::size_t>(sources, 50));
  return std::max(rows_of_grid(classes), std::min(wanted, entries / classes));
}

/// In their order. All of them where there are no more than `most`.
std::vector<Index> some_rows(Index count, Index most) {
  std::vector<Index> out;
  if (count <= most) {
    out.resize(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), Index{0});
    return out;
  }
  std::mt19937_64 generator(13); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same rows for the same data
  const auto drawn =
      draw_few_without_repetition(generator, static_cast<std::size_t>(count), static_cast<std::size_t>(most));
  std::transform(drawn.begin(), drawn.end(), std::back_inserter(out),
                 [](std::size_t i) { return static_cast<Index>(i); });
  std::sort(out.begin(), out.end());
  return out;
}

/// One pair of τ and s.
struct Account {
  double sharpness = 1.0;
  double share = 0.0;
  Rates overlap{}; ///< part of the rows of a bin that overlap
  Rules rules;
  double wrong_by_class = 0.0;
  double score = 0.0; ///< log-likelihood and prior
};

double log_likelihood_of_trusted(const Scored &trusted, const Account &account) {
  const ClassRows beliefs = beliefs_of(trusted, account.sharpness, account.overlap);
  double total = 0.0;
  for (Index i = 0; i < trusted.count(); ++i) {
    total += std::log(beliefs(i, trusted.labels[static_cast<std::size_t>(i)]));
  }
  return total;
}

/// What is believed of τ and s beforehand, in units of the log-likelihood: τ is near one; where labels of the rows near
/// boundaries are wrong by class anyway softness is taken for overlap, and where none is far off, for wrong labels. A
/// trusted row counts as three.
double prior_of(const Account &account, double wrong_by_class_there) {
  constexpr double of_sharpness = 2.0;
  constexpr double for_wrong_labels = 10.0;
  constexpr double against = 85.0;
  constexpr double most = 0.25;
  const double octaves = std::log2(account.sharpness);
  return -of_sharpness * octaves * octaves +
         account.share * (for_wrong_labels - against * std::min(wrong_by_class_there, most));
}

/// Part of the labels of the rows that are wrong by class, where these are the classes' shares.
double wrong_by_class_of(const Scored &rows, const Rules &rules, const ClassRow &class_shares) {
  std::vector<double> right;
  for (const auto &by_class : rules.by_class) {
    right.push_back((class_shares * by_class.diagonal().transpose().array()).sum());
  }
  double sum = 0.0;
  for (const std::size_t source : rows.sources) {
    sum += right[source];
  }
  return 1.0 - sum / static_cast<double>(rows.count());
}

/// The same of the rows near boundaries, each counted as often as its label goes wrong there: a rare class may lose
/// many of its labels where that is few of all.
double wrong_by_class_near_boundaries(const Scored &rows, const ClassRows &beliefs, const Rules &rules,
                                      const Rates &near) {
  double wrong = 0.0;
  double all = 0.0;
  for (Index i = 0; i < rows.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double weight = near[rows.bins[at]];
    const auto right = rules.by_class[rows.sources[at]].diagonal().transpose().array();
    wrong += weight * (1.0 - (beliefs.row(i) * right).sum());
    all += weight;
  }
  return all > 0.0 ? wrong / all : 0.0;
}

std::vector<Account> accounts_of(const Scored &rows, const Scored &trusted, std::span<const double> sharpnesses,
                                 std::size_t sources, const std::atomic<bool> *interrupt) {
  constexpr int rounds = 25;
  constexpr double weight_of_trusted = 3.0;
  constexpr double first_rate = 0.3;
  const Index classes = rows.classes();
  std::vector<Account> out;
  for (const double sharpness : sharpnesses) {
    Rules first;
    Eigen::MatrixXd even = Eigen::MatrixXd::Constant(classes, classes, 0.5 / static_cast<double>(classes));
    even.diagonal().array() += 0.5;
    first.by_class.assign(sources, even);
    for (std::size_t b = 0; b < margin_bins; ++b) {
      first.near[b] = first_rate * (1.0 - static_cast<double>(b) / static_cast<double>(margin_bins - 1));
    }
    (void)learn(rows, beliefs_of(rows, sharpness, {}), true, rounds, interrupt, first);
    for (const double share : shares) {
      Account account{.sharpness = sharpness, .share = share, .rules = first};
      for (std::size_t b = 0; b < margin_bins; ++b) {
        account.overlap[b] = (1.0 - share) * first.near[b];
        account.rules.near[b] = share * first.near[b];
      }
      const ClassRows beliefs = beliefs_of(rows, sharpness, account.overlap);
      const double likelihood_of_given = learn(rows, beliefs, share > 0.0, rounds, interrupt, account.rules);
      const ClassRow class_shares = beliefs.colwise().mean();
      account.wrong_by_class = wrong_by_class_of(rows, account.rules, class_shares);
      account.score = likelihood_of_given + weight_of_trusted * log_likelihood_of_trusted(trusted, account) +
                      prior_of(account, wrong_by_class_near_boundaries(rows, beliefs, account.rules, first.near));
      out.push_back(std::move(account));
    }
  }
  return out;
}

/// Leaves those that matter, with scores that sum up to one.
void keep_likely(std::vector<Account> &accounts) {
  constexpr double blunted = 0.5; // rows that are alike are no independent witnesses
  constexpr double too_little = 1e-3;
  const auto sum_of = [&] {
    return std::accumulate(accounts.begin(), accounts.end(), 0.0,
                           [](double so_far, const Account &account) { return so_far + account.score; });
  };
  const double best = std::max_element(accounts.begin(), accounts.end(), [](const auto &a, const auto &b) {
                        return a.score < b.score;
                      })->score;
  for (auto &account : accounts) {
    account.score = std::exp(blunted * (account.score - best));
  }
  double sum = sum_of();
  std::erase_if(accounts, [&](const Account &account) { return account.score < too_little * sum; });
  sum = sum_of();
  for (auto &account : accounts) {
    account.score /= sum;
  }
}

} // namespace

LabelAccount account_for_labels(const UnseenBeliefs &rows, const UnseenBeliefs &trusted, Sharpness sharpness,
                                const std::atomic<bool> *interrupt) {
  constexpr int rounds_with_more = 5;
  constexpr Index rows_of_block = 4096;
  require_finite(rows.log_p);
  require_finite(trusted.log_p);
  const Index count = rows.log_p.rows();
  const Index classes = rows.log_p.cols();
  const auto margins = margins_of(rows.log_p);
  auto sorted = margins;
  std::sort(sorted.begin(), sorted.end());
  const auto bins = bins_of(margins, sorted);
  const Scored anchors(trusted, bins_of(margins_of(trusted.log_p), sorted),
                       some_rows(trusted.log_p.rows(), trusted.log_p.rows()));
  const Scored few(rows, bins, some_rows(count, rows_of_grid(classes)));
  const std::size_t sources = rows.sources.empty() ? 1 : rows.source_count;
  auto accounts =
      accounts_of(few, anchors, sharpness == Sharpness::found ? std::span<const double>(all_sharpnesses) : as_it_is,
                  sources, interrupt);
  keep_likely(accounts);
  if (std::min(count, rows_of_rules(classes, sources)) > few.count()) {
    const Scored more(rows, bins, some_rows(count, rows_of_rules(classes, sources)));
    for (auto &account : accounts) {
      const ClassRows beliefs = beliefs_of(more, account.sharpness, account.overlap);
      (void)learn(more, beliefs, account.share > 0.0, rounds_with_more, interrupt, account.rules);
    }
  }
  LabelAccount out;
  out.posterior.resize(count, classes);
  out.likelihoods.resize(count, classes);
  for (const auto &account : accounts) {
    double near = 0.0;
    for (const std::size_t bin : bins) {
      near += account.rules.near[bin];
    }
    out.near_boundaries += account.score * near / static_cast<double>(count);
    out.wrong_by_class += account.score * account.wrong_by_class;
  }
  std::vector<Eigen::MatrixXd> counts(sources, Eigen::MatrixXd::Zero(classes, classes));
  ClassRow mixed;
  ClassRow told;
  ClassRow one_told(classes);
  ClassRow belief;
  ClassRow scratch;
  ClassRow post(classes);
  std::vector<Index> which;
  for (Index first = 0; first < count; first += rows_of_block) {
    refuse_if_interrupted(interrupt);
    which.resize(static_cast<std::size_t>(std::min(rows_of_block, count - first)));
    std::iota(which.begin(), which.end(), first);
    const Scored block(rows, bins, which);
    for (Index i = 0; i < block.count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      mixed.setZero(classes);
      told.setZero(classes);
      for (const auto &account : accounts) {
        block.belief(i, account.sharpness, account.overlap[block.bins[at]], scratch, belief);
        (void)weigh(account.rules, block, i, belief.data(), post.data());
        mixed += account.score * post;
        likelihood(account.rules, block, i, one_told.data());
        told += account.score * one_told;
      }
      out.posterior.row(first + i) = mixed.matrix().cast<float>();
      out.likelihoods.row(first + i) = told.matrix().cast<float>();
      counts[block.sources[at]].col(block.labels[at]) += mixed.matrix().transpose();
    }
  }
  Eigen::MatrixXd of_all = Eigen::MatrixXd::Zero(classes, classes);
  for (const auto &own : counts) {
    of_all += own;
    if (!rows.sources.empty()) {
      out.right_by_source.push_back(own.sum() > 0.0 ? own.trace() / own.sum() : 1.0);
    }
  }
  out.noise.transition = transition_of(of_all);
  return out;
}

float threshold_of_best_f1(const Vector &trust) {
  std::vector<float> wrong(static_cast<std::size_t>(trust.size()));
  std::transform(trust.begin(), trust.end(), wrong.begin(), [](float t) { return 1.0F - t; });
  std::sort(wrong.begin(), wrong.end(), std::greater<>());
  const double all = std::accumulate(wrong.begin(), wrong.end(), 0.0);
  double called = 0.0;
  double best = 0.0;
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    called += static_cast<double>(wrong[k]);
    best = std::max(best, 2.0 * called / (static_cast<double>(k + 1) + all));
  }
  return std::min(static_cast<float>(1.0 - 0.5 * best), most_trust_of_a_suspect);
}

} // namespace duplex::clean
