#pragma once
// Features of the Gaussian kernel k(a, b) = exp(−‖a − b‖²/s) by some rows that stand for all (Nyström; Williams and
// Seeger, 2001). With landmarks l_1 … l_r and their matrix K = L Lᵀ, a row a has the features
//
//   φ(a) = L⁻¹ k(a) − mean,   k(a)_i = k(a, l_i),
//
// whose products are those of the kernel among the landmarks, and so a softmax regression on φ is one on the kernel. Of
// the rows that are offered, those are left out that others tell all of but a thousandth (pivots of the Cholesky
// factorization).

#include "clean/regression.hpp"

#include <memory>
#include <span>

namespace duplex::clean {

struct Landmarks {
  std::shared_ptr<const FeatureTable> rows; ///< r × D
  double scale = 1.0;                       ///< s
  Matrix whitening = {};                    ///< L⁻¹, r × r
  Vector mean = {};

  [[nodiscard]] Index count() const { return rows->rows(); }
};

/// Of pairs of rows of the table; 0 where they are all the same.
[[nodiscard]] double median_squared_distance(const FeatureTable &table);

/// From these rows of the table.
[[nodiscard]] Landmarks choose_landmarks(const FeatureTable &table, std::span<const Index> offered, double scale,
                                         int threads);

/// k(a), rows by landmarks.
[[nodiscard]] FeatureTable kernel_values(const Landmarks &landmarks, const FeatureTable &table, int threads);

/// φ(a). The same bits for any number of threads, as above.
[[nodiscard]] FeatureTable kernel_features(const Landmarks &landmarks, const FeatureTable &table, int threads);

/// Softmax regression on φ, classes × (r + 1), as one on k.
[[nodiscard]] Vector on_kernel_values(const Landmarks &landmarks, const Vector &model, Index classes);

} // namespace duplex::clean
