#include "cli/command.hpp"
#include "cli/siblings.hpp"

namespace duplex::cli {

void add_reproduce(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("reproduce", reproduce_title);
  command->prefix_command(); // whatever follows is the other program's, --help too
  command->set_help_flag();
  command->callback([&chosen] {
    chosen = []() -> int {
      become_sibling(with_experiments, "reproduce needs the experiments, and this Duplex was built without them: "
                                       "`make experiments` builds them");
    };
  });
}

} // namespace duplex::cli
