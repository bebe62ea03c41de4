#include <duplex/problem/offered.hpp>

#include <duplex/core/fields.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

namespace duplex::detail {

void require_scale(const char *name, const Entries &scale, Index expected) {
  std::visit(
      [&](const auto &entries) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(entries)>, std::string>) {
          if (!entries.empty() && static_cast<Index>(entries.size()) != expected) {
            throw InvalidInput(std::string(name) + "() of the problem has " + std::to_string(entries.size()) +
                               " entries, expected " + std::to_string(expected));
          }
          for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto entry = static_cast<double>(entries[i]);
            if (!(entry > 0.0) || !std::isfinite(entry)) {
              throw InvalidInput(std::string(name) + "()[" + std::to_string(i) + "] of the problem is " +
                                 number_text(entry) +
                                 ", expected how large that entry typically is: a number above zero");
            }
          }
        }
      },
      scale);
}

} // namespace duplex::detail
