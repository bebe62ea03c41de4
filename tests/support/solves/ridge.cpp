#include "solves.hpp"

namespace duplex {

DUPLEX_TEST_SOLVES(, Ridge<double>)

} // namespace duplex
