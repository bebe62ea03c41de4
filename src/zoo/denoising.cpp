#include "zoo/denoising.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::zoo {

namespace {

using Entry = Eigen::Triplet<double>;

/// The rows of differences of one order: (−1)^{order−j} binomial(order, j) from i on.
void add_differences(Index length, Index order, Index group, std::vector<Entry> &entries, std::vector<Index> &groups) {
  for (Index i = 0; i + order < length; ++i) {
    double coefficient = order % 2 == 0 ? 1.0 : -1.0;
    for (Index j = 0; j <= order; ++j) {
      entries.emplace_back(static_cast<int>(groups.size()), static_cast<int>(i + j), coefficient);
      coefficient *= -static_cast<double>(order - j) / static_cast<double>(j + 1);
    }
    groups.push_back(group);
  }
}

} // namespace

DenoisingData draw_signal(const DenoisingSettings &settings) {
  Draws draws(settings.seed);
  DenoisingData data;
  data.clean.resize(settings.length);
  for (Index i = 0; i < settings.length; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(settings.length);
    const bool has_jumps = settings.roughness == Roughness::variation || settings.local;
    const double jumps = (place > 0.3 ? 1.0 : 0.0) - (place > 0.7 ? 2.0 : 0.0);
    data.clean[i] = std::sin(6.0 * place) + (has_jumps ? jumps : 0.5 * std::cos(15.0 * place));
  }
  data.noisy = data.clean + settings.noise * draws.normals(settings.length);
  std::vector<Entry> entries;
  for (Index order = 1; order <= (settings.local ? 1 : settings.orders); ++order) {
    add_differences(settings.length, order, order - 1, entries, data.groups);
  }
  if (settings.local) {
    for (std::size_t row = 0; row < data.groups.size(); ++row) {
      data.groups[row] = static_cast<Index>(row);
    }
  }
  data.differences.resize(static_cast<Index>(data.groups.size()), settings.length);
  data.differences.setFromTriplets(entries.begin(), entries.end());
  return data;
}

template <class T> Denoising<T>::Denoising(const DenoisingSettings &settings) {
  const auto data = draw_signal(settings);
  const T limit = settings.limit > 0.0 ? rounded<T>(settings.limit) : std::numeric_limits<T>::infinity();
  data_ = std::make_shared<const Data>(Data{rounded<T>(data.clean), rounded<T>(data.noisy),
                                            data.differences.template cast<T>(), data.groups,
                                            1 + *std::max_element(data.groups.begin(), data.groups.end()),
                                            settings.roughness, T(0.125), rounded<T>(settings.prior), limit});
}

template <class T> void Denoising<T>::Lower::at(const Vector &x, const Vector &y) {
  Point<Vector>::at(x, y);
  weights_.forget();
  steps_.forget();
  slopes_.forget();
  curvatures_.forget();
}

template <class T> const typename Denoising<T>::Vector &Denoising<T>::Lower::weights() {
  return weights_.get([&](Vector &out) {
    out.resize(static_cast<Index>(data_->groups.size()));
    for (Index r = 0; r < out.size(); ++r) {
      out[r] = std::exp(this->x()[data_->groups[static_cast<std::size_t>(r)]]);
    }
  });
}

template <class T> const typename Denoising<T>::Vector &Denoising<T>::Lower::steps() {
  return steps_.get([&](Vector &out) { out = data_->differences * this->y(); });
}

template <class T> const typename Denoising<T>::Vector &Denoising<T>::Lower::slopes() {
  return slopes_.get([&](Vector &out) {
    out = steps();
    if (data_->roughness == Roughness::variation) {
      out.array() /= (steps().array().square() + data_->epsilon * data_->epsilon).sqrt();
    }
  });
}

template <class T> const typename Denoising<T>::Vector &Denoising<T>::Lower::curvatures() {
  return curvatures_.get([&](Vector &out) {
    out = weights();
    if (data_->roughness == Roughness::variation) {
      const T square = data_->epsilon * data_->epsilon;
      out.array() *= square / (steps().array().square() + square).sqrt().cube();
    }
  });
}

template <class T> T Denoising<T>::Lower::value() {
  const T fit = T(0.5) * (this->y() - data_->noisy).squaredNorm();
  if (data_->roughness == Roughness::square) {
    return fit + T(0.5) * (weights().array() * steps().array().square()).sum();
  }
  const T square = data_->epsilon * data_->epsilon;
  return fit + (weights().array() * (steps().array().square() + square).sqrt()).sum();
}

template <class T> void Denoising<T>::Lower::grad_y(Vector &out) {
  out = this->y() - data_->noisy;
  out += data_->differences.transpose() * weights().cwiseProduct(slopes());
}

template <class T> void Denoising<T>::Lower::hess_yy(const Vector &v, Vector &out) {
  rows_ = data_->differences * v;
  rows_.array() *= curvatures().array();
  out = v;
  out += data_->differences.transpose() * rows_;
}

template <class T> void Denoising<T>::Lower::cross_xy(const Vector &v, Vector &out) {
  rows_ = data_->differences * v;
  rows_.array() *= weights().array() * slopes().array();
  out.setZero(data_->x_size);
  for (Index r = 0; r < rows_.size(); ++r) {
    out[data_->groups[static_cast<std::size_t>(r)]] += rows_[r];
  }
}

template <class T> void Denoising<T>::Lower::hessian(Matrix &out) {
  const Eigen::SparseMatrix<T> bending =
      data_->differences.transpose() * curvatures().asDiagonal() * data_->differences;
  out = bending;
  out.diagonal().array() += T(1);
}

template class Denoising<double>;
template class Denoising<long double>;

} // namespace duplex::zoo
