// SPDX-License-Identifier: Apache-2.0
//
// These tests look at what a terminal of 80 columns shows. They run the real program in one.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

class OnATerminal : public CliFixture {
 protected:
  /// Returns what the program shows on a terminal of its own, without colours.
  std::string shown(const std::string& arguments, const std::string& environment = "") const {
    const std::string command = "cd '" + folder().string() + "' && NO_COLOR=1 " + environment +
                                " '" HOWARD_RUN_EXPERIMENT "' " + arguments;
    winsize size{.ws_row = 40, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t count; (count = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
      for (const char c : std::string(buffer.data(), static_cast<std::size_t>(count))) {
        if (c != '\r') text += c;
      }
    }
    ::close(terminal);
    ::waitpid(child, nullptr, 0);
    return text;
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the characters of a line of UTF-8.
std::ptrdiff_t width_of(const std::string& line) {
  return std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
}

TEST_F(OnATerminal, HelpListsAndMessagesAreBrokenBetweenWords) {
  for (const char* const words :
       {"-h", "analyze -h", "train -h", "fit --help", "list", "matmul_sweep --help",
        "matmul_sweep --backend emulated -a shape=64", "explain -a m=64 -a k=64 -a n=64",
        "matmul_sweep --chip nonsense"}) {
    for (const std::string& line : lines_of(shown(words))) {
      // What is to be copied stays in one line.
      const bool is_command = contains(line, " -a ") || contains(line, "run_experiment");
      if (is_command) continue;
      EXPECT_LE(width_of(line), 80) << words << ": " << line;
    }
  }
}

TEST_F(OnATerminal, ATableKeepsThePublishedFigureAndTheErrors) {
  const std::string sweep = shown("matmul_sweep --backend emulated -a shape=512,4096");
  for (const char* const column : {"expected error", "published", " error", "bound by"}) {
    EXPECT_TRUE(contains(sweep, column)) << column << "\n" << sweep;
  }
  EXPECT_TRUE(contains(sweep, "not shown in 80 columns: rate, of peak")) << sweep;
  const std::string inference =
      shown("inference -a model=llama-3.1-8b -a machine=n150 -a mode=performance");
  EXPECT_TRUE(contains(inference, "published")) << inference;
}

TEST_F(OnATerminal, AnAnalysisFitsTwoScreensAndEndsWithItsAnswer) {
  run("mlp_engines --backend emulated -a engine=dynamic -a variant=corrected -a dispatch=worker "
      "-a batch=256 -a dim=256 --device-logs logs");
  const std::string log = "logs/mlp_engines/*engine=dynamic*/ops_perf_results.csv";
  const std::string brief = shown("analyze " + log);
  EXPECT_LE(lines_of(brief).size(), 80U) << brief;
  EXPECT_GT(brief.find(": in short"), brief.find("ops by kernel time")) << brief;
  EXPECT_TRUE(contains(brief, "--top 15")) << brief;
  const std::string all = shown("analyze " + log + " --top 15");
  EXPECT_LT(all.find(": in short"), all.find("ops by kernel time")) << all;
  EXPECT_TRUE(contains(all, "what would save time"));
  // A file or a pipe gets all of it.
  EXPECT_TRUE(contains(run("analyze " + log).out, "what would save time"));
}

TEST_F(OnATerminal, CommandsAreNamedAsTheShellRunsThem) {
  const std::string launched = "HOWARD_LAUNCHER='" + (folder() / "run_experiment").string() + "'";
  EXPECT_TRUE(contains(shown("matmul_swep", launched), "did you mean matmul_sweep?"));
  EXPECT_TRUE(contains(shown("xyzzy", launched), "try ./run_experiment list"));
  EXPECT_TRUE(contains(shown("help", launched), "  ./run_experiment matmul_sweep\n"));
  EXPECT_FALSE(contains(run("xyzzy", launched).err, "./run_experiment")) << "a file";
}

}  // namespace
}  // namespace howard::cli
