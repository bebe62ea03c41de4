#pragma once
// Where the biased methods end on the counter-example, in closed form. With the
// eigenvalues a_i of A and s_T(a) = (1 − (1 − βa)^T)/a:
//   RHG with T steps, warm start:        x = (I + S_T)⁻¹ z₀
//   NS with M terms (i = 0 … M − 1):     x = (I + S_M)⁻¹ z₀
//   BAGDC and every exact method:        x* = (I + A⁻¹)⁻¹ z₀

#include <duplex/numerics/dense.hpp>

#include <cmath>
#include <cstdint>

namespace duplex::reproduce {

class CounterExampleForms {
public:
  CounterExampleForms(const Eigen::MatrixXd &a, const Eigen::VectorXd &z0)
      : spectrum_(dense::symmetric_spectrum<double>(a)), coefficients_(spectrum_.vectors.transpose() * z0) {}

  /// ‖x̄ − x*‖ / ‖x*‖ of a method that takes T steps or terms.
  [[nodiscard]] double relative_error(std::int64_t terms, double beta) const {
    const Eigen::ArrayXd a = spectrum_.values.array();
    const Eigen::ArrayXd q = (1.0 - beta * a).pow(static_cast<double>(terms));
    const Eigen::ArrayXd exact = coefficients_.array() / (1.0 + 1.0 / a);
    // 1/(1 + s) − 1/(1 + 1/a) with s = (1 − q)/a, written so that nothing cancels
    const Eigen::ArrayXd difference = coefficients_.array() * (q / a) / ((1.0 + (1.0 - q) / a) * (1.0 + 1.0 / a));
    return difference.matrix().norm() / exact.matrix().norm();
  }

private:
  dense::Spectrum<double> spectrum_;
  Eigen::VectorXd coefficients_;
};

} // namespace duplex::reproduce
