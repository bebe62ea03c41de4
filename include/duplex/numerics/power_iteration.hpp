#pragma once
// The largest eigenvalue of a symmetric positive semidefinite H that is given as a product, by power iterations.

#include <duplex/space/space.hpp>

#include <cmath>
#include <random>

namespace duplex {

/// Keeps its vector, so that a few products are enough where H has changed a little.
template <VectorSpace V> class PowerIteration {
public:
  explicit PowerIteration(const V &like) : vector_(zeros_like(like)), image_(zeros_like(like)) {
    std::mt19937_64 generator(0);
    fill_normal(generator, vector_);
  }

  /// A lower bound of λ_max, within some per cent of it after a dozen products; not finite where the products are not.
  template <class Product> [[nodiscard]] double largest(Product &&product, int products) {
    double curvature = 0.0;
    for (int i = 0; i < products; ++i) {
      const double length = norm(vector_);
      if (!(length > 0.0)) {
        break;
      }
      scale(1.0 / length, vector_);
      product(vector_, image_);
      curvature = norm(image_);
      if (!std::isfinite(curvature)) { // the vector stays a direction
        break;
      }
      assign(image_, vector_);
    }
    return curvature;
  }

  template <class Archive> void archive(Archive &members) { members("vector", vector_); }

private:
  V vector_;
  V image_;
};

} // namespace duplex
