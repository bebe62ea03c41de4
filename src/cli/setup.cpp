#include "cli/setup.hpp"

#include "report/files.hpp"

#include <duplex/run/metrics.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace duplex::cli {

namespace {

using catalog::OptionInfo;

std::vector<OptionInfo> options_of(const Setup &setup) {
  std::vector<OptionInfo> all = setup.problem->options();
  for (const auto &solver : setup.solvers) {
    const auto more = solver->options();
    all.insert(all.end(), more.begin(), more.end());
  }
  if (!setup.solvers.empty()) {
    const auto more = catalog::describe(setup.run);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

[[noreturn]] void refuse_unknown(const std::string &name, std::vector<std::string> known,
                                 const std::vector<OptionInfo> &options) {
  for (const auto &info : options) {
    if (std::find(known.begin(), known.end(), info.name) == known.end()) {
      known.push_back(info.name);
    }
  }
  throw InvalidInput(names::unknown_name("option", name, known));
}

/// Where solvers that were not chosen have such an option.
void refuse_option_of_others(const Setup &setup, const std::string &name) {
  std::string others;
  for (const auto &other : catalog::solver_names()) {
    const auto options = catalog::make_solver(other)->options();
    if (std::any_of(options.begin(), options.end(), [&](const OptionInfo &info) { return info.name == name; })) {
      others += (others.empty() ? "" : ", ") + other;
    }
  }
  if (!others.empty() && setup.solvers.size() == 1) {
    throw InvalidInput("--" + name + ": the solver " + std::string(setup.solvers.front()->name()) +
                       " has no such option; solvers that have it: " + others + " (choose one with --solver)");
  }
}

void set_everywhere(Setup &setup, const std::string &name, const std::string &value) {
  bool found = false;
  bool pinned = false;
  const auto offer = [&](catalog::Configurable &taker) {
    const bool keeps = taker.is_pinned(name) && !setup.overrides_names;
    pinned |= keeps;
    found |= !keeps && taker.set(name, value);
  };
  offer(*setup.problem);
  for (const auto &solver : setup.solvers) {
    offer(*solver);
  }
  if (!setup.solvers.empty()) {
    found |= catalog::set_option(setup.run, "run", name, value);
  }
  if (!found && pinned && setup.solvers.size() <= 1) {
    throw InvalidInput("--" + name + " is given twice: here and within the name of the problem or the solver");
  }
  if (!found && !pinned) {
    refuse_option_of_others(setup, name);
    auto options = options_of(setup);
    for (const auto &other : catalog::solver_names()) { // which may be what was meant
      const auto more = catalog::make_solver(other)->options();
      options.insert(options.end(), more.begin(), more.end());
    }
    refuse_unknown(name, setup.command_options, options);
  }
}

/// set(name, value) for each `--name value`, `--name=value` and `--switch`.
template <class Set>
void each_option(const std::vector<OptionInfo> &options, const std::vector<std::string> &arguments, const Set &set) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (!argument.starts_with("--")) {
      throw InvalidInput("unexpected argument '" + argument + "', expected --option value");
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
      value = arguments[++i];
    } else if (std::any_of(options.begin(), options.end(),
                           [&](const OptionInfo &info) { return info.name == name && info.is_switch; })) {
      value = "true";
    }
    const bool known =
        std::any_of(options.begin(), options.end(), [&](const OptionInfo &info) { return info.name == name; });
    if (known && !value) {
      throw InvalidInput("option '--" + name + "' needs a value");
    }
    set(name, value.value_or(""));
  }
}

} // namespace

std::string solver_spec(const std::string &spec, const std::vector<std::string> &arguments,
                        const std::vector<std::string> &others) {
  const auto solver = catalog::make_solver(spec);
  const auto options = solver->options();
  std::string longer = spec;
  each_option(options, arguments, [&](const std::string &name, const std::string &value) {
    if (std::none_of(options.begin(), options.end(), [&](const OptionInfo &info) { return info.name == name; })) {
      refuse_unknown(name, others, options);
    }
    longer += ":" + name + "=" + value;
  });
  catalog::make_solver(longer)->validate();
  return longer;
}

void apply_options(Setup &setup, const std::vector<std::string> &arguments) {
  each_option(options_of(setup), arguments,
              [&](const std::string &name, const std::string &value) { set_everywhere(setup, name, value); });
  setup.problem->validate();
  for (const auto &solver : setup.solvers) {
    solver->validate();
    (void)solver->traits();
  }
  validate(setup.run, "run");
}

void require_metric(const std::string &option, const std::string &metric) {
  const std::vector<std::string> known(metric_names.begin(), metric_names.end());
  if (std::find(known.begin(), known.end(), metric) == known.end()) {
    throw InvalidInput("--" + option + ": " + names::unknown_name("metric", metric, known));
  }
}

Target parse_target(const std::string &text) {
  const std::size_t equals = text.find('=');
  Target target{text.substr(0, equals), 0.0};
  require_metric("target", target.metric);
  if (equals == std::string::npos || !catalog::read_field(text.substr(equals + 1), target.value) ||
      !std::isfinite(target.value)) {
    throw InvalidInput("--target: found '" + text + "', expected metric=number");
  }
  return target;
}

void add_inputs(const std::vector<std::string> &files, checkpoint::RunFolder *folder,
                const std::filesystem::path &trace) {
  for (const auto &file : files) {
    if (folder != nullptr) {
      folder->add_input(file);
    }
    if (report::is_same_file(file, trace)) {
      throw InvalidInput("--trace " + trace.string() + ": the run reads that file, and would write over it");
    }
  }
}

experiment::Json options_json(const catalog::Configurable &configured) {
  auto json = experiment::Json::object();
  for (const auto &info : configured.options()) {
    json[info.name] = info.value;
  }
  return json;
}

void tell_remarks(const catalog::ConfiguredProblem &problem) {
  for (const auto &remark : problem.remarks()) {
    fmt::print(stderr, "duplex: {}\n", remark);
  }
}

std::vector<std::string> split_list(const std::string &option, const std::string &text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty()) {
      throw InvalidInput("--" + option + ": found '" + text + "', expected names separated by single commas");
    }
    begin = end + 1;
  }
  return parts;
}

} // namespace duplex::cli
