#include "solves.hpp"

namespace duplex {

DUPLEX_TEST_SOLVES(, PenalizedSoftmax<double>)

} // namespace duplex
