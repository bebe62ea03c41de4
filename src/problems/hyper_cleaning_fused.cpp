// BAGDC's step on softmax regression in two passes over the training samples:
//
//   pass 1   probabilities at y⁺, Hessian product with v by the kept scores of v; and, in the
//            same parallel region, the trusted samples' gradient
//   pass 2   scores of v⁺, the slopes d by rows, x moved by rows, and with the new weights the
//            gradient that the next step begins with
//
// With a line search on η, the scores of r come from a pass of their own and those of v⁺ are
// s + η s_r. Mixed steps of y and v leave those lines: then the scores of v⁺ are computed.

#include "softmax/blocks.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

#include <span>
#include <utility>

namespace duplex {

using namespace softmax;

template <class Scalar> struct HyperCleaning<Scalar>::Fused::Impl {
  using T = Scalar;

  explicit Impl(const HyperCleaning &problem)
      : samples(problem.training_), trusted_samples(problem.trusted_), rho(static_cast<T>(problem.rho_)),
        training(*samples.features, static_cast<std::size_t>(problem.classes_)),
        trusted(*trusted_samples.features, static_cast<std::size_t>(problem.classes_)),
        crew(training.shape(), softmax_shares(samples, problem.classes_, problem.threads_)), p(training.shape()),
        p_next(training.shape()), s(training.shape()), y_panel(training.shape()), v_panel(training.shape()),
        r_panel(training.shape()), trusted_panel(trusted.shape()) {}

  [[nodiscard]] const std::uint32_t *labels(std::size_t b) const { return samples.labels->data() + b * block_rows; }

  /// σ(x)/N and σ'(x)/N of a block, with nothing beyond the last sample.
  void weigh(const Vector &x, std::size_t b, std::size_t count, Worker<T> &worker) const {
    const T mean = T(1) / static_cast<T>(training.shape().rows);
    kernel.sigmoid(x.data() + b * block_rows, count, worker.weight.data(), worker.slope.data());
    for (std::size_t i = 0; i < count; ++i) {
      worker.weight.data()[i] *= mean;
      worker.slope.data()[i] *= mean;
    }
    std::fill(worker.weight.data() + count, worker.weight.data() + block_rows, T(0));
  }

  void add_gradient(const BlockOfRows<T> &rows, const T *probabilities, std::size_t b, std::size_t count,
                    Worker<T> &worker) const {
    weigh_residual(probabilities, labels(b), count, worker.weight.data(), training.shape().outputs(),
                   worker.residual.data());
    accumulate(rows, count, training.shape(), worker.residual.data(), worker.sums->lower);
  }

  void add_regularizer(const Vector &at, Vector &out) const {
    if (rho > T(0)) {
      out += rho * at;
    }
  }

  /// Probabilities at y, scores of v, ∇y f(x, y).
  void begin(const State<Vector> &start) {
    const Shape &shape = training.shape();
    y_panel.fold(training, start.y);
    v_panel.fold(training, start.v);
    crew.run([&](Worker<T> &worker, const auto &share) {
      worker.sums->lower.clear();
      share(shape.blocks(), [&](std::size_t b) {
        const std::size_t count = shape.rows_in(b);
        const auto rows = training.load(b, worker.rows.data());
        multiply(training, b, rows, y_panel, p.block(b));
        kernel.softmax(p.block(b), y_panel.bias.data(), shape.outputs(), nullptr);
        multiply(training, b, rows, v_panel, s.block(b));
        weigh(start.x, b, count, worker);
        add_gradient(rows, p.block(b), b, count, worker);
      });
    });
    crew.sum(&Sums<T>::lower).unfold(training, T(1), gradient);
    add_regularizer(start.y, gradient);
  }

  /// Probabilities at y⁺, H v and ∇F there; r = ∇F − H v.
  void pass_at_next_y(const State<Vector> &state) {
    const Shape &shape = training.shape();
    y_panel.fold(training, state.y);
    trusted_panel.fold(trusted, state.y);
    crew.run([&](Worker<T> &worker, const auto &share) {
      worker.sums->lower.clear();
      worker.sums->upper.clear();
      share(shape.blocks(), [&](std::size_t b) {
        const std::size_t count = shape.rows_in(b);
        const auto rows = training.load(b, worker.rows.data());
        multiply(training, b, rows, y_panel, p_next.block(b));
        kernel.softmax(p_next.block(b), y_panel.bias.data(), shape.outputs(), nullptr);
        weigh(state.x, b, count, worker);
        kernel.curve(p_next.block(b), s.block(b), v_panel.bias.data(), worker.weight.data(), shape.outputs(),
                     worker.residual.data());
        accumulate(rows, count, shape, worker.residual.data(), worker.sums->lower);
      });
      const Shape &other = trusted.shape();
      share(other.blocks(), [&](std::size_t b) {
        const std::size_t count = other.rows_in(b);
        const auto rows = trusted.load(b, worker.rows.data());
        multiply(trusted, b, rows, trusted_panel, worker.scores.data());
        kernel.softmax(worker.scores.data(), trusted_panel.bias.data(), other.outputs(), nullptr);
        std::fill_n(worker.weight.data(), block_rows, T(1));
        weigh_residual(worker.scores.data(), trusted_samples.labels->data() + b * block_rows, count,
                       worker.weight.data(), other.outputs(), worker.residual.data());
        accumulate(rows, count, other, worker.residual.data(), worker.sums->upper);
      });
    });
    crew.sum(&Sums<T>::lower).unfold(training, T(1), product);
    add_regularizer(state.v, product);
    crew.sum(&Sums<T>::upper).unfold(trusted, T(1) / static_cast<T>(trusted.shape().rows), residual);
    residual -= product;
  }

  /// The scores of r, and H r.
  void pass_along_residual(const State<Vector> &state) {
    const Shape &shape = training.shape();
    if (!has_r_scores) {
      s_of_r = BlockArray<T>(shape);
      has_r_scores = true;
    }
    r_panel.fold(training, residual);
    crew.run([&](Worker<T> &worker, const auto &share) {
      worker.sums->lower.clear();
      share(shape.blocks(), [&](std::size_t b) {
        const std::size_t count = shape.rows_in(b);
        const auto rows = training.load(b, worker.rows.data());
        multiply(training, b, rows, r_panel, s_of_r.block(b));
        weigh(state.x, b, count, worker);
        kernel.curve(p_next.block(b), s_of_r.block(b), r_panel.bias.data(), worker.weight.data(), shape.outputs(),
                     worker.residual.data());
        accumulate(rows, count, shape, worker.residual.data(), worker.sums->lower);
      });
    });
    crew.sum(&Sums<T>::lower).unfold(training, T(1), product);
    add_regularizer(residual, product);
  }

  /// The scores of v⁺ (by a product, or s + η s_r where those of r are known), d, x⁺ and ∇y f(x⁺, y⁺).
  void pass_along_multiplier(State<Vector> &state, double alpha, const T *eta_of_scores, UpperUpdate<Vector> &move,
                             Vector &d) {
    const Shape &shape = training.shape();
    v_panel.fold(training, state.v);
    move.begin();
    crew.run([&](Worker<T> &worker, const auto &share) {
      worker.sums->lower.clear();
      share(shape.blocks(), [&](std::size_t b) {
        const std::size_t count = shape.rows_in(b);
        const auto rows = training.load(b, worker.rows.data());
        T *scores = s.block(b);
        if (eta_of_scores == nullptr) {
          multiply(training, b, rows, v_panel, scores);
        } else {
          const T *more = s_of_r.block(b);
          for (std::size_t i = 0; i < shape.outputs() * block_rows; ++i) {
            scores[i] += *eta_of_scores * more[i];
          }
        }
        weigh(state.x, b, count, worker);
        slope_along(p.block(b), labels(b), count, scores, v_panel.bias.data(), shape.outputs(), worker.scores.data());
        const auto first = static_cast<Index>(b * block_rows);
        for (std::size_t i = 0; i < count; ++i) {
          d[first + static_cast<Index>(i)] = -worker.slope.data()[i] * worker.scores.data()[i];
        }
        move.move(alpha, d, state.x, first, static_cast<Index>(count));
        weigh(state.x, b, count, worker);
        add_gradient(rows, p_next.block(b), b, count, worker);
      });
    });
    crew.sum(&Sums<T>::lower).unfold(training, T(1), gradient);
    add_regularizer(state.y, gradient);
    std::swap(p, p_next);
  }

  template <class Archive> void archive(Archive &members) {
    members("probabilities", p.all());
    members("scores", s.all());
    members("bias of the scores", std::span<T>(v_panel.bias));
    members("gradient", gradient);
  }

  LabelledSamples samples;
  LabelledSamples trusted_samples;
  T rho;
  RowBlocks<T> training;
  RowBlocks<T> trusted;
  Crew<T> crew;
  BlockArray<T> p;      ///< probabilities at y
  BlockArray<T> p_next; ///< probabilities at y⁺
  BlockArray<T> s;      ///< scores of v, without their bias
  BlockArray<T> s_of_r;
  bool has_r_scores = false;
  Panel<T> y_panel;
  Panel<T> v_panel;
  Panel<T> r_panel;
  Panel<T> trusted_panel;
  Vector gradient; ///< ∇y f(x, y)
  Vector product;
  Vector residual;
  kernels::RowKernels<T> kernel = kernels::row_kernels<T>();
};

template <class Scalar>
HyperCleaning<Scalar>::Fused::Fused(const HyperCleaning &problem) : impl_(std::make_unique<Impl>(problem)) {}
template <class Scalar> HyperCleaning<Scalar>::Fused::Fused(Fused &&) noexcept = default;
template <class Scalar>
typename HyperCleaning<Scalar>::Fused &HyperCleaning<Scalar>::Fused::operator=(Fused &&) noexcept = default;
template <class Scalar> HyperCleaning<Scalar>::Fused::~Fused() = default;

template <class Scalar> void HyperCleaning<Scalar>::Fused::begin(const State<Vector> &start) { impl_->begin(start); }

template <class Scalar>
double HyperCleaning<Scalar>::Fused::step(State<Vector> &s, const StepSizes &steps, const FusedRules<Vector> &rules,
                                          UpperUpdate<Vector> &move, Vector &d) {
  Impl &self = *impl_;
  advance(rules.y_mixing, -steps.beta, self.gradient, s.y);
  self.pass_at_next_y(s);
  double eta = steps.eta;
  Scalar eta_of_scores = 0;
  const bool searches = rules.dual != DualStep::constant;
  if (searches) {
    self.pass_along_residual(s);
    const double rr = dot(self.residual, self.residual);
    eta = rules.relaxation * rules.search->step(rr, dot(self.residual, self.product), rr);
    eta_of_scores = static_cast<Scalar>(eta);
  }
  advance(rules.v_mixing, eta, self.residual, s.v);
  const bool mixes = rules.v_mixing != nullptr;
  self.pass_along_multiplier(s, steps.alpha, searches && !mixes ? &eta_of_scores : nullptr, move, d);
  return eta;
}

template <class Scalar> void HyperCleaning<Scalar>::Fused::archive(StateWriter &members) { impl_->archive(members); }
template <class Scalar> void HyperCleaning<Scalar>::Fused::archive(StateReader &members) { impl_->archive(members); }

template class HyperCleaning<float>::Fused;
template class HyperCleaning<double>::Fused;

} // namespace duplex
