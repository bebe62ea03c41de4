#include <duplex/measure/check.hpp>

namespace duplex {

std::string CheckReport::table() const {
  std::string text = "derivative               worst relative error   (tolerance " + short_number(tolerance) + ")\n";
  for (const auto &row : rows) {
    std::string name = row.quantity;
    name.resize(std::max<std::size_t>(name.size(), 24), ' ');
    std::string error = !row.note.empty() ? row.note : short_number(row.error);
    error.resize(std::max<std::size_t>(error.size(), 22), ' ');
    text += name + " " + error + " " + (row.passes ? "ok" : "WRONG") + "\n";
  }
  return text;
}

} // namespace duplex
