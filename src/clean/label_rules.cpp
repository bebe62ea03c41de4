#include "clean/label_rules.hpp"

#include "clean/label_account.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::clean {

namespace {

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
template <class Scores> void floored_softmax(const Scores &scores, double floor, ClassRow &out) {
  out = (scores - scores.maxCoeff()).exp();
  out *= (1.0 - floor) / out.sum();
  out += floor / static_cast<double>(out.size());
}

/// The nearest rates that do not grow with the margin, by pooling neighbours that do.
void make_decreasing(const Rates &weights, Rates &rates) {
  struct Block {
    double mean;
    double weight;
    std::size_t size;
  };
  std::vector<Block> blocks;
  for (std::size_t b = 0; b < margin_bins; ++b) {
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

/// Labels that are right in the part `right`, and any other one else, as so many rows for each class.
Eigen::MatrixXd alike_for_all(Index classes, double right, double rows) {
  const double wrong = (1.0 - right) / static_cast<double>(classes - 1);
  Eigen::MatrixXd out = Eigen::MatrixXd::Constant(classes, classes, rows * wrong);
  out.diagonal().setConstant(rows * right);
  return out;
}

Eigen::MatrixXd with_rows_that_sum_to_one(Eigen::MatrixXd counts) {
  counts.array().colwise() /= counts.rowwise().sum().array();
  return counts;
}

double within_reason(double right) { return std::clamp(right, 1e-6, 1.0 - 1e-6); }

} // namespace

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

std::vector<std::size_t> bins_of(const std::vector<double> &margins, const std::vector<double> &sorted) {
  std::vector<std::size_t> out(margins.size());
  for (std::size_t i = 0; i < margins.size(); ++i) {
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), margins[i]) - sorted.begin();
    const double part = static_cast<double>(below) / static_cast<double>(sorted.size());
    out[i] = static_cast<std::size_t>(std::upper_bound(margin_bin_edges.begin(), margin_bin_edges.end(), part) -
                                      margin_bin_edges.begin());
  }
  return out;
}

Scored::Scored(const UnseenBeliefs &all, const std::vector<std::size_t> &bins_of_all, std::span<const Index> which) {
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
    sources.push_back(all.sources.empty() ? 0 : all.sources[static_cast<std::size_t>(from)]);
    scores.row(i) = all.log_p.row(from).cast<double>().array();
    floored_softmax(scores.row(i), floor, belief);
    squares.row(i) = belief.square();
    sums_without_own(squares.row(i), sums);
    others.row(i) = sums;
    neighbours.row(i) = squares(i, given) / sums;
    neighbours(i, given) = 0.0;
  }
}

void Scored::belief(Index i, double sharpness, double overlap, ClassRow &scratch, ClassRow &out) const {
  constexpr double floor = 1e-3;
  floored_softmax(sharpness * scores.row(i), floor, out);
  if (overlap > 0.0) {
    sums_without_own(out / others.row(i), scratch);
    out = (1.0 - overlap) * out + overlap * squares.row(i) * scratch;
    out /= out.sum();
  }
}

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

Eigen::MatrixXd transition_of(const Eigen::MatrixXd &counts) {
  const double right = within_reason(counts.trace() / std::max(counts.sum(), 1e-300));
  return with_rows_that_sum_to_one(counts + alike_for_all(counts.rows(), right, static_cast<double>(counts.rows())));
}

std::vector<Eigen::MatrixXd> transitions_of(const std::vector<Eigen::MatrixXd> &counts) {
  if (counts.size() == 1) {
    return {transition_of(counts.front())};
  }
  constexpr double rows_of_prior = 2.0;
  double right = 0.0;
  double all = 0.0;
  for (const auto &own : counts) {
    right += own.trace();
    all += own.sum();
  }
  right /= std::max(all, 1e-300);
  std::vector<Eigen::MatrixXd> out;
  for (const auto &own : counts) {
    const double of_source = (own.trace() + rows_of_prior * right) / (own.sum() + rows_of_prior);
    out.push_back(with_rows_that_sum_to_one(
        own + alike_for_all(own.rows(), within_reason(of_source), rows_of_prior * static_cast<double>(own.rows()))));
  }
  return out;
}

void likelihood(const Rules &rules, const Scored &rows, Index i, double *out) {
  const auto at = static_cast<std::size_t>(i);
  const double near = rules.near[rows.bins[at]];
  const double *by_class = &rules.by_class[rows.sources[at]](0, rows.labels[at]);
  const double *neighbours = &rows.neighbours(i, 0);
  for (Index k = 0; k < rows.classes(); ++k) {
    out[k] = (1.0 - near) * by_class[k] + near * neighbours[k];
  }
}

double weigh(const Rules &rules, const Scored &rows, Index i, const double *p, double *post) {
  likelihood(rules, rows, i, post);
  const Index classes = rows.classes();
  double sum = 0.0;
  for (Index k = 0; k < classes; ++k) {
    post[k] *= p[k];
    sum += post[k];
  }
  const double evidence = std::max(sum, 1e-300);
  for (Index k = 0; k < classes; ++k) {
    post[k] /= evidence;
  }
  return evidence;
}

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
    std::vector<Eigen::MatrixXd> counts(rules.by_class.size(), Eigen::MatrixXd::Zero(classes, classes));
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
      double *counted = &counts[rows.sources[at]](0, rows.labels[at]);
      for (Index k = 0; k < classes; ++k) {
        const double near = p[k] * rules.near[bin] * rows.neighbours(i, k) / evidence;
        sums[bin] += near;
        counted[k] += post[k] - near;
      }
    }
    rules.by_class = transitions_of(counts);
    if (learns_near) {
      Rates weights{};
      for (std::size_t b = 0; b < margin_bins; ++b) {
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

} // namespace duplex::clean
