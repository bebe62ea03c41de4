#pragma once
// What the loop may ask of a method's run.

#include <duplex/upper_rule.hpp>

#include <concepts>
#include <cstdint>

namespace duplex {

/// A run whose step may move x itself.
template <class R, class V>
concept MovesUpper = requires(R &run, State<V> &state, std::int64_t k, UpperUpdate<V> &upper) {
  { run.step(state, k, upper) } -> std::same_as<StepOutcome>;
};

template <class R, class V>
concept LeavesUpper = requires(R &run, State<V> &state, std::int64_t k) {
  { run.step(state, k) } -> std::same_as<StepOutcome>;
};

/// A run that may launch steps on a device and return before they are done; reading ‖d‖ then makes the host wait.
/// stay_beside() is called where its steps are to be done again one by one.
template <class R>
concept RunsAhead = requires(R &run) {
  { run.ahead() } -> std::convertible_to<bool>;
  run.stay_beside();
};

} // namespace duplex
