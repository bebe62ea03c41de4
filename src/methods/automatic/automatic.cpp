#include <duplex/methods/automatic.hpp>

namespace duplex::automatic {

template std::unique_ptr<AnyRun<Eigen::VectorXd>> make_run(const Automatic &, const ProblemView<Eigen::VectorXd> &,
                                                           const ProblemView<Eigen::VectorXd> &, double,
                                                           const State<Eigen::VectorXd> &);
template std::unique_ptr<AnyRun<Eigen::VectorXf>> make_run(const Automatic &, const ProblemView<Eigen::VectorXf> &,
                                                           const ProblemView<Eigen::VectorXf> &, double,
                                                           const State<Eigen::VectorXf> &);

} // namespace duplex::automatic
