#include "text.hpp"

#include "report/files.hpp"
#include "report/table.hpp"
#include <duplex/core/error.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace duplex::report;
using duplex::test::contains;

namespace {

class Files : public ::testing::Test {
public:
  Files(const Files &) = delete;
  Files &operator=(const Files &) = delete;
  ~Files() override { fs::remove_all(folder_); }

protected:
  Files() {
    std::string pattern = (fs::temp_directory_path() / "report-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }

  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string content(const fs::path &file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  template <typename Exception, typename Action> static std::string message(Action action) {
    try {
      action();
    } catch (const Exception &error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  fs::path folder_;
};

} // namespace

TEST(Table, WithoutHeaderAndRowsIsEmpty) { EXPECT_EQ(Table({}).text(), ""); }

TEST(Table, TakesRowsShorterAndLongerThanTheHeader) {
  Table table({"a", "b"});
  table.add({});
  table.add({"x", "y", "z"});
  EXPECT_EQ(table.text(), "a  b\n─  ─  ─\n\nx  y  z\n");
}

TEST(Table, KeepsARowOnOneLine) {
  Table table({"a"});
  table.add({"x\ny"});
  EXPECT_EQ(table.text(), "a\n───\nx y\n");
}

TEST(Table, AlignsTheFirstColumnLeftAndTheOthersRight) {
  Table table({"method", "time"});
  table.add({"cg", "12.5 s"});
  EXPECT_EQ(table.text(), "method    time\n"
                          "──────  ──────\n"
                          "cg      12.5 s\n");
}

TEST(Table, MeasuresCellsAsTheyAreShown) {
  Table table({"‖d‖", "x\u0302"});
  table.add({"ab", "1"});
  EXPECT_EQ(table.text(), "‖d‖  x\u0302\n"
                          "───  ─\n"
                          "ab   1\n");
}

TEST_F(Files, NameTheFileAndTheReasonWhereTheFolderIsMissing) {
  const fs::path file = folder_ / "missing" / "a.csv";
  const std::string what = message<std::runtime_error>([&] { write_file(file, "x"); });
  EXPECT_TRUE(contains(what, file.string())) << what;
  EXPECT_TRUE(contains(what, "No such file or directory")) << what;
}

TEST_F(Files, DoNotReplaceAFolder) {
  EXPECT_TRUE(contains(message<std::runtime_error>([&] { write_file(folder_, "x"); }), "Is a directory"));
  EXPECT_TRUE(fs::is_directory(folder_));
}

TEST_F(Files, AreUnharmedAndLeaveNothingBehindWhenWritingFails) {
  const fs::path file = folder_ / "a.csv";
  write_file(file, "before");
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit no_more_than_a_page{4096, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &no_more_than_a_page), 0);
  const std::string what = message<std::runtime_error>([&] { write_file(file, std::string(100'000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(contains(what, "File too large")) << what;
  EXPECT_EQ(content(file), "before");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, ThatAreDevicesAreWrittenInPlace) {
  EXPECT_TRUE(contains(message<std::runtime_error>([] { write_file("/dev/full", "x"); }), "No space left on device"));
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, ThatAreLinksStayLinks) {
  write_file(folder_ / "target", "before");
  fs::create_symlink("target", folder_ / "link");
  write_file(folder_ / "link", "after");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content(folder_ / "target"), "after");
}

TEST_F(Files, OfDuplexsOwnReplaceLinks) {
  write_file(folder_ / "target", "before");
  fs::create_symlink("target", folder_ / "link");
  replace_file(folder_ / "link", "after");
  EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content(folder_ / "link"), "after");
  EXPECT_EQ(content(folder_ / "target"), "before");
}

TEST_F(Files, ThatAreNotPlainAreNotReadForever) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(contains(message<duplex::InvalidInput>([&] { (void)read_file(pipe); }), "is not a plain file"));
  EXPECT_TRUE(contains(message<duplex::InvalidInput>([&] { (void)read_file(folder_); }), "is not a plain file"));
  EXPECT_TRUE(contains(message<duplex::InvalidInput>([&] { (void)read_file(folder_ / "none"); }), "No such file"));
}

TEST_F(Files, AreTheSameByWhateverNameTheyHave) {
  const fs::path file = folder_ / "a";
  write_file(file, "x");
  write_file(folder_ / "b", "x");
  fs::create_symlink("a", folder_ / "link");
  fs::create_hard_link(file, folder_ / "second");
  for (const char *name : {"a", "./a", "link", "second"}) {
    EXPECT_TRUE(is_same_file(file, folder_ / name)) << name;
    EXPECT_TRUE(is_same_file(folder_ / name, file)) << name;
  }
  EXPECT_TRUE(is_same_file(folder_, folder_ / "."));
  EXPECT_FALSE(is_same_file(file, folder_ / "b"));
  EXPECT_FALSE(is_same_file(file, folder_));
}

TEST_F(Files, ThatAreNotThereAreTheSameAsNone) {
  write_file(folder_ / "a", "x");
  fs::create_symlink("none", folder_ / "dangling");
  for (const fs::path &missing : {folder_ / "none", folder_ / "dangling", folder_ / "a" / "b", fs::path()}) {
    EXPECT_FALSE(is_same_file(folder_ / "a", missing)) << missing;
    EXPECT_FALSE(is_same_file(missing, folder_ / "a")) << missing;
    EXPECT_FALSE(is_same_file(missing, missing)) << missing;
  }
}

TEST_F(Files, HoldExactlyWhatWasWritten) {
  const fs::path file = folder_ / "a.bin";
  const std::string bytes("a\0b\r\n\xFF", 6);
  write_file(file, "a longer content that was there before");
  write_file(file, bytes);
  EXPECT_EQ(content(file), bytes);
  write_file(file, "");
  EXPECT_EQ(content(file), "");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, MayHaveTheLongestNameThatAFolderAllows) {
  const fs::path file = folder_ / std::string(255, 'n');
  write_file(file, "x");
  EXPECT_EQ(content(file), "x");
}

TEST_F(Files, NeedAFolderWithAName) { EXPECT_THROW(require_writable_folder(""), duplex::InvalidInput); }

TEST_F(Files, CannotGoIntoAFile) {
  write_file(folder_ / "a", "x");
  const std::string what = message<duplex::InvalidInput>([&] { require_writable_folder(folder_ / "a"); });
  EXPECT_TRUE(contains(what, (folder_ / "a").string()) && contains(what, "not a folder")) << what;
  EXPECT_THROW(require_writable_folder(folder_ / "a" / "b"), duplex::InvalidInput);
}

TEST_F(Files, CannotGoIntoAFolderThatTakesNone) {
  EXPECT_TRUE(contains(message<duplex::InvalidInput>([] { require_writable_folder("/proc"); }), "'/proc'"));
  EXPECT_THROW(require_writable_folder("/proc/made/up"), duplex::InvalidInput);
}

TEST_F(Files, GoIntoFoldersThatAreMadeWhereMissing) {
  const fs::path nested = folder_ / "a" / "b";
  require_writable_folder(nested);
  require_writable_folder(nested);
  EXPECT_TRUE(fs::is_empty(nested));
}
