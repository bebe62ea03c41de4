#pragma once
// Labelled samples for a problem from files of any format that data/ reads: a training part and a validation part, by a
// second file or by lot, with columns standardized by the training part.

#include <duplex/core/fields.hpp>
#include <duplex/problems/shared/labelled_parts.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::catalog {

struct FileData {
  std::string data = {};
  std::string data_labels = {};
  std::string label = {};
  std::string drop = {}; ///< names with commas between them, as in keep
  std::string keep = {};
  std::string validation = {};
  std::string validation_labels = {};
  double validation_part = 0.3;
  bool standardize = true;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("data", self.data, any_number, "labelled samples from this file (CSV, LIBSVM, .npy, IDX) instead");
    visit("data-labels", self.data_labels, any_number, "labels of a .npy or IDX file of data");
    visit("label", self.label, any_number, "name or number of the column of a CSV file that holds the labels");
    visit("drop", self.drop, any_number, "columns of a CSV file that are no features, separated by commas");
    visit("keep", self.keep, any_number, "the only columns of a CSV file that are features, separated by commas");
    visit("validation", self.validation, any_number, "samples of the upper level from this file");
    visit("validation-labels", self.validation_labels, any_number, "labels of a .npy or IDX file of validation");
    visit("validation-part", self.validation_part, Bound{.low = 0.0, .high = 1.0, .low_open = true, .high_open = true},
          "without such a file: the part of the rows, drawn by the seed, that validates");
    visit("standardize", self.standardize, any_number,
          "columns of data with mean 0 and deviation 1 on the training rows; sparse ones with root mean square 1");
  }

  [[nodiscard]] bool is_given() const { return !data.empty(); }
  /// Else rows of the one file validate, drawn by the seed.
  [[nodiscard]] bool names_validation() const { return !validation.empty(); }
  /// Throws InvalidInput where options that were given would be ignored.
  void require_use(std::string_view problem, const std::set<std::string, std::less<>> &given) const;
  /// All that read() reads.
  [[nodiscard]] std::vector<std::string> files() const;
  /// What a user should know of how the files were read is added to `remarks`. most_classes: more are refused. Throws
  /// InvalidInput where a file cannot be read or does not fit the problem or the other file.
  [[nodiscard]] LabelledParts read(std::uint64_t seed, Index most_classes, std::vector<std::string> &remarks) const;
};

} // namespace duplex::catalog
