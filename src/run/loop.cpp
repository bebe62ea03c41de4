#include <duplex/run/loop.hpp>

namespace duplex::detail {

template class Loop<Eigen::VectorXd>;
template class Loop<Eigen::VectorXf>;

} // namespace duplex::detail
