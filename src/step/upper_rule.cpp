#include <duplex/step/upper_rule.hpp>

#include <string>

namespace duplex {

void refuse_ignored(std::string_view owner, std::string_view field, double value, std::string_view expected) {
  throw InvalidInput(std::string(owner) + ": " + std::string(field) + " = " + number_text(value) +
                     " would be ignored, expected " + std::string(expected) + " beside it");
}

void UpperRule::refuse_what_is_ignored(std::string_view owner) const {
  const UpperRule usual;
  if (method != UpperMethod::momentum && momentum != usual.momentum) {
    refuse_ignored(owner, "momentum", momentum, "upper = momentum");
  }
  if (method == UpperMethod::adam) {
    return;
  }
  if (adam_beta1 != usual.adam_beta1) {
    refuse_ignored(owner, "adam-beta1", adam_beta1, "upper = adam");
  }
  if (adam_beta2 != usual.adam_beta2) {
    refuse_ignored(owner, "adam-beta2", adam_beta2, "upper = adam");
  }
  if (adam_epsilon != usual.adam_epsilon) {
    refuse_ignored(owner, "adam-epsilon", adam_epsilon, "upper = adam");
  }
}

} // namespace duplex
