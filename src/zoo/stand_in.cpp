#include "zoo/stand_in.hpp"

#include "zoo/newton.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <vector>

namespace duplex::zoo {

namespace {

/// φ and ∇φ at one x.
template <class T> struct Place {
  VectorOver<T> x;
  VectorOver<T> y;
  VectorOver<T> gradient;
  T value = T(0);
};

template <class T> class Engineer {
public:
  using Vector = VectorOver<T>;

  Engineer(Model<T> &model, const StandInOptions &options)
      : model_(&model), options_(options), newton_(model), lower_(model.lower_bound()), upper_(model.upper_bound()) {}

  [[nodiscard]] StandInAnswer<T> run(const State<Vector> &start);

private:
  struct Pair {
    Vector step;
    Vector change;
  };

  /// Fills in all but x and a first guess of y; false where y* is not found or something is not finite.
  [[nodiscard]] bool evaluate(Place<T> &place);
  [[nodiscard]] Vector projected_gradient(const Place<T> &place) const {
    return projected<T>(place.gradient, place.x, lower_, upper_);
  }
  [[nodiscard]] Vector direction(const Vector &free_gradient) const;
  [[nodiscard]] bool search(const Place<T> &from, const Vector &along, T first, Place<T> &to);
  void learn(const Place<T> &from, const Place<T> &to);

  Model<T> *model_;
  StandInOptions options_;
  Newton<T> newton_;
  Vector lower_;
  Vector upper_;
  std::deque<Pair> pairs_;
  int evaluations_ = 0;
  Vector v_;
  Vector cross_;
};

template <class T> bool Engineer<T>::evaluate(Place<T> &place) {
  ++evaluations_;
  if (!newton_.minimize(place.x, place.y)) {
    return false;
  }
  Vector slope(place.y.size());
  model_->upper_grad_y(slope);
  newton_.solve(slope, v_);
  model_->lower_cross_xy(v_, cross_);
  model_->upper_grad_x(place.gradient);
  place.gradient -= cross_;
  place.value = model_->upper_value();
  return std::isfinite(place.value) && place.gradient.allFinite();
}

/// The two loops of limited-memory BFGS on the free variables: those whose projected gradient is not held back.
template <class T> typename Engineer<T>::Vector Engineer<T>::direction(const Vector &free_gradient) const {
  Vector out = -free_gradient;
  if (pairs_.empty()) {
    return out;
  }
  const auto is_free = (free_gradient.array() != T(0)).template cast<T>();
  std::vector<T> shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    const Vector change = pairs_[i].change.array() * is_free;
    shares[i] = pairs_[i].step.dot(out) / pairs_[i].step.dot(pairs_[i].change);
    out -= shares[i] * change;
  }
  const Pair &last = pairs_.back();
  out *= last.step.dot(last.change) / last.change.squaredNorm();
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Vector step = pairs_[i].step.array() * is_free;
    const T share = pairs_[i].change.dot(out) / pairs_[i].step.dot(pairs_[i].change);
    out += (shares[i] - share) * step;
  }
  return out.dot(free_gradient) < T(0) ? out : Vector(-free_gradient);
}

/// Lengths are halved where φ does not fall enough or is not finite, and grow where it still falls steeply, until both
/// conditions of Wolfe hold or the bracket is used up. Along the bounds only the first is asked for.
template <class T> bool Engineer<T>::search(const Place<T> &from, const Vector &along, T first, Place<T> &to) {
  constexpr int most_trials = 40;
  const T rounding = T(10) * Eigen::NumTraits<T>::epsilon() * std::abs(from.value);
  T length = first;
  T low = T(0);
  T high = std::numeric_limits<T>::infinity();
  bool found = false;
  Place<T> trial;
  for (int i = 0; i < most_trials; ++i) {
    trial.x = (from.x + length * along).cwiseMax(lower_).cwiseMin(upper_);
    trial.y = from.y;
    const Vector moved = trial.x - from.x;
    const bool fell = evaluate(trial) && trial.value <= from.value + T(1e-4) * from.gradient.dot(moved) + rounding;
    if (!fell) {
      high = length;
    } else {
      if (!found || trial.value <= to.value) {
        to = trial;
        found = true;
      }
      low = length;
      const bool was_cut = !moved.isApprox(length * along);
      if (was_cut || trial.gradient.dot(along) >= T(0.9) * from.gradient.dot(along)) {
        return true;
      }
    }
    if (found && high - low <= T(1e-3) * high && high < std::numeric_limits<T>::infinity()) {
      return true;
    }
    length = high < std::numeric_limits<T>::infinity() ? T(0.5) * (low + high) : T(2) * length;
  }
  return found;
}

template <class T> void Engineer<T>::learn(const Place<T> &from, const Place<T> &to) {
  Pair pair{to.x - from.x, to.gradient - from.gradient};
  if (pair.step.dot(pair.change) > Eigen::NumTraits<T>::epsilon() * pair.change.squaredNorm()) {
    pairs_.push_back(std::move(pair));
    if (pairs_.size() > static_cast<std::size_t>(options_.pairs)) {
      pairs_.pop_front();
    }
  }
}

template <class T> StandInAnswer<T> Engineer<T>::run(const State<Vector> &start) {
  const auto began = std::chrono::steady_clock::now();
  StandInAnswer<T> answer;
  Place<T> place{start.x, start.y, {}, T(0)};
  const auto end = [&](std::string message, bool converged) {
    answer.x = place.x;
    answer.y = place.y;
    answer.evaluations = evaluations_;
    answer.converged = converged;
    answer.message = std::move(message);
    return answer;
  };
  if (!evaluate(place)) {
    return end("the lower level has no minimizer at the start", false);
  }
  const T first = projected_gradient(place).norm();
  for (; answer.steps <= options_.most_steps; ++answer.steps) {
    const Vector free_gradient = projected_gradient(place);
    const T size = free_gradient.norm();
    answer.ratio = static_cast<double>(first > T(0) ? size / first : T(0));
    if (size <= T(options_.tolerance) * first) {
      return end("the projected gradient is small", true);
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    if (spent.count() > options_.most_seconds) {
      return end("the time is up", false);
    }
    const T length = pairs_.empty() ? std::min(T(1), T(1) / free_gradient.template lpNorm<1>()) : T(1);
    Place<T> next;
    bool moved = search(place, direction(free_gradient), length, next);
    if (!moved && !pairs_.empty()) {
      pairs_.clear();
      moved = search(place, -free_gradient, std::min(T(1), T(1) / free_gradient.template lpNorm<1>()), next);
    }
    if (!moved) {
      return end("no step makes F smaller", false);
    }
    learn(place, next);
    place = std::move(next);
  }
  return end("the steps are used up", false);
}

} // namespace

template <class T>
StandInAnswer<T> stand_in(Model<T> &model, const State<VectorOver<T>> &start, const StandInOptions &options) {
  if (auto direct = model.direct_answer()) {
    StandInAnswer<T> answer;
    answer.x = std::move(direct->x);
    answer.y = std::move(direct->y);
    answer.converged = true;
    answer.message = "solved directly";
    return answer;
  }
  return Engineer<T>(model, options).run(start);
}

template StandInAnswer<float> stand_in(Model<float> &, const State<VectorOver<float>> &, const StandInOptions &);
template StandInAnswer<double> stand_in(Model<double> &, const State<VectorOver<double>> &, const StandInOptions &);
template StandInAnswer<long double> stand_in(Model<long double> &, const State<VectorOver<long double>> &,
                                             const StandInOptions &);

} // namespace duplex::zoo
