#include "clean/label_account.hpp"

#include <duplex/core/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>

namespace duplex::clean {

namespace {

using ClassRows = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ClassRow = Eigen::Array<double, 1, Eigen::Dynamic>;

/// Bins of margins, by the part of the rows that have a smaller one: finer where labels may be wrong.
constexpr std::array<double, 10> bin_edges{0.04, 0.08, 0.12, 0.16, 0.20, 0.25, 0.30, 0.40, 0.50, 0.70};
constexpr std::size_t bin_count = bin_edges.size() + 1;
using Rates = std::array<double, bin_count>;

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
Index rows_of_rules(Index classes) {
  constexpr Index of_a_class = 400;
  constexpr Index entries = 20'000'000;
  return std::max(rows_of_grid(classes), std::min(of_a_class * classes, entries / classes));
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

std::vector<double> margins_of(const Matrix &log_p) {
  std::vector<double> out(static_cast<std::size_t>(log_p.rows()));
  for (Index i = 0; i < log_p.rows(); ++i) {
    float first = log_p(i, 0);
    float second = -std::numeric_limits<float>::infinity();
    for (Index k = 1; k < log_p.cols(); ++k) {
      second = std::max(second, std::min(first, log_p(i, k)));
      first = std::max(first, log_p(i, k));
    }
    out[static_cast<std::size_t>(i)] = static_cast<double>(first) - static_cast<double>(second);
  }
  return out;
}

/// The bin of each margin among sorted ones.
std::vector<std::size_t> bins_of(const std::vector<double> &margins, const std::vector<double> &sorted) {
  std::vector<std::size_t> out(margins.size());
  for (std::size_t i = 0; i < margins.size(); ++i) {
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), margins[i]) - sorted.begin();
    const double part = static_cast<double>(below) / static_cast<double>(sorted.size());
    out[i] = static_cast<std::size_t>(std::upper_bound(bin_edges.begin(), bin_edges.end(), part) - bin_edges.begin());
  }
  return out;
}

/// Σ_{j ≠ k} v_j for every k, by sums from both ends: the sum of all less v_k would leave nothing where v_k is all but
/// all of it.
void sums_without_own(const ClassRow &values, ClassRow &out) {
  const Index n = values.size();
  out.resize(n);
  double before = 0.0;
  for (Index k = 0; k < n; ++k) {
    out[k] = before;
    before += values[k];
  }
  double after = 0.0;
  for (Index k = n - 1; k >= 0; --k) {
    out[k] += after;
    after += values[k];
  }
}

/// Not below floor/K.
template <class Scores> void softmax(const Scores &scores, double floor, ClassRow &out) {
  out = (scores - scores.maxCoeff()).exp();
  out *= (1.0 - floor) / out.sum();
  out += floor / static_cast<double>(out.size());
}

/// Rows with what does not depend on τ and s.
struct Scored {
  ClassRows scores;
  ClassRows squares;    ///< R²
  ClassRows others;     ///< Σ_{j ≠ k} R_j²
  ClassRows neighbours; ///< r(given | k)
  std::vector<Index> labels;
  std::vector<std::size_t> bins;

  Scored(const UnseenBeliefs &all, const std::vector<std::size_t> &bins_of_all, std::span<const Index> which) {
    constexpr double floor = 1e-4;
    const auto count = static_cast<Index>(which.size());
    scores.resize(count, all.log_p.cols());
    squares = others = neighbours = scores;
    ClassRow belief;
    ClassRow sums;
    for (Index i = 0; i < count; ++i) {
      const Index from = which[static_cast<std::size_t>(i)];
      const auto given = static_cast<Index>(all.labels[static_cast<std::size_t>(from)]);
      labels.push_back(given);
      bins.push_back(bins_of_all[static_cast<std::size_t>(from)]);
      scores.row(i) = all.log_p.row(from).cast<double>().array();
      softmax(scores.row(i), floor, belief);
      squares.row(i) = belief.square();
      sums_without_own(squares.row(i), sums);
      others.row(i) = sums;
      neighbours.row(i) = squares(i, given) / sums;
      neighbours(i, given) = 0.0;
    }
  }
  [[nodiscard]] Index count() const { return scores.rows(); }
  [[nodiscard]] Index classes() const { return scores.cols(); }

  /// out = (1 − e)p + e·moved: p is the belief at sharpness τ, and moved what it becomes where every class is called by
  /// its neighbours' names, for the part e of rows that overlap.
  void belief(Index i, double sharpness, double overlap, ClassRow &scratch, ClassRow &out) const {
    constexpr double floor = 1e-3;
    softmax(sharpness * scores.row(i), floor, out);
    if (overlap > 0.0) {
      sums_without_own(out / others.row(i), scratch);
      out = (1.0 - overlap) * out + overlap * squares.row(i) * scratch;
      out /= out.sum();
    }
  }
};

struct Rules {
  Eigen::MatrixXd by_class; ///< C
  Rates near{};             ///< ε
};

/// post_k ∝ p_k P(given | k); returns what it was divided by, P(given).
double weigh(const Rules &rules, const Scored &rows, Index i, const double *p, double *post) {
  const auto at = static_cast<std::size_t>(i);
  const double near = rules.near[rows.bins[at]];
  const double *by_class = &rules.by_class(0, rows.labels[at]);
  const double *neighbours = &rows.neighbours(i, 0);
  const Index classes = rows.classes();
  double sum = 0.0;
  for (Index k = 0; k < classes; ++k) {
    post[k] = p[k] * ((1.0 - near) * by_class[k] + near * neighbours[k]);
    sum += post[k];
  }
  const double evidence = std::max(sum, 1e-300);
  for (Index k = 0; k < classes; ++k) {
    post[k] /= evidence;
  }
  return evidence;
}

/// The nearest rates that do not grow with the margin, by pooling neighbours that do.
void make_decreasing(const std::array<double, bin_count> &weights, Rates &rates) {
  struct Block {
    double mean;
    double weight;
    std::size_t size;
  };
  std::vector<Block> blocks;
  for (std::size_t b = 0; b < bin_count; ++b) {
    blocks.push_back({rates[b], weights[b], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean < blocks.back().mean) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block &into = blocks.back();
      into.mean = (into.mean * into.weight + last.mean * last.weight) / (into.weight + last.weight);
      into.weight += last.weight;
      into.size += last.size;
    }
  }
  std::size_t b = 0;
  for (const Block &block : blocks) {
    for (std::size_t i = 0; i < block.size; ++i) {
      rates[b++] = block.mean;
    }
  }
}

/// C of counts of true classes and labels, drawn towards noise that is the same for all by one row for each entry.
Eigen::MatrixXd transition_of(const Eigen::MatrixXd &counts) {
  const auto classes = static_cast<double>(counts.rows());
  const double right = std::clamp(counts.trace() / std::max(counts.sum(), 1e-300), 1e-6, 1.0 - 1e-6);
  Eigen::MatrixXd out = counts;
  out.array() += classes * (1.0 - right) / (classes - 1.0);
  out.diagonal().array() += classes * (right - (1.0 - right) / (classes - 1.0));
  out.array().colwise() /= out.rowwise().sum().array();
  return out;
}

/// Expectation maximization from the rules as they are; the log-likelihood of the given labels.
double learn(const Scored &rows, const ClassRows &beliefs, bool learns_near, int most_rounds,
             const std::atomic<bool> *interrupt, Rules &rules) {
  constexpr double settled = 1e-6; // of the log-likelihood, by a round
  constexpr double largest_rate = 0.98;
  const Index classes = rows.classes();
  double before = -std::numeric_limits<double>::infinity();
  double total = 0.0;
  ClassRow post(classes);
  for (int round = 0; round < most_rounds; ++round) {
    refuse_if_interrupted(interrupt);
    Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(classes, classes);
    Rates sums{};
    Rates sizes{};
    total = 0.0;
    for (Index i = 0; i < rows.count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::size_t bin = rows.bins[at];
      const double *p = &beliefs(i, 0);
      const double evidence = weigh(rules, rows, i, p, post.data());
      total += std::log(evidence);
      sizes[bin] += 1.0;
      double *counted = &counts(0, rows.labels[at]);
      for (Index k = 0; k < classes; ++k) {
        const double near = p[k] * rules.near[bin] * rows.neighbours(i, k) / evidence;
        sums[bin] += near;
        counted[k] += post[k] - near;
      }
    }
    rules.by_class = transition_of(counts);
    if (learns_near) {
      Rates weights{};
      for (std::size_t b = 0; b < bin_count; ++b) {
        weights[b] = sizes[b] + 1.0;
        rules.near[b] = std::min(sums[b] / weights[b], largest_rate);
      }
      make_decreasing(weights, rules.near);
    }
    if (total - before < settled * std::abs(total)) {
      break;
    }
    before = total;
  }
  return total;
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

ClassRows beliefs_of(const Scored &rows, double sharpness, const Rates &overlap) {
  ClassRows out(rows.count(), rows.classes());
  ClassRow scratch;
  ClassRow belief;
  for (Index i = 0; i < rows.count(); ++i) {
    rows.belief(i, sharpness, overlap[rows.bins[static_cast<std::size_t>(i)]], scratch, belief);
    out.row(i) = belief;
  }
  return out;
}

double log_likelihood_of_trusted(const Scored &trusted, const Account &account) {
  const ClassRows beliefs = beliefs_of(trusted, account.sharpness, account.overlap);
  double total = 0.0;
  for (Index i = 0; i < trusted.count(); ++i) {
    total += std::log(beliefs(i, trusted.labels[static_cast<std::size_t>(i)]));
  }
  return total;
}

/// What is believed of τ and s beforehand, in units of the log-likelihood: τ is near one; where labels are wrong by
/// class anyway softness is taken for overlap, and where none is far off, for wrong labels. A trusted row counts as
/// three.
double prior_of(const Account &account) {
  constexpr double of_sharpness = 2.0;
  constexpr double for_wrong_labels = 10.0;
  constexpr double against = 85.0;
  constexpr double most = 0.25;
  const double octaves = std::log2(account.sharpness);
  return -of_sharpness * octaves * octaves +
         account.share * (for_wrong_labels - against * std::min(account.wrong_by_class, most));
}

std::vector<Account> accounts_of(const Scored &rows, const Scored &trusted, std::span<const double> sharpnesses,
                                 const std::atomic<bool> *interrupt) {
  constexpr int rounds = 25;
  constexpr double weight_of_trusted = 3.0;
  constexpr double first_rate = 0.3;
  const Index classes = rows.classes();
  std::vector<Account> out;
  for (const double sharpness : sharpnesses) {
    Rules first;
    first.by_class = Eigen::MatrixXd::Constant(classes, classes, 0.5 / static_cast<double>(classes));
    first.by_class.diagonal().array() += 0.5;
    for (std::size_t b = 0; b < bin_count; ++b) {
      first.near[b] = first_rate * (1.0 - static_cast<double>(b) / static_cast<double>(bin_count - 1));
    }
    (void)learn(rows, beliefs_of(rows, sharpness, {}), true, rounds, interrupt, first);
    for (const double share : shares) {
      Account account{.sharpness = sharpness, .share = share, .rules = first};
      for (std::size_t b = 0; b < bin_count; ++b) {
        account.overlap[b] = (1.0 - share) * first.near[b];
        account.rules.near[b] = share * first.near[b];
      }
      const ClassRows beliefs = beliefs_of(rows, sharpness, account.overlap);
      const double likelihood_of_given = learn(rows, beliefs, share > 0.0, rounds, interrupt, account.rules);
      const ClassRow class_shares = beliefs.colwise().mean();
      account.wrong_by_class = 1.0 - (class_shares * account.rules.by_class.diagonal().transpose().array()).sum();
      account.score =
          likelihood_of_given + weight_of_trusted * log_likelihood_of_trusted(trusted, account) + prior_of(account);
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
  if (!rows.log_p.allFinite() || !trusted.log_p.allFinite()) {
    throw NotAvailable("a model's belief of a row is NaN or infinite: the features may be too large for floats");
  }
  const Index count = rows.log_p.rows();
  const Index classes = rows.log_p.cols();
  const auto margins = margins_of(rows.log_p);
  auto sorted = margins;
  std::sort(sorted.begin(), sorted.end());
  const auto bins = bins_of(margins, sorted);
  const Scored anchors(trusted, bins_of(margins_of(trusted.log_p), sorted),
                       some_rows(trusted.log_p.rows(), trusted.log_p.rows()));
  const Scored few(rows, bins, some_rows(count, rows_of_grid(classes)));
  auto accounts = accounts_of(
      few, anchors, sharpness == Sharpness::found ? std::span<const double>(all_sharpnesses) : as_it_is, interrupt);
  keep_likely(accounts);
  if (std::min(count, rows_of_rules(classes)) > few.count()) {
    const Scored more(rows, bins, some_rows(count, rows_of_rules(classes)));
    for (auto &account : accounts) {
      const ClassRows beliefs = beliefs_of(more, account.sharpness, account.overlap);
      (void)learn(more, beliefs, account.share > 0.0, rounds_with_more, interrupt, account.rules);
    }
  }
  LabelAccount out;
  out.posterior.resize(count, classes);
  for (const auto &account : accounts) {
    double near = 0.0;
    for (const std::size_t bin : bins) {
      near += account.rules.near[bin];
    }
    out.near_boundaries += account.score * near / static_cast<double>(count);
    out.wrong_by_class += account.score * account.wrong_by_class;
  }
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(classes, classes);
  ClassRow mixed;
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
      for (const auto &account : accounts) {
        block.belief(i, account.sharpness, account.overlap[block.bins[at]], scratch, belief);
        (void)weigh(account.rules, block, i, belief.data(), post.data());
        mixed += account.score * post;
      }
      out.posterior.row(first + i) = mixed.matrix().cast<float>();
      counts.col(block.labels[at]) += mixed.matrix().transpose();
    }
  }
  out.noise.transition = transition_of(counts);
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
