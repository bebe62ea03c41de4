#include "zoo/family.hpp"

#include "names/suggest.hpp"

#include <duplex/core/error.hpp>

namespace duplex::zoo {

State<Eigen::VectorXd> Family::start(int k) const {
  if (k < 0 || k >= starts_of_family) {
    throw InvalidInput("family " + name() + ": start " + std::to_string(k) + ", expected 0 to " +
                       std::to_string(starts_of_family - 1));
  }
  return model()->start(k);
}

namespace {

std::optional<Eigen::VectorXd> if_any_is_finite(const Eigen::VectorXd &bound) {
  return bound.array().isFinite().any() ? std::optional(bound) : std::nullopt;
}

} // namespace

std::optional<Eigen::VectorXd> Family::lower_bound() const { return if_any_is_finite(model()->lower_bound()); }

std::optional<Eigen::VectorXd> Family::upper_bound() const { return if_any_is_finite(model()->upper_bound()); }

const std::vector<Family> &families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> out;
    for (auto *list : {regression_families, classification_families, sample_families, market_families, inverse_families,
                       curved_families, degenerate_families}) {
      for (auto &family : list()) {
        out.push_back(std::move(family));
      }
    }
    return out;
  }();
  return all;
}

std::vector<Family> families_with(std::string_view text) {
  std::vector<Family> found;
  for (const auto &family : families()) {
    if (family.name().find(text) != std::string::npos) {
      found.push_back(family);
    }
  }
  if (found.empty()) {
    throw InvalidInput("no family of the zoo has '" + std::string(text) + "' in its name");
  }
  return found;
}

const Family &family_named(std::string_view name) {
  std::vector<std::string> known;
  for (const auto &family : families()) {
    if (family.name() == name) {
      return family;
    }
    known.push_back(family.name());
  }
  throw InvalidInput(names::unknown_name("family", name, known));
}

} // namespace duplex::zoo
