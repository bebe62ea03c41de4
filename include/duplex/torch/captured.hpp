#pragma once
// A solver whose steps are captured as CUDA graphs and replayed, for problems whose steps are launches of many small
// kernels: solve(problem, Captured<Bagdc>{{.alpha = …, .dual = DualStep::constant}}, state, …). Only steps that repeat
// themselves can be captured (constant η, no schedule), and only problems whose losses read nothing back and have
// shapes that stay. What a loss does on the host is done no more once its launches are captured. While a step is
// captured, no other thread may use the device.
//
// A single-loop step exchanges y with y⁺, so that two steps in turn are captured, after a few plain ones.

#include <duplex/problem/counters.hpp>
#include <duplex/solve.hpp>
#include <duplex/torch/capture.hpp>
#include <duplex/torch/runs.hpp>
#include <duplex/torch/tensors.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace duplex {

/// Launches on the device of some variables, recorded. Without CUDA every call but supports() throws NotAvailable.
class LaunchGraph {
public:
  /// The variables' device is the one to use.
  explicit LaunchGraph(const Tensors &variables);
  LaunchGraph(LaunchGraph &&) noexcept;
  LaunchGraph &operator=(LaunchGraph &&) noexcept;
  LaunchGraph(const LaunchGraph &) = delete;
  LaunchGraph &operator=(const LaunchGraph &) = delete;
  ~LaunchGraph();

  [[nodiscard]] static bool supports(const Tensors &variables);
  /// Runs the work on a stream of its own, as capturing does.
  void warm_up(const std::function<void()> &work);
  /// Records what the work launches, without running it. What the work throws is thrown, and nothing is recorded.
  void capture(const std::function<void()> &work);
  [[nodiscard]] bool captured() const;
  void replay();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <class S> struct Captured : S {
  Capture graph = Capture::automatic;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    S::fields(self, visit);
    visit("graph", self.graph, any_number, "replay steps as CUDA graphs: auto where that is possible");
  }

  template <SecondOrderProblem P> class Run;
};

template <class S> template <SecondOrderProblem P> class Captured<S>::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Captured &options, const P &problem, const State<V> &start)
      : counters_(&problem.counters()), run_(options, problem, start),
        required_(options.graph == Capture::on), turns_{Turn(start.x), Turn(start.x)} {
    const bool possible = options.traits().repeats && LaunchGraph::supports(start.x);
    if (required_ && !possible) {
      throw InvalidInput(std::string(S::name) + ": graph = on, but " +
                         (options.traits().repeats ? "x and y are not on a CUDA device that this build can use"
                                                   : "the steps change or read back numbers (expected constant steps, "
                                                     "dual = constant, mu = 0, mixing = 0)"));
    }
    captures_ = possible && options.graph != Capture::off;
  }

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> &move) override {
    auto &turn = turns_[static_cast<std::size_t>(k % 2)];
    if (captures_ && k >= plain_steps && !turn.graph.captured()) {
      record(turn, s, k, move);
    } else if (captures_ && k >= plain_steps) {
      *counters_ += turn.evaluated;
      s.x = handles(turn.after.x);
      s.y = handles(turn.after.y);
      s.v = handles(turn.after.v);
    }
    if (captures_ && k >= plain_steps) {
      turn.graph.replay();
      StepReport outcome = turn.outcome;
      outcome.ahead = turns_[0].graph.captured() && turns_[1].graph.captured();
      return outcome;
    }
    StepReport outcome;
    const auto work = [&] { outcome = run_.step(s, k, move); };
    if (captures_) {
      turn.graph.warm_up(work);
    } else {
      work();
    }
    return outcome;
  }

  [[nodiscard]] const V &direction() const override { return run_.direction(); }
  [[nodiscard]] const V *lower_point() const override { return captures_ ? nullptr : run_.lower_point(); }
  void stop_running_ahead() override { captures_ = false; }
  template <class Archive> void archive(Archive &members) { run_.archive(members); }

private:
  static constexpr std::int64_t plain_steps = 4;

  struct Turn {
    explicit Turn(const V &variables) : graph(variables) {}
    LaunchGraph graph;
    StepReport outcome;
    Counters evaluated;
    State<V> after; ///< which memory holds the state after it
  };

  /// The same memory under another name.
  static V handles(const V &of) { return V(of.list()); }

  /// Where a step cannot be recorded, the run goes on without: the state is exchanged by the last thing that a step
  /// does.
  void record(Turn &turn, State<V> &s, std::int64_t k, UpperUpdate<V> &move) {
    const Counters before = *counters_;
    try {
      turn.graph.capture([&] { turn.outcome = run_.step(s, k, move); });
    } catch (const std::exception &error) {
      *counters_ = before;
      captures_ = false;
      if (required_) {
        throw InvalidInput(std::string(S::name) + ": graph = on, but the step cannot be captured: " + error.what());
      }
      return;
    }
    turn.evaluated = *counters_ - before;
    turn.after = {handles(s.x), handles(s.y), handles(s.v)};
  }

  Counters *counters_;
  typename S::template Run<P> run_;
  bool required_;
  bool captures_ = false;
  std::array<Turn, 2> turns_;
};

} // namespace duplex
