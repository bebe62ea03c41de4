#pragma once
// A solver whose steps are captured as CUDA graphs and replayed, for problems whose steps are launches of many small
// kernels: solve(problem, Captured<Bagdc>{.solver = {...}}, state, ...). Only steps that repeat themselves can be
// captured (constant η, no schedule), and only problems whose losses read nothing back and have shapes that stay.
//
// A single-loop step exchanges y with y⁺, so that two steps in turn are captured, after a few plain ones.

#include <duplex/counters.hpp>
#include <duplex/solver.hpp>
#include <duplex/torch/tensors.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace duplex {

enum class Capture : std::uint8_t { automatic, on, off };

constexpr std::array<std::string_view, 3> capture_names{"auto", "on", "off"};
constexpr const auto &names_of(Capture /*unused*/) { return capture_names; }

/// Recorded launches. Without CUDA every call but supports() throws NotAvailable.
class LaunchGraph {
public:
  LaunchGraph();
  LaunchGraph(LaunchGraph &&) noexcept;
  LaunchGraph &operator=(LaunchGraph &&) noexcept;
  LaunchGraph(const LaunchGraph &) = delete;
  LaunchGraph &operator=(const LaunchGraph &) = delete;
  ~LaunchGraph();

  [[nodiscard]] static bool supports(const Tensors &variables);
  /// Runs the work on a stream of its own, as capturing does.
  static void warm_up(const std::function<void()> &work);
  /// Records what the work launches, without running it.
  void capture(const std::function<void()> &work);
  void replay();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <class S>
concept RepeatingSolver = requires(const S &solver) {
  { solver.repeats() } -> std::convertible_to<bool>;
};

template <RepeatingSolver S> struct Captured {
  static constexpr std::string_view name = S::name;
  static constexpr std::string_view title = S::title;

  S solver = {};
  Capture graph = Capture::automatic;
  UpperRule upper = solver.upper;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    S::fields(self.solver, visit);
    visit("graph", self.graph, any_number, "replay steps as CUDA graphs: auto where that is possible");
  }

  [[nodiscard]] bool needs_aggregation() const { return solver.needs_aggregation(); }

  template <SecondOrderProblem P> class Run;
};

template <RepeatingSolver S> template <SecondOrderProblem P> class Captured<S>::Run {
public:
  using V = VectorOf<P>;

  Run(const Captured &options, const P &problem, const State<V> &start)
      : counters_(&problem.counters()), run_(options.solver, problem, start) {
    const bool possible = options.solver.repeats() && LaunchGraph::supports(start.x);
    if (options.graph == Capture::on && !possible) {
      throw InvalidInput(std::string(S::name) + ": graph = on, but " +
                         (options.solver.repeats() ? "x and y are not on a CUDA device"
                                                   : "the steps change or read back numbers (expected constant steps, "
                                                     "dual = constant, mu = 0, mixing = 0)"));
    }
    captures_ = possible && options.graph != Capture::off;
  }

  StepOutcome step(State<V> &s, std::int64_t k, UpperUpdate<V> &move) {
    if (!captures_ || k < plain_steps) {
      StepOutcome outcome;
      const auto work = [&] { outcome = inner_step(s, k, move); };
      captures_ ? LaunchGraph::warm_up(work) : work();
      return outcome;
    }
    auto &turn = turns_[static_cast<std::size_t>(k % 2)];
    if (!turn.known) {
      const Counters before = *counters_;
      turn.graph.capture([&] { turn.outcome = inner_step(s, k, move); });
      turn.evaluated = *counters_ - before;
      turn.after = {handles(s.x), handles(s.y), handles(s.v)};
      turn.known = true;
    } else {
      *counters_ += turn.evaluated;
      s.x = handles(turn.after.x);
      s.y = handles(turn.after.y);
      s.v = handles(turn.after.v);
    }
    turn.graph.replay();
    return turn.outcome;
  }

  [[nodiscard]] const V &direction() const { return run_.direction(); }

private:
  static constexpr std::int64_t plain_steps = 4;

  struct Turn {
    LaunchGraph graph;
    StepOutcome outcome;
    Counters evaluated;
    State<V> after; ///< which memory holds the state after it
    bool known = false;
  };

  /// The same memory under another name.
  static V handles(const V &of) { return V(of.list()); }

  StepOutcome inner_step(State<V> &s, std::int64_t k, UpperUpdate<V> &move) {
    if constexpr (MovesUpper<typename S::template Run<P>, V>) {
      return run_.step(s, k, move);
    } else {
      return run_.step(s, k);
    }
  }

  Counters *counters_;
  typename S::template Run<P> run_;
  bool captures_ = false;
  std::array<Turn, 2> turns_;
};

} // namespace duplex
