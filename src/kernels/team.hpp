#pragma once
// Threads for kernels. Written by hand because OpenMP's wait policy is one for the whole
// process and can only be set from outside, before it starts.

#include <hwy/cache_control.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace duplex::kernels {

/// Threads that wait for a job for some microseconds, then asleep. OpenMP's spin for
/// milliseconds: a product then takes up to a hundred times as long where another
/// process wants the same cores.
class Team {
public:
  /// Fewer threads where the system refuses to start as many.
  explicit Team(int threads) : wanted_(threads) {
    try {
      helpers_.reserve(static_cast<std::size_t>(threads - 1));
      for (int thread = 1; thread < threads; ++thread) {
        helpers_.emplace_back([this, thread] { help(thread); });
      }
    } catch (const std::system_error &) { // go on with those that started
    }
  }
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;
  ~Team() {
    job_ = nullptr;
    start_round();
    for (auto &helper : helpers_) {
      helper.join();
    }
  }

  [[nodiscard]] int wanted() const { return wanted_; }
  [[nodiscard]] int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// job(thread) on every thread; the caller is thread 0.
  template <class Job> void run(const Job &job) {
    job_ = [](const void *context, int thread) { (*static_cast<const Job *>(context))(thread); };
    context_ = &job;
    unfinished_.store(static_cast<std::uint32_t>(helpers_.size()), std::memory_order_relaxed);
    start_round();
    job(0);
    while (const std::uint32_t left = unfinished_.load(std::memory_order_acquire)) {
      wait_while(unfinished_, left);
    }
  }

private:
  void start_round() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void help(int thread) {
    for (std::uint32_t round = 0;; ++round) {
      wait_while(round_, round);
      if (job_ == nullptr) {
        return;
      }
      job_(context_, thread);
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        unfinished_.notify_one();
      }
    }
  }

  static void wait_while(const std::atomic<std::uint32_t> &number, std::uint32_t value) {
    constexpr int spins = 400; // about as long as it takes to wake a thread
    for (int i = 0; i < spins && number.load(std::memory_order_acquire) == value; ++i) {
      hwy::Pause();
    }
    number.wait(value, std::memory_order_acquire);
  }

  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<std::uint32_t> unfinished_ = 0;
  void (*job_)(const void *, int) = nullptr;
  const void *context_ = nullptr;
  int wanted_;
  std::vector<std::thread> helpers_;
};

/// How often this process has come from a fork since it was first asked.
inline unsigned forks() {
  static std::atomic<unsigned> count = 0;
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
  return count.load(std::memory_order_relaxed);
}

/// A team that knows when it is in a process that was forked off, which has but the thread that forked: then the team
/// is left as it is, since its threads are not there to be woken or joined, and another one takes its place.
class OwnTeam {
public:
  OwnTeam() = default;
  OwnTeam(const OwnTeam &) = delete;
  OwnTeam &operator=(const OwnTeam &) = delete;
  ~OwnTeam() { leave_if_forked(); }

  [[nodiscard]] Team &of(int threads) {
    leave_if_forked();
    if (!team_ || team_->wanted() < threads) {
      team_.reset();
      team_ = std::make_unique<Team>(threads);
    }
    return *team_;
  }

private:
  void leave_if_forked() {
    if (const unsigned now = forks(); made_after_ != now) {
      (void)team_.release();
      made_after_ = now;
    }
  }

  std::unique_ptr<Team> team_;
  unsigned made_after_ = forks();
};

/// The calling thread's own team, so that several may call at once. It may be larger than asked for: it stays
/// where jobs for few and for many threads alternate.
inline Team &team_of(int threads) {
  thread_local OwnTeam team;
  return team.of(threads);
}

} // namespace duplex::kernels
