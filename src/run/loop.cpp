#include <duplex/run/run_loop.hpp>

namespace duplex::detail {

template Summary run_loop(RunContext<Eigen::VectorXd>, const Monitor<Eigen::VectorXd> &);
template Summary run_loop(RunContext<Eigen::VectorXf>, const Monitor<Eigen::VectorXf> &);

} // namespace duplex::detail
