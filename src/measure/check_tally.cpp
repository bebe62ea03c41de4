#include "measure/check_tally.hpp"

#include <duplex/core/text.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::detail {

namespace {

constexpr int number_digits = 8;
constexpr double resolved_share = 1e-2; ///< of a number, which differences must give to call it checked
constexpr double small_share = 1e-3;    ///< of the largest number; an error below may stay unseen

/// A multiple of a half that is near.
double plain_factor(double factor) {
  const double nearest = std::round(factor * 2.0) / 2.0;
  return nearest != 0.0 && std::abs(factor - nearest) < 1e-5 ? nearest : factor;
}

} // namespace

double Compared::size() const { return std::max(std::abs(claimed), std::abs(measured)); }

double Compared::excess(double tolerance) const { return std::abs(claimed - measured) - margin - tolerance * size(); }

bool Compared::is_resolved() const {
  return margin <= resolved_share * std::max({size(), scale, claimed == 0.0 ? zero_scale : 0.0});
}

std::string compared_text(const Compared &compared, double unit) {
  if (!std::isfinite(compared.margin)) {
    return short_number(compared.claimed / unit, number_digits) +
           ", and there are no differences: nothing is finite beside it, however short the step";
  }
  return short_number(compared.claimed / unit, number_digits) + ", differences give " +
         short_number(compared.measured / unit, number_digits) + " ± " +
         short_number(compared.margin / std::abs(unit), 2);
}

void Tally::begin_point() {
  sums_ = {};
  unresolved_text_.clear();
}

Tally::Found Tally::count(const Compared &compared) {
  const double weight = compared.weight;
  const double claimed = compared.claimed * weight;
  const double measured = compared.measured * weight;
  sums_.count += 1;
  sums_.largest = std::max(sums_.largest, std::abs(claimed));
  const bool is_wrong = compared.excess(tolerance_) > 0.0;
  if (is_wrong || compared.is_resolved()) {
    sums_.claimed += claimed * claimed;
    sums_.measured += measured * measured;
    sums_.both += claimed * measured;
  }
  const double error = std::abs(compared.claimed - compared.measured) / std::max(compared.size(), 1e-300);
  if (is_wrong) {
    ++sums_.wrong;
    const double size = std::abs(claimed - measured);
    if (size > wrong_size_) {
      wrong_size_ = size;
      wrong_error_ = error;
      return Found::worst_wrong;
    }
    return Found::nothing_new;
  }
  if (compared.is_resolved()) {
    ++resolved_;
    if (compared.margin <= resolved_share * compared.size()) {
      error_ = std::max(error_, error);
    }
    return Found::nothing_new;
  }
  ++sums_.unresolved;
  if (compared.margin * weight > sums_.unresolved_size || sums_.unresolved == 1) {
    sums_.unresolved_size = compared.margin * weight;
    return Found::worst_unresolved;
  }
  return Found::nothing_new;
}

void Tally::end_point() {
  if (sums_.count == 0) {
    return;
  }
  if (sums_.wrong > 0 && !factor_ && sums_.measured > 0.0 && sums_.claimed > 0.0) {
    const double factor = sums_.both / sums_.measured;
    const double lost = std::max(0.0, 1.0 - factor * sums_.both / sums_.claimed); // the square of the sine
    const bool is_parallel = lost <= 1e-7 && (factor - 1.0) * (factor - 1.0) > 1e4 * lost;
    if (is_parallel && (sums_.wrong > 1 || (sums_.count == 1 && plain_factor(factor) != factor))) {
      factor_ = plain_factor(factor);
    }
  }
  if (sums_.unresolved_size <= small_share * sums_.largest) {
    was_whole_ = true;
    if (fewest_small_ < 0 || sums_.unresolved < fewest_small_) {
      fewest_small_ = sums_.unresolved;
      small_text_ = unresolved_text_;
    }
  } else if (reason_.empty()) {
    reason_ = "differences cannot resolve it: " + unresolved_text_;
  }
}

void Tally::refuse(std::string mistake) {
  if (refusal_.empty()) {
    refusal_ = std::move(mistake);
  }
}

void Tally::could_not(std::string reason) {
  if (reason_.empty()) {
    reason_ = std::move(reason);
  }
}

std::string Tally::factor_text() const {
  if (!factor_) {
    return {};
  }
  return "; all of it is " + short_number(*factor_, number_digits) + " times the differences";
}

CheckRow Tally::row() const {
  CheckRow row{.quantity = quantity_, .error = error_, .passes = false, .note = {}, .unchecked = {}};
  if (is_refused()) {
    row.error = infinity;
    row.note = refusal_;
  } else if (is_wrong()) {
    row.error = wrong_error_;
    row.note = wrong_text_ + (remark_.empty() ? factor_text() : "; " + remark_);
  } else if (is_checked()) {
    row.passes = true;
    if (fewest_small_ > 0) {
      row.note = "but for " + std::to_string(fewest_small_) +
                 " that differences cannot resolve beside the rest, such as: " + small_text_;
    }
  } else if (!missing_.empty()) {
    row.passes = true;
    row.note = missing_;
  } else {
    row.unchecked = reason_.empty() ? "nothing could be compared" : reason_;
  }
  return row;
}

} // namespace duplex::detail
