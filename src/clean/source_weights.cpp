#include "clean/source_weights.hpp"

#include "catalog/catalog.hpp"
#include "clean/beliefs.hpp"
#include "clean/bilevel_run.hpp"
#include "clean/source_problem.hpp"

#include <duplex/measure/curvature.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace duplex::clean {

SourceWeighting::SourceWeighting(HyperCleaning<float> rows, SourcesOfRows sources)
    : rows_(std::move(rows)), sources_(std::make_shared<const SourcesOfRows>(std::move(sources))) {
  if (static_cast<Index>(sources_->of_row.size()) != rows_.x_size()) {
    throw InvalidInput(fmt::format("{} sources for {} training samples, expected one for each", sources_->of_row.size(),
                                   rows_.x_size()));
  }
  for (const auto source : sources_->of_row) {
    if (static_cast<Index>(source) >= sources_->count) {
      throw InvalidInput(
          fmt::format("source {} of a training sample, expected less than their number, {}", source, sources_->count));
    }
  }
}

SourceWeighting::Lower::Lower(const SourceWeighting &problem)
    : rows_(problem.rows_.lower()), sources_(problem.sources_.get()), of_rows_(problem.rows_.x_size()) {}

void SourceWeighting::Lower::at(const Vector &x, const Vector &y) {
  for (std::size_t i = 0; i < sources_->of_row.size(); ++i) {
    of_rows_[static_cast<Index>(i)] = x[static_cast<Index>(sources_->of_row[i])];
  }
  rows_.at(of_rows_, y);
}

/// The derivative by x_s is the sum of those by its rows' weights.
void SourceWeighting::Lower::cross_xy(const Vector &v, Vector &out) {
  rows_.cross_xy(v, slopes_);
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(sources_->count);
  for (std::size_t i = 0; i < sources_->of_row.size(); ++i) {
    sums[static_cast<Index>(sources_->of_row[i])] += static_cast<double>(slopes_[static_cast<Index>(i)]);
  }
  out = sums.cast<float>();
}

State<SourceWeighting::Vector> SourceWeighting::start() const {
  return {Vector::Zero(x_size()), Vector::Zero(y_size()), Vector::Zero(y_size())};
}

namespace {

class SourceBilevel final : public BilevelProblem {
public:
  explicit SourceBilevel(const SourceProblemSettings &settings)
      : problem_(
            HyperCleaning<float>(settings.training, settings.used, settings.classes, settings.rho, settings.threads),
            settings.sources),
        held_out_(settings.held_out) {}

  /// At the classes' shares.
  [[nodiscard]] double curvature() const override {
    return largest_curvature(problem_, problem_.start().x, class_priors());
  }

  [[nodiscard]] BilevelAnswer solve(const BilevelRequest &request) const override {
    auto solver = catalog::make_solver(request.solver);
    solver->set_unless_pinned(request.defaults);
    const Index classes = problem_.rows().classes();
    Loss held(held_out_, classes, problem_.rows().threads());
    Loss upper(problem_.rows().trusted(), classes, problem_.rows().threads());
    const Vector held_weights = Vector::Constant(held.rows(), 1.0F / static_cast<float>(held.rows()));
    const Vector used_weights = Vector::Constant(upper.rows(), 1.0F / static_cast<float>(upper.rows()));
    const auto measure = [&](const State<Vector> &state) {
      held.at(state.y);
      upper.at(state.y);
      return Measured{.held_out_loss = held.value(held_weights),
                      .trusted_loss = upper.value(used_weights),
                      .held_out_accuracy = share_of_equal(predicted(held.probabilities()), *held_out_.labels),
                      .suspects = static_cast<Index>((state.x.array() < 0.0F).count())};
    };
    auto state = problem_.start();
    auto answer = run_bilevel<Vector>(request, measure, [&](const auto &options, const auto &monitor) {
      return solver->run(catalog::FloatProblem(problem_), state, options, monitor);
    });
    answer.solver = catalog::spec_text(solver->name(), solver->options());
    answer.x = std::move(state.x);
    answer.model = std::move(state.y);
    return answer;
  }

private:
  /// Biases at the logarithms of the classes' shares: where a run is soon, and the curvature larger than at zero.
  [[nodiscard]] Vector class_priors() const {
    const Index classes = problem_.rows().classes();
    Vector y = Vector::Zero(problem_.y_size());
    const Index stride = y.size() / classes;
    Eigen::VectorXd counts = Eigen::VectorXd::Ones(classes);
    for (const auto label : *problem_.rows().training().labels) {
      counts[static_cast<Index>(label)] += 1.0;
    }
    for (Index k = 0; k < classes; ++k) {
      y[(k + 1) * stride - 1] = static_cast<float>(std::log(counts[k] / counts.sum()));
    }
    return y;
  }

  SourceWeighting problem_;
  LabelledSamples held_out_;
};

} // namespace

std::unique_ptr<BilevelProblem> make_source_problem(const SourceProblemSettings &settings) {
  return std::make_unique<SourceBilevel>(settings);
}

} // namespace duplex::clean
