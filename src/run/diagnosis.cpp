#include <duplex/run/diagnosis.hpp>

#include <cmath>

namespace duplex {

std::string Finding::at_step(std::int64_t step) const {
  return what + " at step " + std::to_string(step) + (reason.empty() ? "" : ": " + reason) +
         (remedy.empty() ? "" : "; try " + remedy);
}

Finding blaming(const StepOptions &options, Role step, std::string what) {
  if (options.empty()) {
    return {std::move(what), "a larger tolerance, or steps of your own"};
  }
  return options.has(step) ? Finding{std::move(what), "a smaller " + options.name(step), step}
                           : Finding{std::move(what), "smaller steps"};
}

Finding finding_of(LinearStatus lower_curvature) {
  if (lower_curvature == LinearStatus::indefinite) {
    return {"the lower level is not convex in y: its Hessian is indefinite",
            "another start of y, or a penalty on y in the lower level"};
  }
  if (lower_curvature == LinearStatus::singular) {
    return {"the lower Hessian is singular: the lower level has many minimizers, or none",
            "mu > 0 with bagdc, or bda, or a penalty on y in the lower level"};
  }
  return {};
}

namespace detail {

std::string broken_loss(const std::string &loss, double value, bool gradients_finite) {
  if (std::isnan(value)) {
    return "the loss " + loss + " is NaN";
  }
  if (gradients_finite) {
    return {};
  }
  return std::isfinite(value) ? "the gradient of " + loss + " is not finite" : "the loss " + loss + " is infinite";
}

} // namespace detail

} // namespace duplex
