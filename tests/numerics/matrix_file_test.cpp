// Matrices from text files: what is wrong is named with file, line, what was found and what was expected.

#include "support.hpp"

#include <duplex/numerics/matrix_file.hpp>

#include <filesystem>
#include <fstream>

namespace duplex::testing {
namespace {

class MatrixFile : public ::testing::Test {
protected:
  [[nodiscard]] std::string written(const std::string &text) const {
    std::ofstream(path_) << text;
    return path_;
  }
  [[nodiscard]] std::string refused(const std::string &text) const {
    return refusal([&] { (void)read_matrix_file(written(text)); });
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ =
      (std::filesystem::temp_directory_path() /
       ("duplex_matrix_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".txt"))
          .string();
};

TEST_F(MatrixFile, NamesFileAndLineOfWhatIsNotANumber) {
  EXPECT_EQ(refused("# comment\n1 0\n\n0 x1\n"), path_ + ":4: found 'x1', expected a number");
  EXPECT_EQ(refused("1 0\n0 1.5e\n"), path_ + ":2: found '1.5e', expected a number");
}

TEST_F(MatrixFile, NamesFileAndLineOfARowThatIsTooShort) {
  EXPECT_EQ(refused("1, 0\n0\n"), path_ + ":2: 1 numbers, expected 2 as in the rows before");
}

TEST_F(MatrixFile, RefusesACellThatIsEmpty) {
  for (const std::string row : {"1,,2", "1, ,2", "1;;2", "1,2,", ",1,2", "1 ,\t, 2", ","}) {
    EXPECT_CONTAINS(refused("1 2\n" + row + "\n"), path_ + ":2: cell ");
    EXPECT_CONTAINS(refused("1 2\n" + row + "\n"), "is empty, expected a number");
  }
}

TEST_F(MatrixFile, SaysWhatIsNoDouble) {
  EXPECT_EQ(refused("1 0\n0 1e999\n"), path_ + ":2: found '1e999', which is too large or too small for a double");
  EXPECT_EQ(refused("1 0\n0 +-1\n"), path_ + ":2: found '+-1', expected a number");
}

TEST_F(MatrixFile, SaysThatAFolderIsNoFile) {
  const auto folder = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(refusal([&] { (void)read_matrix_file(folder); }), folder + ": is a folder, expected a file");
}

TEST_F(MatrixFile, PassesOverAByteOrderMark) {
  EXPECT_EQ(read_matrix_file(written("\xEF\xBB\xBF"
                                     "2;1\n1;3")),
            (Mat(2, 2) << 2.0, 1.0, 1.0, 3.0).finished());
}

TEST_F(MatrixFile, RefusesFilesThatAreMissingOrEmpty) {
  EXPECT_EQ(refusal([&] { (void)read_matrix_file(path_); }), path_ + ": cannot be opened for reading");
  EXPECT_EQ(refused("# nothing\n"), path_ + ": holds no numbers, expected a matrix with one row a line");
}

TEST_F(MatrixFile, ReadsCommasBlanksAndTabs) {
  EXPECT_EQ(read_matrix_file(written("# A\n+2,\t-1\r\n\n -1  2e0\n")), (Mat(2, 2) << 2.0, -1.0, -1.0, 2.0).finished());
}

TEST_F(MatrixFile, MakesTheCounterExampleThatItHolds) {
  CounterExampleSettings settings;
  settings.matrix_file = written("2 1\n1 2\n");
  const auto answer = settings.make<double>().answer();
  ASSERT_TRUE(answer.has_value());
  EXPECT_LE((answer->y - Vec::Constant(2, 0.25)).norm(), 1e-15); // (A + I) y = e
}

} // namespace
} // namespace duplex::testing
