#include "clean/torch/loss.hpp"

#include <duplex/numerics/lbfgs.hpp>
#include <duplex/torch/memory.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace duplex::clean {

namespace {

/// In units of the samples' root mean squared length: with ReLU, weights of two layers share what one would do, and
/// the least ‖W₁‖² + ‖W₂‖² of a function goes with the inverse of the features' unit, not with its square.
constexpr std::array<double, 4> network_penalties{1e-2, 3e-3, 1e-3, 3e-4};

class Network final : public Classifier {
public:
  explicit Network(const NetworkSettings &settings)
      : settings_(settings), device_(device_named(settings.device)), length_(std::sqrt(settings.unit)) {
    if (settings.threads > 0) {
      at::set_num_threads(settings.threads);
    }
    for (const double penalty : network_penalties) {
      plan_.penalties.push_back(penalty * length_);
    }
    plan_.penalties_of_trusted = plan_.penalties;
    plan_.at_first = 60;
    plan_.in_a_round = 50;
    plan_.at_last = 150;
  }

  [[nodiscard]] const TrainingPlan &plan() const override { return plan_; }
  [[nodiscard]] Index hidden() const override { return settings_.hidden; }

  /// Units see numbers of mean square 1 whatever the features' unit, and scores are small beside one.
  [[nodiscard]] Vector untrained() const override {
    std::mt19937_64 generator(settings_.seed);
    std::normal_distribution<float> normal;
    const Index inputs = settings_.features + 1;
    const Index inner = settings_.hidden * inputs;
    const Index units = settings_.hidden + 1;
    const auto of_features = static_cast<float>(std::sqrt(2.0 / std::max(settings_.unit, 1e-12)));
    const auto of_units = static_cast<float>(std::sqrt(0.01 / static_cast<double>(settings_.hidden)));
    Vector model(inner + settings_.classes * units);
    for (Index i = 0; i < model.size(); ++i) {
      const bool is_bias = i < inner ? i % inputs == inputs - 1 : (i - inner) % units == units - 1;
      model[i] = is_bias ? 0.0F : (i < inner ? of_features : of_units) * normal(generator);
    }
    return model;
  }

  void fit(std::span<const WeightedSamples> parts, const FitOptions &options, Vector &model) const override {
    explaining("network", [&] {
      Tensors y = layers_of(model, settings_, device_);
      const Weighed all = weighed(parts);
      const auto evaluate = [&](const Tensors &at, Tensors &gradient) {
        return loss_of_blocks(all, options, at, gradient);
      };
      (void)minimize_lbfgs(evaluate, y, {.max_iterations = options.iterations, .pairs = 12});
      model = vector_of(y);
    });
    if (!model.allFinite()) {
      throw std::runtime_error("the network's weights are not finite any more");
    }
  }

  [[nodiscard]] Matrix log_probabilities(const LabelledSamples &samples, const Vector &model) const override {
    return explaining("network", [&] {
      const c10::NoGradGuard no_graph;
      const Tensors y = layers_of(model, settings_, device_);
      const auto given = network_samples(samples, settings_.classes, device_);
      Matrix out(given.rows(), settings_.classes);
      for (Index first = 0; first < given.rows(); first += rows_at_once()) {
        refuse_if_interrupted(settings_.interrupt);
        const auto part = given.part(first, std::min(rows_at_once(), given.rows() - first));
        out.middleRows(first, part.rows()) =
            matrix_of(at::log_softmax(scores_of(y.list(), part.features), 1).clamp_min(std::log(1e-7)));
      }
      return out;
    });
  }

private:
  struct Weighed {
    NetworkSamples samples;
    at::Tensor weights; ///< with the sum one
  };

  /// Values of the hidden layer in memory at once.
  [[nodiscard]] Index rows_at_once() const {
    constexpr Index values = Index{1} << 23U;
    return std::max<Index>(64, values / settings_.hidden);
  }

  [[nodiscard]] Weighed weighed(std::span<const WeightedSamples> parts) const {
    std::vector<at::Tensor> features;
    std::vector<at::Tensor> likelihoods;
    std::vector<at::Tensor> weights;
    for (const auto &part : parts) {
      auto samples = network_samples(part.samples, settings_.classes, device_);
      if (part.likelihoods != nullptr) {
        samples.likelihoods =
            tensor_of(Matrix(part.likelihoods->middleRows(part.first_likelihood, part.weights.size())), device_);
      }
      const auto own = tensor_of(part.weights, device_);
      const auto used = own.nonzero().squeeze(1);
      features.push_back(samples.features.index_select(0, used));
      likelihoods.push_back(samples.likelihoods.index_select(0, used));
      weights.push_back(own.index_select(0, used));
    }
    const auto all = at::cat(weights);
    return {{at::cat(features), at::cat(likelihoods)}, all / all.sum()};
  }

  /// Σ w_i ℓ_i + penalty and its gradient, by blocks of samples.
  [[nodiscard]] double loss_of_blocks(const Weighed &all, const FitOptions &options, const Tensors &at,
                                      Tensors &gradient) const {
    const c10::AutoGradMode with_graph(true);
    std::vector<at::Tensor> y;
    for (const auto &tensor : at) {
      y.push_back(tensor.detach().requires_grad_(true));
    }
    double value = 0.0;
    set_zero(gradient);
    const auto add = [&](const at::Tensor &loss) {
      value += loss.item<double>();
      const auto slopes = torch::autograd::grad({loss}, y, {}, false, false, true);
      for (std::size_t i = 0; i < slopes.size(); ++i) {
        if (slopes[i].defined()) {
          gradient[i].add_(slopes[i]);
        }
      }
    };
    add(penalty_of(y, options.rho));
    for (Index first = 0; first < all.samples.rows(); first += rows_at_once()) {
      refuse_if_interrupted(options.interrupt);
      const auto part = all.samples.part(first, std::min(rows_at_once(), all.samples.rows() - first));
      add(losses_of(y, part).dot(all.weights.narrow(0, first, part.rows())));
    }
    return value;
  }

  NetworkSettings settings_;
  at::Device device_;
  double length_; ///< root mean squared, of the samples
  TrainingPlan plan_;
};

} // namespace

void require_network_device(const std::string &name) { (void)device_named(name); }

std::unique_ptr<Classifier> make_network(const NetworkSettings &settings) {
  return std::make_unique<Network>(settings);
}

} // namespace duplex::clean
