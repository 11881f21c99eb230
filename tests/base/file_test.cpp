// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard {
namespace {

namespace fs = std::filesystem;

class File : public ::testing::Test {
 protected:
  File() { fs::create_directories(folder_); }
  ~File() override { fs::remove_all(folder_); }

  fs::path folder_ = fs::path(::testing::TempDir()) /
                     (std::string("howard_file_") +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(File, ALinkIsWrittenThroughAndStaysALink) {
  write_file(folder_ / "target", "old");
  fs::create_symlink("target", folder_ / "near");
  fs::create_symlink(fs::absolute(folder_ / "near"), folder_ / "far");
  fs::create_symlink("later", folder_ / "dangling");
  write_file(folder_ / "far", "new");
  write_file(folder_ / "dangling", "first");
  EXPECT_EQ(read_file(folder_ / "target"), "new");
  EXPECT_EQ(read_file(folder_ / "later"), "first");
  for (const char* const link : {"near", "far", "dangling"}) {
    EXPECT_TRUE(fs::is_symlink(folder_ / link)) << link;
  }
}

TEST_F(File, WritesWholeContentAndMakesFolders) {
  write_file(folder_ / "a/b/c.txt", "hello");
  EXPECT_EQ(read_file(folder_ / "a/b/c.txt"), "hello");
}

TEST_F(File, ReplacesAndLeavesNoTemporaryBehind) {
  write_file(folder_ / "c.txt", "old and longer");
  write_file(folder_ / "c.txt", "new");
  EXPECT_EQ(read_file(folder_ / "c.txt"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, APieceBehindTheOtherIsTheWholeText) {
  std::string whole;
  write_file(folder_ / "pieces", [&](const TextSink& sink) {
    for (int i = 0; i < 100'000; ++i) {
      const std::string piece = std::to_string(i) + ",";
      whole += piece;
      sink(piece);
    }
    sink(whole);
  });
  EXPECT_EQ(read_file(folder_ / "pieces"), whole + whole);
}

TEST_F(File, ATextThatBreaksOffLeavesTheOldFileAndNothingElse) {
  write_file(folder_ / "c.txt", "old");
  EXPECT_THROW(write_file(folder_ / "c.txt",
                          [](const TextSink& sink) {
                            sink("new");
                            throw std::runtime_error("broke off");
                          }),
               std::runtime_error);
  EXPECT_EQ(read_file(folder_ / "c.txt"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, AWriterThatIsKilledLeavesTheOldFileAndNothingElse) {
  write_file(folder_ / "c.txt", "old");
  const pid_t writer = ::fork();
  if (writer == 0) {
    write_file(folder_ / "c.txt", [](const TextSink& sink) {
      sink(std::string(1 << 20, 'n'));
      ::raise(SIGKILL);
    });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_file(folder_ / "c.txt"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, AFullDiskIsAnErrorThatSaysSo) {
  const std::string message = error_of([&] { write_file("/dev/full", "x"); });
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
}

TEST_F(File, AFolderBelowAFileCannotBeWritten) {
  write_file(folder_ / "file", "x");
  EXPECT_THROW(write_file(folder_ / "file/below.txt", "y"), Error);
  EXPECT_THROW(require_writable_folder(folder_ / "file/below"), Error);
  EXPECT_EQ(read_file(folder_ / "file"), "x");
}

TEST_F(File, AWritableFolderIsMadeAndLeftEmpty) {
  require_writable_folder(folder_ / "new");
  EXPECT_TRUE(fs::is_empty(folder_ / "new"));
}

TEST_F(File, ReadingWhatIsNotAFileIsAnError) {
  EXPECT_THROW(read_file(folder_ / "missing"), Error);
  EXPECT_THROW(read_file(folder_), Error);
}

TEST(FileName, HasNothingThatSomeSystemRefuses) {
  EXPECT_EQ(file_name_of("emulated/shape:64x64x64/devices:0+4"),
            "emulated__shape=64x64x64__devices=0+4");
  for (const std::string text : {"a,b", "a*b", "a b", "\xc3\xa9", "", ".", "..", "a\\b\"c<d>|?"}) {
    const std::string name = file_name_of(text);
    EXPECT_EQ(name.find_first_not_of("abcd0123456789ef_=."), std::string::npos) << name;
    EXPECT_NE(name.find_first_not_of('.'), std::string::npos) << name;
  }
}

TEST(FileName, OfDifferentTextsIsDifferent) {
  EXPECT_NE(file_name_of("ops:a,b"), file_name_of("ops:a;b"));
  const std::string text(1000, 'x');
  EXPECT_NE(file_name_of(text + "y"), file_name_of(text + "z"));
  EXPECT_LE(file_name_of(text).size(), 200U);
}

}  // namespace
}  // namespace howard
