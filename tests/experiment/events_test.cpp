// Event files for TensorBoard, byte by byte.

#include "experiment/events.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace duplex::experiment {
namespace {

std::string hex(const std::string &bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    text += digits[number >> 4U];
    text += digits[number & 15U];
  }
  return text;
}

TEST(Events, HaveTheChecksumOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Events, BeginWithTheFilesVersion) {
  const std::string record = first_event(0.0);
  EXPECT_EQ(hex(record.substr(0, 8)), "1800000000000000");                           // 24 bytes
  EXPECT_EQ(hex(record.substr(8, 4)), "a37f4b22");                                   // the masked CRC of that length
  EXPECT_EQ(hex(record.substr(12, 9)), "090000000000000000");                        // wall_time = 0.0
  EXPECT_EQ(hex(record.substr(21, 2)) + record.substr(23, 13), "1a0dbrain.Event:2"); // file_version
  EXPECT_EQ(record.size(), 8U + 4U + 24U + 4U);
}

TEST(Events, HoldAStepsScalars) {
  const std::array<std::string, 2> names{"a", "bc"};
  const std::array<double, 2> numbers{1.0, -2.0};
  const std::string message = scalar_event(1.0, 300, names, numbers).substr(12);
  EXPECT_EQ(hex(message.substr(0, message.size() - 4)), "09000000000000f03f" // wall_time = 1.0
                                                        "10ac02"             // step = 300
                                                        "2a15"               // summary of 21 bytes
                                                        "0a08"               // value of 8
                                                        "0a0161"             // tag = "a"
                                                        "150000803f"         // simple_value = 1
                                                        "0a09"               // value of 9
                                                        "0a026263"           // tag = "bc"
                                                        "15000000c0");       // simple_value = -2
}

TEST(Events, LeaveOutWhatIsNotFinite) {
  const std::array<std::string, 3> names{"gone", "gone too", "kept"};
  const std::array<double, 3> numbers{std::numeric_limits<double>::quiet_NaN(), 1e300, 3.0};
  const std::string record = scalar_event(0.0, 1, names, numbers);
  EXPECT_EQ(record.find("gone"), std::string::npos);
  EXPECT_NE(record.find("kept"), std::string::npos);
}

} // namespace
} // namespace duplex::experiment
