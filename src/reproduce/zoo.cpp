// Problems that people have: every family of the zoo from ten starts, by automatic with no option given, beside what a
// careful engineer would write for it in an afternoon. Both are judged in long double, by code that shares nothing with
// the engine. Runs in which the stand-in is not right count for nothing but honesty.

#include "report/table.hpp"
#include "reproduce/quantile.hpp"
#include "reproduce/reproduce.hpp"
#include "reproduce/zoo_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <map>
#include <thread>

namespace duplex::reproduce {

namespace in_zoo {
namespace {

using experiment::Json;

struct FamilyRuns {
  const zoo::Family *family = nullptr;
  std::vector<ZooRun> runs;
  std::vector<std::pair<std::string, JudgedRun>> others;
};

/// On all cores, each run on one of them.
std::vector<FamilyRuns> run_zoo(const std::vector<zoo::Family> &families, const Settings &settings) {
  const auto starts = static_cast<std::size_t>(settings.starts);
  std::vector<FamilyRuns> out(families.size());
  for (std::size_t i = 0; i < families.size(); ++i) {
    out[i].family = &families[i];
    out[i].runs.resize(starts);
  }
  const std::size_t jobs = families.size() * (starts + 1);
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  const auto work = [&] {
    for (std::size_t job = next++; job < jobs && !settings.interrupted(); job = next++) {
      auto &of = out[job / (starts + 1)];
      const std::size_t k = job % (starts + 1);
      if (k == starts) {
        of.others = run_others(*of.family, settings);
      } else {
        of.runs[k] = run_both(*of.family, static_cast<int>(k), settings);
      }
      if (const auto finished = ++done; finished % 50 == 0) {
        settings.told(fmt::format("{} of {} runs", finished, jobs));
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (auto &thread : threads) {
    thread.join();
  }
  return out;
}

/// What is said of a family, or of all.
struct Tally {
  int runs = 0;
  int stand_in_right = 0;
  int solved_of_those = 0;
  int falsely = 0;
  std::vector<double> time_ratios = {};     ///< of runs that both solve
  std::map<std::string, int> failures = {}; ///< what runs said that the stand-in solves and automatic does not

  void add(const ZooRun &run) {
    ++runs;
    falsely += run.engine.is_false() ? 1 : 0;
    if (!run.stand_in.is_right()) {
      return;
    }
    ++stand_in_right;
    if (run.engine.solved()) {
      ++solved_of_those;
      time_ratios.push_back(run.engine.seconds / run.stand_in.seconds);
    } else {
      ++failures[run.engine.said];
    }
  }
};

bool contains_word(std::string text, const std::string &word) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find(word) != std::string::npos;
}

std::vector<std::string> all_causes() {
  std::vector<std::string> causes;
  for (const auto &family : zoo::families()) {
    if (!family.facts().cause.empty()) {
      causes.push_back(family.facts().cause);
    }
  }
  return causes;
}

/// Whether a text has this cause in it and none of the others: who names them all has named none.
bool names_alone(const std::string &text, const std::string &cause, const std::vector<std::string> &causes) {
  return std::all_of(causes.begin(), causes.end(),
                     [&](const std::string &any) { return contains_word(text, any) == (any == cause); });
}

std::string ratio_text(double ratio) { return std::isfinite(ratio) ? short_number(ratio) : "—"; }

std::string of_text(int part, int whole) { return fmt::format("{} of {}", part, whole); }

void add_row(report::Table &table, const std::string &name, const std::string &sizes, const Tally &tally) {
  table.add({name, sizes, of_text(tally.stand_in_right, tally.runs),
             of_text(tally.solved_of_those, tally.stand_in_right), std::to_string(tally.falsely),
             tally.time_ratios.empty() ? "—" : short_number(quantile(tally.time_ratios, 0.5))});
}

Json json_of(const JudgedRun &run) {
  return {{"ratio", experiment::json_number(run.ratio)},
          {"seconds", run.seconds},
          {"claimed", run.claimed},
          {"said", run.said},
          {"judged", run.judged}};
}

Json json_of(const FamilyRuns &of) {
  Json runs = Json::array();
  for (const auto &run : of.runs) {
    runs.push_back({{"automatic", json_of(run.engine)}, {"stand-in", json_of(run.stand_in)}});
  }
  Json others = Json::object();
  for (const auto &[name, run] : of.others) {
    others[name] = json_of(run);
  }
  return {{"title", of.family->facts().title}, {"runs", runs}, {"others", others}};
}

void solvable(Experiment &result, const std::vector<FamilyRuns> &all) {
  report::Table table(
      {"family", "x, y", "stand-in is right", "automatic, of those", "false claims", "median time ratio"});
  report::Table failures({"not solved", "runs", "what they said"});
  Tally total;
  for (const auto &of : all) {
    if (!of.family->facts().cause.empty()) {
      continue;
    }
    Tally tally;
    for (const auto &run : of.runs) {
      tally.add(run);
      total.add(run);
    }
    const auto problem = of.family->problem();
    add_row(table, of.family->name(), fmt::format("{}, {}", problem.x_size(), problem.y_size()), tally);
    for (const auto &[said, count] : tally.failures) {
      failures.add({of.family->name(), std::to_string(count), said});
    }
  }
  if (total.runs == 0) {
    return;
  }
  add_row(table, "all", "", total);
  result.tables.push_back(table.text());
  if (!total.failures.empty()) {
    result.tables.push_back(failures.text());
  }
  constexpr double share = 0.95;
  result.claim("zoo.solved", "solved, of the runs in which the stand-in is right", "at least 95 %",
               of_text(total.solved_of_those, total.stand_in_right),
               total.solved_of_those >= share * total.stand_in_right);
  const double median = total.time_ratios.empty() ? infinity : quantile(total.time_ratios, 0.5);
  result.claim("zoo.time", "median of the time over the stand-in's, where both are right", "at most 1",
               ratio_text(median), median <= 1.0);
}

void unsolvable(Experiment &result, const std::vector<FamilyRuns> &all) {
  report::Table table({"without an answer", "should say", "said so", "false claims", "said first"});
  int runs = 0;
  int named = 0;
  const auto causes = all_causes();
  for (const auto &of : all) {
    const auto &facts = of.family->facts();
    if (facts.cause.empty()) {
      continue;
    }
    int named_here = 0;
    int falsely = 0;
    for (const auto &run : of.runs) {
      ++runs;
      named_here += !run.engine.claimed && names_alone(run.engine.said, facts.cause, causes) ? 1 : 0;
      falsely += run.engine.is_false() ? 1 : 0;
    }
    named += named_here;
    table.add({facts.name, facts.cause, of_text(named_here, static_cast<int>(of.runs.size())), std::to_string(falsely),
               of.runs.front().engine.said});
  }
  if (runs > 0) {
    result.tables.push_back(table.text());
    result.claim("zoo.named", "runs on problems without an answer that say why, and name no other reason", "all",
                 of_text(named, runs), named == runs);
  }
}

void honest(Experiment &result, const std::vector<FamilyRuns> &all) {
  report::Table table({"false claim", "start", "‖∇φ‖/‖∇φ₀‖", "judged", "said"});
  int claimed = 0;
  int falsely = 0;
  for (const auto &of : all) {
    for (std::size_t k = 0; k < of.runs.size(); ++k) {
      const auto &run = of.runs[k].engine;
      claimed += run.claimed ? 1 : 0;
      if (run.is_false()) {
        ++falsely;
        table.add({of.family->name(), std::to_string(k), ratio_text(run.ratio), run.judged, run.said});
      }
    }
  }
  if (falsely > 0) {
    result.tables.push_back(table.text());
  }
  result.claim("zoo.honest", "no run claims success that long double denies", "none", of_text(falsely, claimed),
               falsely == 0);
}

void other_methods_as_they_come(Experiment &result, const std::vector<FamilyRuns> &all) {
  std::vector<std::string> header{"‖∇φ‖/‖∇φ₀‖ after 2 s, untuned"};
  for (const auto &name : other_methods()) {
    header.push_back(name);
  }
  report::Table table(header);
  for (const auto &of : all) {
    std::vector<std::string> row{of.family->name()};
    for (const auto &[name, run] : of.others) {
      row.push_back(ratio_text(run.ratio));
    }
    table.add(row);
  }
  result.tables.push_back(table.text());
}

} // namespace
} // namespace in_zoo

Experiment zoo(const Settings &settings) {
  using namespace in_zoo;
  const auto families = zoo::families_with(settings.only);
  Experiment result{.name = "zoo",
                    .title = std::string(title_of("zoo")),
                    .options = {{"only", settings.only}, {"starts", settings.starts}},
                    .seed = settings.seed,
                    .reference = "target"};
  const auto all = run_zoo(families, settings);
  result.interrupted = settings.interrupted();
  if (result.interrupted) {
    return result;
  }
  Json details = Json::object();
  for (const auto &of : all) {
    details[of.family->name()] = json_of(of);
  }
  result.options["families"] = details;
  honest(result, all);
  solvable(result, all);
  unsolvable(result, all);
  other_methods_as_they_come(result, all);
  return result;
}

} // namespace duplex::reproduce
