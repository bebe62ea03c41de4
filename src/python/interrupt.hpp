#pragma once
// Ctrl-C while the engine works: the interpreter only notes it until it runs again, so the engine has to hear of it
// too.

#include <atomic>

#include <csignal>

namespace duplex::python {

/// While it lives, Ctrl-C raises the flag besides what it does to the interpreter. Where a program ignores Ctrl-C, or
/// leaves it to the system, nothing changes. They may be nested; the inner one's flag is raised.
class HearsInterrupt {
public:
  /// `is_main`: in the thread that the interpreter handles signals in; in others nothing is heard.
  HearsInterrupt(std::atomic<bool> &flag, bool is_main);
  HearsInterrupt(const HearsInterrupt &) = delete;
  HearsInterrupt &operator=(const HearsInterrupt &) = delete;
  ~HearsInterrupt();

private:
  bool is_main_;
  bool has_handler_ = false;
  std::atomic<bool> *outer_ = nullptr;
};

} // namespace duplex::python
