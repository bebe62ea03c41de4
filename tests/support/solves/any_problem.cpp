#include "solves.hpp"

namespace duplex {

DUPLEX_TEST_SOLVES(, AnyProblem<Eigen::VectorXd>)

} // namespace duplex
