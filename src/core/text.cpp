#include <duplex/core/text.hpp>

namespace duplex {

std::string duration_text(double seconds) {
  if (seconds < 1e-6) {
    return short_number(seconds * 1e9) + " ns";
  }
  if (seconds < 1e-3) {
    return short_number(seconds * 1e6) + " µs";
  }
  return seconds < 1.0 ? short_number(seconds * 1e3) + " ms" : short_number(seconds, 4) + " s";
}

} // namespace duplex
