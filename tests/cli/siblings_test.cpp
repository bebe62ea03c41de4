// The tool is several programs that lie beside one another; one of them alone says what the others are built by.

#include "support.hpp"
#include "tool.hpp"

namespace duplex::test {
namespace {

TEST(ProgramsOfTheTool, ThatAreNotThereAreNamedWithWhatBuildsThem) {
  const ScratchFolder scratch;
  const auto alone = scratch.path() / "duplex";
  std::filesystem::copy_file(DUPLEX_TOOL, alone);
  for (const auto &[command, advice] :
       std::vector<std::pair<std::string, std::string>>{{"reproduce fig1", "make experiments"},
                                                        {"reproduce --help", "make experiments"},
                                                        {"few-shot", "make torch"}}) {
    const auto result = run_command(alone.string() + " " + command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_CONTAINS(result.output, advice);
  }
}

TEST(ProgramsOfTheTool, HandThemselvesOverToOneThatHasWhatTheyHaveAndTheExperiments) {
  const ScratchFolder scratch;
  const auto with_experiments = std::filesystem::path(DUPLEX_TOOL).replace_filename("duplex-reproduce");
  std::filesystem::copy_file(DUPLEX_TOOL, scratch.path() / "duplex-torch");
  std::filesystem::copy_file(with_experiments, scratch.path() / "duplex-reproduce-torch");
  const auto result = run_command((scratch.path() / "duplex-torch").string() + " reproduce nosuch");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_CONTAINS(result.output, "unknown experiment 'nosuch'");
}

} // namespace
} // namespace duplex::test
