#include <duplex/memory.hpp>

#include <duplex/error.hpp>
#include <duplex/summary.hpp>

#include <unistd.h>

namespace duplex {

double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void require_memory(double bytes, const std::string &what) {
  constexpr double gigabyte = 1e9;
  if (!(bytes <= machine_memory())) {
    throw InvalidInput(what + ": about " + short_number(bytes / gigabyte) + " GB are needed, and this machine has " +
                       short_number(machine_memory() / gigabyte) + " GB");
  }
}

} // namespace duplex
