#pragma once
// What comparisons of one derivative with differences add up to: a row of the report.

#include <duplex/measure/check.hpp>

#include <optional>
#include <string>

namespace duplex::detail {

/// A claimed number beside what differences give.
struct Compared {
  double claimed;
  double measured;
  double scale;      ///< of the terms, where it is a sum over many entries that may cancel; else 0
  double margin;     ///< by which the differences, and rounding of the claimed number, may be wrong
  double zero_scale; ///< beside which a number that is claimed to be zero counts
  double weight;     ///< makes numbers of one row comparable

  [[nodiscard]] double size() const;
  [[nodiscard]] double excess(double tolerance) const; ///< of the difference over what is allowed; wrong where > 0
  [[nodiscard]] bool is_resolved() const;
};

/// "2, differences give 1 ± 1e-08", each divided by `unit`.
[[nodiscard]] std::string compared_text(const Compared &compared, double unit);

class Tally {
public:
  Tally(std::string quantity, double tolerance) : quantity_(std::move(quantity)), tolerance_(tolerance) {}

  [[nodiscard]] const std::string &quantity() const { return quantity_; }

  void begin_point();
  /// text() says which entry it is and what was found there.
  template <class Text> void add(const Compared &compared, const Text &text) {
    const Found found = count(compared);
    if (found == Found::worst_wrong) {
      wrong_text_ = text();
    } else if (found == Found::worst_unresolved) {
      unresolved_text_ = text();
    }
  }
  void end_point();

  /// What is wrong whatever the differences say.
  void refuse(std::string mistake);
  [[nodiscard]] bool is_refused() const { return !refusal_.empty(); }
  /// A sentence about all that is wrong, such as that it is the transpose.
  void remark(std::string sentence) { remark_ = std::move(sentence); }
  [[nodiscard]] bool is_wrong() const { return wrong_size_ > 0.0; }
  [[nodiscard]] bool is_checked() const { return is_wrong() || (resolved_ > 0 && was_whole_); }
  /// Why nothing could be compared.
  void could_not(std::string reason);
  /// There is nothing to compare.
  void does_not_exist(std::string reason) { missing_ = std::move(reason); }

  [[nodiscard]] CheckRow row() const;

private:
  enum class Found { nothing_new, worst_wrong, worst_unresolved };
  Found count(const Compared &compared);
  [[nodiscard]] std::string factor_text() const;

  std::string quantity_;
  double tolerance_;

  std::string refusal_;
  std::string remark_;
  std::string reason_;
  std::string missing_;
  std::string wrong_text_;
  double wrong_size_ = 0.0;
  double wrong_error_ = 0.0;
  std::optional<double> factor_;

  double error_ = 0.0;
  long resolved_ = 0;
  bool was_whole_ = false; ///< at some point all was resolved but what is too small beside the rest
  long fewest_small_ = -1;
  std::string small_text_;

  // Of one point.
  struct Sums {
    double claimed = 0.0;
    double measured = 0.0;
    double both = 0.0;
    double largest = 0.0;
    long count = 0;
    long wrong = 0;
    long unresolved = 0;
    double unresolved_size = 0.0;
  } sums_;
  std::string unresolved_text_;
};

} // namespace duplex::detail
