#include "solves.hpp"

namespace duplex {

DUPLEX_TEST_SOLVES(, OnDense)
DUPLEX_TEST_SOLVES(, OnDiagonal)
DUPLEX_TEST_SOLVES(, OnIdentity)

} // namespace duplex
