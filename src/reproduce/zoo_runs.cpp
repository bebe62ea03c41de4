#include "reproduce/zoo_runs.hpp"

#include "zoo/reference.hpp"
#include "zoo/stand_in.hpp"

#include <duplex/solve.hpp>

#include <algorithm>
#include <chrono>

namespace duplex::reproduce {

namespace in_zoo_runs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_seconds = 60.0; ///< of a run that does not end by itself
constexpr double most_seconds_of_others = 2.0;

/// The seconds of the fastest of three runs; of one, where that is long enough to be measured. `run` starts anew each
/// time.
template <class Run> double fastest(const Run &run) {
  constexpr double long_enough = 0.05;
  double best = infinity;
  double all = 0.0;
  for (int i = 0; i < 3 && all < long_enough; ++i) {
    const auto began = Clock::now();
    run();
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    best = std::min(best, seconds);
    all += seconds;
  }
  return best;
}

/// Judges where runs from one start have ended.
class Judge {
public:
  Judge(const zoo::Family &family, int k)
      : reference_(family), at_start_(reference_.at_start(k)), start_(family.start(k)) {}

  void judge(const Eigen::VectorXd &x, const Eigen::VectorXd &y, JudgedRun &run) {
    const bool guess_is_good = y.size() == start_.y.size() && y.allFinite();
    auto there = reference_.at(x, guess_is_good ? y : start_.y);
    if (!there.is_known && guess_is_good) {
      there = reference_.at(x, start_.y);
    }
    run.ratio = zoo::relative_slope(at_start_, there);
    run.judged = at_start_.is_known ? there.why : at_start_.why;
  }

private:
  zoo::Reference reference_;
  zoo::Truth at_start_;
  State<Eigen::VectorXd> start_;
};

template <class Problem, class Vector>
void run_automatic(const Problem &problem, const State<Vector> &start, const Settings &settings, Judge &judge,
                   JudgedRun &run) {
  State<Vector> state;
  Summary summary;
  run.seconds = fastest([&] {
    state = start;
    summary = solve(problem, state, {.max_wall_seconds = most_seconds, .interrupt = settings.interrupt});
  });
  run.claimed = summary.converged();
  run.said = std::string(name_of(summary.termination)) + ": " + summary.message;
  judge.judge(state.x.template cast<double>(), state.y.template cast<double>(), run);
}

template <class T> void run_stand_in(zoo::Model<T> &model, int k, Judge &judge, JudgedRun &run) {
  zoo::StandInAnswer<T> answer;
  run.seconds = fastest([&] { answer = zoo::stand_in(model, model.start(k), {.most_seconds = most_seconds}); });
  run.claimed = answer.converged;
  run.said = answer.message;
  judge.judge(answer.x.template cast<double>(), answer.y.template cast<double>(), run);
}

State<Eigen::VectorXf> in_float(const State<Eigen::VectorXd> &state) {
  return {state.x.cast<float>(), state.y.cast<float>(), {}};
}

} // namespace
} // namespace in_zoo_runs

ZooRun run_both(const zoo::Family &family, int k, const Settings &settings) {
  using namespace in_zoo_runs;
  ZooRun run;
  Judge judge(family, k);
  if (family.facts().runs_in_float) {
    run_automatic(family.float_problem(), in_float(family.start(k)), settings, judge, run.engine);
    run_stand_in(*family.float_model(), k, judge, run.stand_in);
  } else {
    run_automatic(family.problem(), family.start(k), settings, judge, run.engine);
    run_stand_in(*family.model(), k, judge, run.stand_in);
  }
  return run;
}

std::vector<std::string> other_methods() {
  auto names = catalog::solver_names();
  std::erase(names, std::string(Automatic::name));
  return names;
}

std::vector<std::pair<std::string, JudgedRun>> run_others(const zoo::Family &family, const Settings &settings) {
  using namespace in_zoo_runs;
  std::vector<std::pair<std::string, JudgedRun>> out;
  Judge judge(family, 0);
  const auto problem = family.problem();
  for (const auto &name : other_methods()) {
    JudgedRun run;
    auto state = family.start(0);
    try {
      const auto began = Clock::now();
      const auto summary = catalog::make_solver(name)->run(
          problem, state, {.max_wall_seconds = most_seconds_of_others, .interrupt = settings.interrupt}, {});
      run.seconds = std::chrono::duration<double>(Clock::now() - began).count();
      run.claimed = summary.converged();
      run.said = summary.brief();
      judge.judge(state.x, state.y, run);
    } catch (const InvalidInput &refused) {
      run.said = refused.what();
    }
    out.emplace_back(name, std::move(run));
  }
  return out;
}

} // namespace duplex::reproduce
