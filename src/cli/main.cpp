#include "cli/command.hpp"
#include "cli/interrupt.hpp"

#include <duplex/error.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace {

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
  cli::add_list(app, chosen);
  cli::add_solve(app, chosen);
  cli::add_race(app, chosen);
  cli::add_check(app, chosen);
  cli::add_reproduce(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) { // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    fmt::print(stderr, "duplex: {}\n", error.what());
    return cli::exit_wrong_input;
  }
  return chosen();
}

} // namespace

int main(int argc, char **argv) {
  duplex::cli::install_interrupt_handler();
  try {
    return run(argc, argv);
  } catch (const duplex::InvalidInput &error) {
    fmt::print(stderr, "duplex: {}\n", error.what());
    return duplex::cli::exit_wrong_input;
  } catch (const duplex::NotAvailable &error) {
    fmt::print(stderr, "duplex: {}\n", error.what());
    return duplex::cli::exit_wrong_input;
  } catch (const std::bad_alloc &) {
    fmt::print(stderr, "duplex: out of memory; try a smaller problem\n");
    return duplex::cli::exit_run_failed;
  } catch (const std::exception &error) {
    fmt::print(stderr, "duplex: {}\n", error.what());
    return duplex::cli::exit_run_failed;
  }
}
