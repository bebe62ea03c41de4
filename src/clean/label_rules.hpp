#pragma once
// By which rules labels are given, as label_account.hpp has them, and how they are learnt from rows with a model's
// beliefs held fixed: expectation maximization.

#include "clean/regression.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace duplex::clean {

struct UnseenBeliefs;

using ClassRows = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ClassRow = Eigen::Array<double, 1, Eigen::Dynamic>;

/// Bins of margins, by the part of the rows that have a smaller one: finer where labels may be wrong.
inline constexpr std::array<double, 10> margin_bin_edges{0.04, 0.08, 0.12, 0.16, 0.20, 0.25, 0.30, 0.40, 0.50, 0.70};
inline constexpr std::size_t margin_bins = margin_bin_edges.size() + 1;
using Rates = std::array<double, margin_bins>;

/// Between the two most probable classes.
[[nodiscard]] std::vector<double> margins_of(const Matrix &log_p);

/// The bin of each margin among sorted ones.
[[nodiscard]] std::vector<std::size_t> bins_of(const std::vector<double> &margins, const std::vector<double> &sorted);

/// Rows with what does not depend on τ and s.
struct Scored {
  ClassRows scores;
  ClassRows squares;    ///< R²
  ClassRows others;     ///< Σ_{j ≠ k} R_j²
  ClassRows neighbours; ///< r(given | k)
  std::vector<Index> labels;
  std::vector<std::size_t> bins;
  std::vector<std::size_t> sources; ///< all of them 0 where there are none

  Scored(const UnseenBeliefs &all, const std::vector<std::size_t> &bins_of_all, std::span<const Index> which);

  [[nodiscard]] Index count() const { return scores.rows(); }
  [[nodiscard]] Index classes() const { return scores.cols(); }

  /// out = (1 − e)p + e·moved: p is the belief at sharpness τ, and moved what it becomes where every class is called by
  /// its neighbours' names, for the part e of rows that overlap.
  void belief(Index i, double sharpness, double overlap, ClassRow &scratch, ClassRow &out) const;
};

[[nodiscard]] ClassRows beliefs_of(const Scored &rows, double sharpness, const Rates &overlap);

struct Rules {
  std::vector<Eigen::MatrixXd> by_class; ///< C, of each source
  Rates near{};                          ///< ε
};

/// C of counts of true classes and labels, drawn towards noise that is the same for all by one row for each entry.
[[nodiscard]] Eigen::MatrixXd transition_of(const Eigen::MatrixXd &counts);

/// C of each source: drawn, by two rows for each entry, towards labels that are right as often as this source's are,
/// which are themselves drawn towards those of all by two rows.
[[nodiscard]] std::vector<Eigen::MatrixXd> transitions_of(const std::vector<Eigen::MatrixXd> &counts);

/// P(given | k) of a row for every class k.
void likelihood(const Rules &rules, const Scored &rows, Index i, double *out);

/// post_k ∝ p_k P(given | k); returns what it was divided by, P(given).
double weigh(const Rules &rules, const Scored &rows, Index i, const double *p, double *post);

/// Expectation maximization from the rules as they are; the log-likelihood of the given labels.
double learn(const Scored &rows, const ClassRows &beliefs, bool learns_near, int most_rounds,
             const std::atomic<bool> *interrupt, Rules &rules);

} // namespace duplex::clean
