// SPDX-License-Identifier: Apache-2.0
//
// These tests check what the program says about itself: help, version, list. They run the real
// program.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class Manual : public CliFixture {};

int lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Manual, HelpIsTheManualOnStandardOutput) {
  for (const char* const flag : {"--help", "-h"}) {
    const Outcome outcome = run(flag);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    for (const char* const option :
         {"--axis",        "--backend",  "--filter",  "--quick",       "--dry-run",
          "--repetitions", "--min-time", "--threads", "--seed",        "--chip",
          "--set",         "--results",  "--out",     "--pictures",    "--trace",
          "--device-logs", "--memory",   "--color",   "--no-progress", "--version"}) {
      EXPECT_TRUE(contains(outcome.out, option)) << option;
    }
  }
}

TEST_F(Manual, ShortHelpFitsAScreenAndNamesTheLongOne) {
  const json listed = json::parse(run("list --json -").out);
  std::vector<std::string> names{"", "matmul_sweep "};
  for (const json& command : listed["commands"]) {
    names.push_back(command["name"].get<std::string>() + " ");
  }
  for (const std::string& name : names) {
    const Outcome outcome = run(name + "-h");
    EXPECT_EQ(outcome.status, 0) << name;
    EXPECT_LE(lines(outcome.out), 40) << name << outcome.out;
    EXPECT_TRUE(contains(outcome.out, name + "--help says")) << outcome.out;
    const std::string whole = run(name + "--help").out;
    if (lines(whole) < 20) continue;
    EXPECT_LT(outcome.out.size(), whole.size()) << name;
  }
}

TEST_F(Manual, NoHelpTextIsWiderThanAHundredColumns) {
  const std::string all = run("list").out;
  std::istringstream commands(all.substr(all.find("Commands, each with")));
  std::string line;
  std::getline(commands, line);
  int count = 0;
  for (std::string name; commands >> name; ++count) {
    std::getline(commands, line);
    std::istringstream help(run(name + " --help").out);
    while (std::getline(help, line)) EXPECT_LE(line.size(), 100U) << name << ": " << line;
  }
  EXPECT_GT(count, 10);
}

// One table declares an option; nothing that is made of it may lack one.
TEST_F(Manual, EveryOptionIsInHelpInTheManualPageAndInCompletion) {
  const std::string page = run("man").out;
  const json listed = json::parse(run("list --json -").out);
  for (const json& command : listed["commands"]) {
    const std::string name = command["name"];
    const std::string help = run(name + " --help").out;
    const std::string words = run("completion words " + name + " -").out;
    for (const json& option : command["options"]) {
      const std::string text = option["text"];
      EXPECT_TRUE(text.size() > 10 && text.back() != '.') << name << ": " << text;
      for (const std::string one : option["names"]) {
        EXPECT_TRUE(contains(help, "  " + one) || contains(help, ", " + one)) << name << " " << one;
        EXPECT_TRUE(contains(words, one + "\t")) << name << " " << one;
        std::string in_roff = one;
        for (std::size_t at = 0; (at = in_roff.find('-', at)) != std::string::npos; at += 2) {
          in_roff.insert(at, 1, '\\');
        }
        EXPECT_TRUE(contains(page, in_roff)) << name << " " << one;
      }
    }
  }
}

TEST_F(Manual, EveryTextHasTheNameByWhichTheProgramWasStarted) {
  std::filesystem::create_symlink(HOWARD_RUN_EXPERIMENT, folder() / "howard");
  const auto as_howard = [&](const std::string& words) {
    const int status = std::system(
        ("cd '" + folder().string() + "' && ./howard " + words + " >said 2>&1").c_str());
    EXPECT_TRUE(WIFEXITED(status)) << words;
    return content(folder() / "said");
  };
  const auto has_other_name = [](std::string text) {
    for (const std::string path : {"./run_experiment", "cli/run_experiment"}) {
      for (std::size_t at; (at = text.find(path)) != std::string::npos;)
        text.erase(at, path.size());
    }
    return contains(text, "run_experiment");
  };
  const json listed = json::parse(run("list --json -").out);
  for (const json& command : listed["commands"]) {
    const std::string name = command["name"];
    for (const std::string& words : {name + " --help", "help " + name, "list " + name}) {
      EXPECT_FALSE(has_other_name(as_howard(words))) << words << "\n" << as_howard(words);
    }
  }
  for (const char* const words :
       {"--help", "matmul_sweep --help", "man", "nothing", "", "explain nothing", "report",
        "analyze", "list '('", "train", "compare a", "matmul_sweep all explain"}) {
    EXPECT_FALSE(has_other_name(as_howard(words))) << words << "\n" << as_howard(words);
  }
  EXPECT_TRUE(as_howard("nothing").starts_with("howard: unknown experiment"));
}

TEST_F(Manual, VersionNamesVersionAndCompiler) {
  const Outcome outcome = run("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with("howard 0.")) << outcome.out;
  EXPECT_EQ(lines(outcome.out), 1);
}

TEST_F(Manual, ListNamesExperimentsAndTheirAxes) {
  EXPECT_TRUE(run("list").out.starts_with("matmul_sweep "));
  const Outcome axes = run("list matmul_sweep");
  EXPECT_EQ(axes.status, 0);
  for (const char* const axis : {"shape", "dispatch", "dtype", "fidelity", "grid", "sync"}) {
    EXPECT_TRUE(contains(axes.out, axis)) << axis;
  }
}

TEST_F(Manual, ListTakesARegularExpressionAndShowsCommandsToo) {
  const std::string all = run("list").out;
  EXPECT_TRUE(contains(all, "\ntrain ")) << all;
  EXPECT_TRUE(contains(all, "\nexplain ")) << all;
  const Outcome some = run("list '^gpt2'");
  EXPECT_EQ(some.status, 0) << some.err;
  EXPECT_EQ(lines(some.out), 2) << some.out;
  EXPECT_TRUE(contains(some.out, "gpt2_full ") && contains(some.out, "gpt2_trace ")) << some.out;
  EXPECT_TRUE(contains(run("list train").out, "--checkpoint FILE"));
  EXPECT_EQ(run("list '('").status, 2);
  EXPECT_TRUE(contains(run("list gpt2_ful$").err, "did you mean gpt2_full?"));
}

TEST_F(Manual, ListAsJsonHasEveryExperimentWithItsAxes) {
  const Outcome outcome = run("list --json -");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json list = json::parse(outcome.out);
  EXPECT_EQ(list["schema"], "howard.list/1");
  EXPECT_GE(list["experiments"].size(), 16U);
  EXPECT_EQ(list["experiments"][0]["name"], "matmul_sweep");
  const json& axis = list["experiments"][0]["axes"]["emulated"][0];
  EXPECT_EQ(axis["name"], "shape");
  EXPECT_EQ(axis["default"].size(), 6U);
  EXPECT_EQ(json::parse(run("list gpt2_full --json -").out)["experiments"].size(), 1U);
  EXPECT_EQ(run("list --json list.json").out, "");
  EXPECT_EQ(content(folder() / "list.json"), outcome.out);
}

TEST_F(Manual, HelpOfANameDescribesThatExperiment) {
  const std::string text = run("matmul_sweep --help").out;
  for (const char* const part :
       {"matmul_sweep - TFLOPS against size", "AXES with --backend emulated", "fidelity",
        "default: 128x128x128", "AXES with --backend host", "10 iterations warm up",
        "PUBLISHED FIGURES", "run_experiment explain matmul_sweep"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
  EXPECT_EQ(run("list matmul_sweep").out, text);
  EXPECT_EQ(run("help matmul_sweep").out, text);
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help compare").out, run("compare --help").out);
  EXPECT_TRUE(contains(run("man --help").out, "run_experiment man - print the manual page"));
  EXPECT_EQ(run("version").out, run("--version").out);
  EXPECT_TRUE(contains(run("train --help").out, "--checkpoint"));
  EXPECT_FALSE(contains(run("--checkpoint FILE").out, "--bottlenecks"));
  for (const std::string name : {"matmul_sweep", "calibrate", "op_list", "gradient_check"}) {
    const Outcome outcome = run(name + " --help");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  const Outcome unknown = run("matmul_swep --help");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean matmul_sweep?")) << unknown.err;
}

}  // namespace
}  // namespace howard::cli
