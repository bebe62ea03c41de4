#pragma once
// A solver that claims to launch its steps on a device.

#include "support.hpp"

namespace duplex::testing {

/// Says that its steps from the fifth on are launched ahead of what the host knows of them.
struct RunningAhead : Bagdc {
  template <SecondOrderProblem P> class Run : public Bagdc::Run<P> {
  public:
    using Base = Bagdc::Run<P>;
    using V = VectorOf<P>;
    Run(const RunningAhead &options, const P &problem, const State<V> &start) : Base(options, problem, start) {}
    StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> &move) override {
      StepReport report = Base::step(s, k, move);
      report.ahead = k >= 4 && !beside_;
      return report;
    }
    void stop_running_ahead() override {
      ++times_back;
      beside_ = true;
    }

  private:
    bool beside_ = false;
  };

  static inline int times_back = 0;
};

} // namespace duplex::testing
