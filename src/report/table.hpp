#pragma once
// Tables for people to read in a terminal.

#include <string>
#include <utility>
#include <vector>

namespace duplex::report {

/// First column left-aligned, the others right-aligned; columns as wide as their
/// widest cell in characters as shown (not in bytes: "‖d‖" is three wide).
class Table {
public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

} // namespace duplex::report
