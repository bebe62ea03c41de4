#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/siblings.hpp"
#include "names/suggest.hpp"

#include <duplex/core/clock.hpp>
#include <duplex/core/error.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

void refuse_unknown_command(const CLI::App &app, int argc, char **argv) {
  std::vector<std::string> known;
  for (const auto *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    known.push_back(command->get_name());
  }
  if (argc < 2) {
    throw duplex::InvalidInput(
        fmt::format("a command is needed: {} (duplex --help says more)", fmt::join(known, ", ")));
  }
  const std::string first = argv[1];
  if (!first.starts_with("-") && std::find(known.begin(), known.end(), first) == known.end()) {
    throw duplex::InvalidInput(duplex::names::unknown_name("command", first, known));
  }
}

/// What was closed before the program began would be given to the next file that it opens, and written to as standard
/// output. What is open for the other direction fails as it should.
void occupy_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

/// Such as --out "$UNSET".
void refuse_empty_folder(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--out=" || (word == "--out" && i + 1 < argc && std::string_view(argv[i + 1]).empty())) {
      throw duplex::InvalidInput("--out: found an empty name, expected that of a folder or file");
    }
  }
}

int run(int argc, char **argv) {
  using namespace duplex;
  CLI::App app{"Duplex: bilevel optimization, min F(x, y) subject to y in argmin f(x, .)", "duplex"};
  app.set_version_flag("--version", std::string("duplex ") + version);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "Exit codes: 0 success, 1 the run failed or stopped short of its target, 2 wrong usage or input.\n"
      "`duplex COMMAND --help` is enough to use a command; `duplex list` shows problems, solvers and their options.");
  cli::Action chosen;
  cli::add_clean(app, chosen);
  cli::add_predict(app, chosen);
  cli::add_few_shot(app, chosen);
  cli::add_list(app, chosen);
  cli::add_solve(app, chosen);
  cli::add_race(app, chosen);
  cli::add_check(app, chosen);
  cli::add_reproduce(app, chosen);
  refuse_unknown_command(app, argc, argv);
  refuse_empty_folder(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) { // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    throw InvalidInput(error.what());
  }
  return chosen();
}

/// Unlike fmt::print it does not throw where stderr cannot be written.
void complain(const char *what) { (void)std::fprintf(stderr, "duplex: %s\n", what); }

} // namespace

int main(int argc, char **argv) {
  occupy_standard_streams();
  (void)std::signal(SIGXFSZ, SIG_IGN); // a file beyond `ulimit -f` cannot be written, like one on a full disk
  duplex::cli::install_interrupt_handler();
  duplex::cli::remember_arguments(argc, argv);
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw std::runtime_error("standard output could not be written");
    }
    return code;
  } catch (const duplex::InvalidInput &error) {
    complain(error.what());
    return duplex::cli::exit_wrong_input;
  } catch (const duplex::NotAvailable &error) {
    complain(error.what());
    return duplex::cli::exit_wrong_input;
  } catch (const std::bad_alloc &) {
    complain("out of memory; try a smaller problem");
    return duplex::cli::exit_run_failed;
  } catch (const std::exception &error) {
    complain(error.what());
    return duplex::cli::exit_run_failed;
  } catch (const duplex::Cancelled &) { // outside of any run, which would have kept its state
    complain("the work took too long and was abandoned");
    return duplex::cli::exit_run_failed;
  }
}
