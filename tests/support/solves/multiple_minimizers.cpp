#include "solves.hpp"

namespace duplex {

DUPLEX_TEST_SOLVES(, MultipleMinimizers<double>)

} // namespace duplex
