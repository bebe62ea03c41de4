#include "solves.hpp"

namespace duplex {

DUPLEX_TEST_SOLVES(, HyperCleaning<double>)

} // namespace duplex
