// What `make fuzz` gives hours to, in a second each: the corpora, inputs that are right, and mutations of both that are
// the same every time. A target may use an input or refuse it; all else ends the test, under sanitizers all the more.

#include "fuzz.hpp"
#include "support.hpp"
#include "tool.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>

namespace duplex::fuzz {

inline void PrintTo(const Target &target, std::ostream *out) { *out << target.name; }

} // namespace duplex::fuzz

namespace duplex::testing {
namespace {

std::vector<std::string> inputs_of(const fuzz::Target &target) {
  auto inputs = target.seeds();
  const auto folder = std::filesystem::path(DUPLEX_CORPUS) / target.name;
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(folder)) {
    std::copy(std::filesystem::directory_iterator(folder), {}, std::back_inserter(files));
  }
  std::sort(files.begin(), files.end());
  for (const auto &file : files) {
    inputs.push_back(test::read_file(file));
  }
  return inputs;
}

class Mutations {
public:
  explicit Mutations(std::vector<std::string> inputs) : inputs_(std::move(inputs)) {}

  [[nodiscard]] std::string next() {
    std::string bytes = inputs_[below(inputs_.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      change(bytes);
    }
    return bytes;
  }

private:
  [[nodiscard]] std::size_t below(std::size_t limit) { return limit == 0 ? 0 : generator_() % limit; }

  void change(std::string &bytes) {
    static const std::array<std::string, 6> odd{std::string(8, '\xFF'),
                                                std::string(7, '\xFF') + '\x7F',
                                                std::string(8, '\0'),
                                                std::string("\0\0\0\0\0\0\xF8\x7F", 8),
                                                "-1",
                                                "99999999999999999999"};
    const std::size_t at = below(bytes.size() + 1);
    switch (below(6)) {
    case 0:
      bytes.insert(at, 1, static_cast<char>(generator_()));
      break;
    case 1:
      bytes.erase(at, 1 + below(9));
      break;
    case 2:
      bytes.replace(at, odd[at % odd.size()].size(), odd[at % odd.size()]);
      break;
    case 3:
      bytes.insert(at, odd[below(odd.size())]);
      break;
    case 4: {
      const auto &other = inputs_[below(inputs_.size())];
      const std::size_t from = below(other.size() + 1);
      bytes = bytes.substr(0, at) + other.substr(from, below(64));
      break;
    }
    default:
      if (at < bytes.size()) {
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << below(8)));
      }
    }
  }

  std::vector<std::string> inputs_;
  std::mt19937_64 generator_{1};
};

class FuzzTarget : public ::testing::TestWithParam<fuzz::Target> {};

TEST_P(FuzzTarget, UsesOrRefusesWhateverItIsGiven) {
  const auto &target = GetParam();
  const auto inputs = inputs_of(target);
  ASSERT_FALSE(inputs.empty());
  for (const auto &input : inputs) {
    EXPECT_NO_THROW(target.run(input));
  }
  Mutations mutations(inputs);
  constexpr int mutated = 3000;
  for (int i = 0; i < mutated; ++i) {
    const std::string input = mutations.next();
    ASSERT_NO_THROW(target.run(input)) << target.name << ", mutation " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Everything, FuzzTarget, ::testing::ValuesIn(fuzz::targets()),
                         [](const auto &one) { return std::string(one.param.name); });

} // namespace
} // namespace duplex::testing
