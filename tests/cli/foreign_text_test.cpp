// SPDX-License-Identifier: Apache-2.0
// Files and programs of others: what they say drives no terminal, leaves no folder and fills no
// memory.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

class ForeignText : public CliFixture {
 protected:
  /// Writes a training file with this name, quoted as YAML.
  void put_training(const std::string& name) const {
    put("t.yaml", "training_config:\n  project_name: \"" + name +
                      "\"\n  tokenizer_type: char\n  data_path: d.txt\n  batch_size: 1\n"
                      "transformer_config:\n  num_blocks: 1\n  max_sequence_length: 32\n");
    std::string data;
    for (int i = 0; i < 400; ++i) data += "the quick brown fox ";
    put("d.txt", data);
  }
};

bool drives_terminal(const std::string& text) {
  return contains(text, "\x1b") || contains(text, "\x07") || contains(text, "\xC2\x9B") ||
         contains(text, "\u202E") || contains(text, "\r");
}

TEST_F(ForeignText, InOutputAndMessagesDrivesNoTerminal) {
  put_training(R"(a\e]0;X\ab\x9bc\u202Ed)");
  const Outcome planned = run("fit -c t.yaml --no-search");
  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_TRUE(contains(planned.out, "a ]0;X b c d")) << planned.out;
  EXPECT_FALSE(drives_terminal(planned.out + planned.err));
  put("e.yaml", "training_config:\n  batch_size: \"3\\e]0;X\\a\"\n");
  const Outcome refused = run("fit -c e.yaml");
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(contains(refused.err, "3 ]0;X ")) << refused.err;
  EXPECT_FALSE(drives_terminal(refused.err));
  EXPECT_FALSE(drives_terminal(run("'a\x1b]0;X\x07'").err));
  put_training(R"(a\e[31mb)");
  const Outcome red = run("fit -c t.yaml --no-search --color never");
  EXPECT_TRUE(contains(red.out, "a [31mb")) << "not even a color of ours: " << red.out;
}

TEST_F(ForeignText, ThatIsNoUtf8IsNoFailureOfALibrary) {
  put_training("a\xff");
  for (const std::string& words : {std::string("fit -c t.yaml --no-search --json f.json"),
                                   std::string("train -c t.yaml --with max_steps=1 --results r")}) {
    const Outcome outcome = run(words);
    EXPECT_FALSE(contains(outcome.err, "json.exception")) << outcome.err;
    EXPECT_EQ(outcome.status, 0) << words << outcome.err;
  }
  EXPECT_TRUE(contains(content(folder() / "f.json"), "\"a\uFFFD\""));
}

TEST_F(ForeignText, OfAResultNamesNoFileElsewhere) {
  ASSERT_EQ(run("matmul_sweep --quick --backend emulated --results r").status, 0);
  std::string result = content(folder() / "r/matmul_sweep.json");
  const std::string name = "\"experiment\": \"matmul_sweep\"";
  ASSERT_TRUE(contains(result, name));
  result.replace(result.find(name), name.size(), "\"experiment\": \"../../PWN\"");
  put("x.json", result);
  EXPECT_EQ(run("report x.json --paper a/b/c").status, 0);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
    if (!contains(entry.path().filename().string(), "PWN")) continue;
    ++files;
    EXPECT_EQ(entry.path().parent_path(), folder() / "a/b/c") << entry.path();
  }
  EXPECT_GE(files, 3U);
}

TEST_F(ForeignText, OfAProgramThatDoesNotStopIsBounded) {
  // Sanitizers reserve more addresses than a machine has memory.
  const bool limits = std::string_view(HOWARD_SANITIZE).empty();
  const Outcome outcome =
      run("compare --exec-a yes --exec-b yes", limits ? "ulimit -v 4000000;" : "");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "it is more than 256 MiB")) << outcome.err;
  const Outcome in_file = run("compare --exec-a 'yes > {out}' --exec-b true");
  EXPECT_EQ(in_file.status, 1);
  EXPECT_TRUE(contains(in_file.err, "it is more than 256 MiB")) << in_file.err;
}

TEST_F(ForeignText, APipeOrADeviceIsNoDatabase) {
  ASSERT_EQ(::mkfifo((folder() / "pipe").c_str(), 0600), 0);
  for (const std::string database : {"pipe", "/dev/null"}) {
    const Outcome outcome = run("history --db " + database);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(contains(outcome.err, "it is a device or a pipe")) << outcome.err;
  }
}

TEST_F(ForeignText, NoFileStaysBesideADatabaseThatWasRead) {
  ASSERT_EQ(run("matmul_sweep --quick --backend emulated --results r").status, 0);
  ASSERT_EQ(run("track r --db p.db --commit abcdef12").status, 0);
  ASSERT_EQ(run("history --db p.db").status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder() / "p.db-wal"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "p.db-shm"));
}

}  // namespace
}  // namespace howard::cli
