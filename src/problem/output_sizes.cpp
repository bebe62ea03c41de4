#include <duplex/core/error.hpp>
#include <duplex/problem/output_sizes.hpp>

#include <string>

namespace duplex::detail {

void refuse_output(const OutputOf &output, Index found, const char *when) {
  throw InvalidInput(std::string(output.level) + "." + output.method + ": out has " + std::to_string(found) +
                     " entries " + when + " the call, expected " + std::to_string(output.expected) + " like " +
                     output.like);
}

} // namespace duplex::detail
