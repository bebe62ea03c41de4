// What measures the truth, compiled once for Eigen's vectors.

#include <duplex/measure/exact.hpp>
#include <duplex/measure/measured_slope.hpp>

namespace duplex {

template class HessianSolver<Eigen::VectorXf>;
template class HessianSolver<Eigen::VectorXd>;
template class Response<Eigen::VectorXf>;
template class Response<Eigen::VectorXd>;
template class SlopeMeter<Eigen::VectorXf>;
template class SlopeMeter<Eigen::VectorXd>;
template class detail::ExactResponse<Eigen::VectorXf>;
template class detail::ExactResponse<Eigen::VectorXd>;

} // namespace duplex
