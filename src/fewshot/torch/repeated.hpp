#pragma once
// Work on the same memory at every call, replayed as a CUDA graph from the third on.

#include <duplex/torch/captured.hpp>

#include <functional>

namespace duplex::fewshot {

class Repeated {
public:
  /// Throws InvalidInput where graphs are asked for and the variables are not on a device that has them.
  Repeated(Capture capture, const Tensors &variables);

  /// Throws InvalidInput where graphs are asked for and the work cannot be captured.
  void run(const std::function<void()> &work);
  [[nodiscard]] bool captured() const { return graph_.captured(); }

  static constexpr int calls_until_replayed = 3;

private:
  LaunchGraph graph_;
  bool required_;
  bool captures_;
  int calls_ = 0;
};

} // namespace duplex::fewshot
