#pragma once
// The paper's hyper-cleaning race: FashionMNIST, 5000 training samples with half of their labels
// replaced by random ones, 5000 trusted and 10000 test samples, linear softmax, x by Adam from
// zero, full batches. The paper's goal is a model that is right on 81 % of the test samples; methods get there
// with quite different weights, so that the race goes on until F1 is comparable as well.

#include "experiment/experiment.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::reproduce {

inline constexpr double arrival = 0.81;

struct CleaningMethod {
  std::string_view label;
  std::string_view spec;      ///< without its steps, which are searched for unless it chooses them itself
  double paper_seconds_ratio; ///< over BAGDC's, Table 1; 1 for BAGDC, NaN where the paper has none
  /// Steps between looks at the test samples. Looks are off the clock, but they empty the caches: every step of
  /// milliseconds would pay for its own.
  std::int64_t look_every;

  bool untuned = false; ///< chooses its steps itself

  [[nodiscard]] bool rivals() const { return paper_seconds_ratio > 1.0; }
};

/// BAGDC as in the paper first. The rivals with the paper's T = 100 lower steps; CG and NS as in its Figure 3.
/// Then what Duplex makes of BAGDC: mixed steps through the same evaluations as the rivals', and fused steps; last
/// without any step given.
extern const std::array<CleaningMethod, 10> cleaning_methods;
inline constexpr std::size_t plain_bagdc = 0;
inline constexpr std::size_t mixed_bagdc = 5;
inline constexpr std::size_t fused_bagdc = 6;
inline constexpr std::size_t mixed_fused_bagdc = 7;
inline constexpr std::size_t untuned_bagdc = 8;
inline constexpr std::size_t untuned_fused_bagdc = 9;

/// One split of the data.
class CleaningRace {
public:
  /// Throws InvalidInput where the data are not there.
  CleaningRace(const Settings &settings, std::uint64_t seed);

  struct Limits {
    double seconds = 60.0;
    bool stop_on_arrival = true; ///< with a comparable F1
    std::int64_t every = 1;      ///< step between looks at the test samples, which are off the clock
  };

  /// Metrics of the series: accuracy on the test samples, loss on the trusted ones, F1 of the clean class by x ≥ 0.
  [[nodiscard]] experiment::Series run(const std::string &name, const std::string &spec, const Limits &limits) const;

  [[nodiscard]] const HyperCleaning<float> &problem() const { return *problem_; }
  /// The same for races on the same split.
  [[nodiscard]] const std::string &split_name() const { return split_name_; }

private:
  std::string split_name_;
  const Settings *settings_;
  std::unique_ptr<HyperCleaning<float>> problem_;
  LabelledSamples test_;
  std::vector<bool> wrong_;
};

/// Where a run first had the accuracy.
struct Arrival {
  double seconds = infinity; ///< infinity if it never had
  std::int64_t iterations = 0;
  double f1 = 0.0;
};
inline constexpr double comparable_f1 = 0.86; ///< the paper's is .8706
[[nodiscard]] Arrival arrival_of(const experiment::Series &series, double least_f1);

/// The fastest steps of a small search on a split of its own, α of Adam and β on the grids below: to 81 % with a
/// comparable F1, or to 81 % alone where no steps have both. None of a method that chooses its own.
struct SearchedSteps {
  std::string spec;
  std::string steps; ///< as text for people
  std::vector<std::pair<std::string, double>> tried;
};
inline constexpr std::array<double, 3> searched_alpha{0.1, 0.3, 0.03}; // the likeliest first: it bounds the others
inline constexpr std::array<double, 2> searched_beta{0.3, 0.1};
/// Found once for all experiments of a process that ask with the same race.
[[nodiscard]] SearchedSteps search_steps(const CleaningRace &race, const CleaningMethod &method, double limit,
                                         const Settings &settings);

} // namespace duplex::reproduce
