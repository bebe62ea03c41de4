#pragma once
// Looks at classes that are not trained on: what a training is watched by, and what they have found so far.

#include "fewshot/torch/tester.hpp"
#include "fewshot/training.hpp"

#include <duplex/run/observer.hpp>

#include <vector>

namespace duplex::fewshot {

class Looks final : public Observer<Tensors> {
public:
  /// At the same tasks every time.
  Looks(Tester &tester, TaskSampler tasks, const Settings &settings, const Hooks &hooks);

  /// Looks at step 0 and every so many steps, which end the training where they are interrupted or reach the target.
  [[nodiscard]] Monitor<Tensors> monitor();
  void observe(const Progress<Tensors> &progress) override;
  [[nodiscard]] const std::vector<Look> &all() const { return all_; }

  void save(SavedState &into) const;
  /// Throws InvalidInput where the saved state holds no looks.
  void restore(const SavedState &from);

private:
  [[nodiscard]] double error();

  Tester *tester_;
  TaskSampler tasks_;
  const Settings *settings_;
  const Hooks *hooks_;
  Evaluation found_; ///< by the look that is going on
  std::vector<Look> all_;
};

} // namespace duplex::fewshot
