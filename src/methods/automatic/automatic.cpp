#include <duplex/methods/automatic.hpp>

namespace duplex::automatic {

template std::unique_ptr<AnyOpening<Eigen::VectorXd>> make_opening(const ProblemView<Eigen::VectorXd> &, double, bool,
                                                                   const State<Eigen::VectorXd> &);
template std::unique_ptr<AnyOpening<Eigen::VectorXf>> make_opening(const ProblemView<Eigen::VectorXf> &, double, bool,
                                                                   const State<Eigen::VectorXf> &);
template std::unique_ptr<AnyRun<Eigen::VectorXd>> make_run(const Automatic &, const ProblemView<Eigen::VectorXd> &,
                                                           std::unique_ptr<AnyOpening<Eigen::VectorXd>>,
                                                           const State<Eigen::VectorXd> &);
template std::unique_ptr<AnyRun<Eigen::VectorXf>> make_run(const Automatic &, const ProblemView<Eigen::VectorXf> &,
                                                           std::unique_ptr<AnyOpening<Eigen::VectorXf>>,
                                                           const State<Eigen::VectorXf> &);

} // namespace duplex::automatic
