#include "clean/pooling.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <utility>

namespace duplex::clean {

namespace {

constexpr double strength_of_first = 2.0;

struct Slope {
  double value = 0.0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

/// Adds −weight log Σ_k softmax(G)_k L_k of one row and its derivatives; z has a column for each voice.
void add_row(const Eigen::MatrixXd &z, const Eigen::ArrayXd &likelihood, double weight, const Eigen::VectorXd &a,
             Slope &slope) {
  constexpr double least = 1e-30;
  Eigen::ArrayXd p = (z * a).array();
  p = (p - p.maxCoeff()).exp();
  p /= p.sum();
  Eigen::ArrayXd q = p * likelihood;
  const double evidence = std::max(q.sum(), least);
  q /= evidence;
  const Eigen::VectorXd mean = z.transpose() * p.matrix();
  slope.value -= weight * std::log(evidence);
  slope.gradient += weight * (mean - z.transpose() * q.matrix());
  slope.hessian += weight * (z.transpose() * p.matrix().asDiagonal() * z - mean * mean.transpose());
}

Slope slope_at(std::span<const Voice> voices, const PooledLabels &labels, const Eigen::VectorXd &first,
               const Eigen::VectorXd &a) {
  constexpr Index enough = 3000;
  const Index rows = labels.likelihoods.rows();
  const Index classes = labels.likelihoods.cols();
  const Index step = std::max<Index>(1, rows / enough);
  const Index count = a.size();
  Slope slope{.value = strength_of_first * (a - first).squaredNorm(),
              .gradient = 2.0 * strength_of_first * (a - first),
              .hessian = 2.0 * strength_of_first * Eigen::MatrixXd::Identity(count, count)};
  Eigen::MatrixXd z(classes, count);
  for (Index i = 0; i < rows; i += step) {
    for (Index m = 0; m < count; ++m) {
      z.col(m) = voices[static_cast<std::size_t>(m)].training->row(i).transpose().cast<double>();
    }
    add_row(z, labels.likelihoods.row(i).transpose().cast<double>().array(), 1.0, a, slope);
  }
  for (std::size_t i = 0; i < labels.right.size(); ++i) {
    for (Index m = 0; m < count; ++m) {
      z.col(m) = voices[static_cast<std::size_t>(m)].trusted->row(static_cast<Index>(i)).transpose().cast<double>();
    }
    Eigen::ArrayXd right = Eigen::ArrayXd::Zero(classes);
    right[static_cast<Index>(labels.right[i])] = 1.0;
    add_row(z, right, labels.weight_of_trusted, a, slope);
  }
  return slope;
}

} // namespace

Eigen::VectorXd pooling_weights(std::span<const Voice> voices, const PooledLabels &labels,
                                const Eigen::VectorXd &first) {
  constexpr int newton_steps = 15;
  constexpr double largest = 5.0;
  constexpr double settled = 1e-4;
  Eigen::VectorXd a = first;
  Slope slope = slope_at(voices, labels, first, a);
  for (int i = 0; i < newton_steps; ++i) {
    Eigen::VectorXd gradient = slope.gradient;
    Eigen::MatrixXd hessian = slope.hessian;
    for (Index m = 0; m < a.size(); ++m) { // a weight at its bound stays there while the slope points outwards
      if ((a[m] <= 0.0 && gradient[m] > 0.0) || (a[m] >= largest && gradient[m] < 0.0)) {
        gradient[m] = 0.0;
        hessian.row(m).setZero();
        hessian.col(m).setZero();
        hessian(m, m) = 1.0;
      }
    }
    const Eigen::VectorXd direction = -hessian.ldlt().solve(gradient);
    double moved = 0.0;
    for (double t = 1.0; t > 1e-3; t *= 0.5) {
      const Eigen::VectorXd trial = (a + t * direction).cwiseMax(0.0).cwiseMin(largest);
      Slope there = slope_at(voices, labels, first, trial);
      if (there.value < slope.value) {
        moved = (trial - a).norm();
        a = trial;
        slope = std::move(there);
        break;
      }
    }
    if (moved < settled) {
      break;
    }
  }
  return a;
}

Matrix pooled(Matrix first, std::span<const Matrix *const> others, const Eigen::VectorXd &weights) {
  Matrix out = std::move(first);
  out *= static_cast<float>(weights[0]);
  for (std::size_t m = 0; m < others.size(); ++m) {
    out += static_cast<float>(weights[static_cast<Index>(m + 1)]) * *others[m];
  }
  for (Index i = 0; i < out.rows(); ++i) {
    auto row = out.row(i).array();
    row -= row.maxCoeff();
    row -= std::log(row.exp().sum());
  }
  return out;
}

} // namespace duplex::clean
