#pragma once
// Parts of a run written into a saved state and read back from it.

#include <duplex/space/archive.hpp>

namespace duplex::testing {

template <class Part> [[nodiscard]] SavedState written(Part &part) {
  SavedState saved;
  StateWriter members(saved);
  part.archive(members);
  return saved;
}

template <class Part> void read_back(const SavedState &saved, Part &part) {
  StateReader members(saved);
  part.archive(members);
}

} // namespace duplex::testing
