#pragma once
// When a run is to be saved: every so many steps, and every so many seconds.

#include <duplex/core/clock.hpp>
#include <duplex/core/saving.hpp>

#include <cstdint>
#include <limits>

namespace duplex::detail {

class SavingClock {
public:
  explicit SavingClock(const Saving *saving) : saving_(saving != nullptr && saving->save ? saving : nullptr) {}

  [[nodiscard]] bool due(std::int64_t iteration) {
    if (saving_ == nullptr) {
      return false;
    }
    const bool by_steps = saving_->every_steps > 0 && iteration % saving_->every_steps == 0;
    return by_steps || seconds_.reached(iteration - saved_at_, since_saved_);
  }
  void saved(std::int64_t iteration) {
    saved_at_ = iteration;
    since_saved_ = {};
    since_saved_.start();
    seconds_ = TimeLimit(saving_ != nullptr ? saving_->every_seconds : std::numeric_limits<double>::infinity());
  }
  [[nodiscard]] const Saving *saving() const { return saving_; }

private:
  const Saving *saving_;
  TimeLimit seconds_{std::numeric_limits<double>::infinity()};
  std::int64_t saved_at_ = 0;
  Stopwatch since_saved_;
};

} // namespace duplex::detail
