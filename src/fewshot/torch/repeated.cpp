#include "fewshot/torch/repeated.hpp"

namespace duplex::fewshot {

Repeated::Repeated(Capture capture, const Tensors &variables)
    : graph_(variables), required_(capture == Capture::on),
      captures_(capture != Capture::off && LaunchGraph::supports(variables)) {
  if (required_ && !captures_) {
    throw InvalidInput("graph = on, but the run is not on a CUDA device that this build can use");
  }
}

void Repeated::run(const std::function<void()> &work) {
  if (captures_ && ++calls_ >= calls_until_replayed && !graph_.captured()) {
    try {
      graph_.capture(work);
    } catch (const std::exception &error) {
      captures_ = false;
      if (required_) {
        throw InvalidInput(std::string("graph = on, but the step cannot be captured: ") + error.what());
      }
    }
  }
  if (!captures_) {
    work();
  } else if (graph_.captured()) {
    graph_.replay();
  } else {
    graph_.warm_up(work);
  }
}

} // namespace duplex::fewshot
