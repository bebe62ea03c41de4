#include <duplex/core/memory.hpp>

#include <duplex/core/error.hpp>
#include <duplex/core/text.hpp>

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>

namespace duplex {

double machine_memory() {
  const double all = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  rlimit allowed{};
  const bool is_limited = ::getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY;
  return is_limited ? std::min(all, static_cast<double>(allowed.rlim_cur)) : all;
}

void require_memory(double bytes, const std::string &what) {
  constexpr double gigabyte = 1e9;
  if (!(bytes <= machine_memory())) {
    throw InvalidInput(what + ": about " + short_number(bytes / gigabyte) +
                       " GB are needed, and this process may have " + short_number(machine_memory() / gigabyte) +
                       " GB");
  }
}

} // namespace duplex
