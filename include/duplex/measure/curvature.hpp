#pragma once
// The largest eigenvalue of ∇²yy f at a point by power iterations: what a lower step must respect.

#include <duplex/problem/problem.hpp>

#include <cmath>
#include <random>

namespace duplex {

/// Keeps its vector, so that a few products are enough where the Hessian has changed a little.
template <VectorSpace V> class PowerIteration {
public:
  explicit PowerIteration(const V &like) : vector_(zeros_like(like)), image_(zeros_like(like)) {
    std::mt19937_64 generator(0);
    fill_normal(generator, vector_);
  }

  /// A lower bound of λ_max where `level` stands, within some per cent of it after a dozen products; not finite where
  /// the products are not.
  template <class Level> [[nodiscard]] double largest(Level &level, int products) {
    double curvature = 0.0;
    for (int i = 0; i < products; ++i) {
      const double length = norm(vector_);
      if (!(length > 0.0)) {
        break;
      }
      scale(1.0 / length, vector_);
      level.hess_yy(vector_, image_);
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

inline constexpr int products_for_curvature = 12;

template <SecondOrderProblem P>
[[nodiscard]] double largest_curvature(const P &problem, const VectorOf<P> &x, const VectorOf<P> &y) {
  auto lower = problem.lower();
  lower.at(x, y);
  return PowerIteration<VectorOf<P>>(y).largest(lower, products_for_curvature);
}

} // namespace duplex
