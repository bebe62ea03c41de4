#include "cli/command.hpp"
#include "cli/siblings.hpp"

#include <duplex/core/error.hpp>

namespace duplex::cli {

void add_reproduce(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("reproduce", "Reproduce the paper's figures and theorems, with their claims");
  command->prefix_command(); // whatever follows is the other program's, --help too
  command->set_help_flag();
  command->callback([&chosen] {
    chosen = []() -> int {
      if (!sibling_is_there(with_experiments)) {
        throw NotAvailable("reproduce needs the experiments, and this Duplex was built without them: `make "
                           "experiments` builds them");
      }
      become_sibling(with_experiments);
    };
  });
}

} // namespace duplex::cli
