#include <duplex/methods/automatic.hpp>

namespace duplex::automatic {

template class Governor<Eigen::VectorXd>;
template class Governor<Eigen::VectorXf>;
template class OpenedRun<ProblemView<Eigen::VectorXd>>;
template class OpenedRun<ProblemView<Eigen::VectorXf>>;

} // namespace duplex::automatic
