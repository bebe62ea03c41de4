#include "solves.hpp"

namespace duplex {

DUPLEX_TEST_SOLVES(, Quadratic<double>)

} // namespace duplex
