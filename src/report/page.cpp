#include "report/page.hpp"

#include "report/json_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace duplex::report {

std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), "\u202f");
  }
  return digits;
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100.0 * part); }

std::string utc_now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string base64(const std::string &bytes) {
  static constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j > bytes.size() ? '=' : alphabet[group >> (18U - 6U * j) & 63U];
    }
  }
  return out;
}

Json members_section(const std::string &title, const Json &members) {
  Json rows = Json::array();
  for (const auto &[name, value] : members.items()) {
    rows.push_back({name, value.is_string() ? value.get<std::string>() : json_text(value)});
  }
  return {{"kind", "table"}, {"title", title}, {"columns", {"option", "value"}}, {"rows", rows}};
}

} // namespace duplex::report
