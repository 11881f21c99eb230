// SPDX-License-Identifier: Apache-2.0
//
// These tests ask for files in all forms. They run the real program.
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public CliFixture {};

const std::string kOnePoint = "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth ";

TEST_F(OutputFiles, FilesThatAreNamedAreWrittenInTheFormOfTheirEndingsAndNoOthers) {
  const std::string two = "matmul_sweep --backend emulated -a shape=64,96 ";
  const Outcome outcome = run(two +
                              "-o a.json -o b.csv -o c.md -o d.tex -o f.html -o g.jsonl -o h.txt "
                              "-o junit=i.out -o j.pftrace");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const auto& [file, part] :
       std::initializer_list<std::pair<const char*, const char*>>{{"a.json", "\"howard.result/1\""},
                                                                  {"b.csv", "64x64x64"},
                                                                  {"c.md", "| 64x64x64"},
                                                                  {"d.tex", "\\toprule"},
                                                                  {"f.html", "</html>"},
                                                                  {"g.jsonl", "howard.run/1"},
                                                                  {"h.txt", "64x64x64"},
                                                                  {"i.out", "<testcase"}}) {
    EXPECT_TRUE(contains(content(folder() / file), part)) << file << outcome.err;
  }
  EXPECT_GT(fs::file_size(folder() / "j.pftrace"), 1000U);
  EXPECT_FALSE(fs::exists(folder() / "results")) << "nobody asked for it";
  EXPECT_EQ(run(two + "--format csv").out, content(folder() / "b.csv"));
  EXPECT_EQ(run(two + "-o - --format tex").out, run(two + "-o latex=-").out);
  EXPECT_TRUE(contains(run(two + "-o -").err, "-o - does not say in which form"));
  EXPECT_TRUE(contains(run(two + "-o x.doc").err, "a file that ends in .txt, .json, .csv"));
  EXPECT_TRUE(contains(run("fit -c x.yaml -o x.svg").err, "accepted: a file that ends in"));
  const Outcome picture = run(two + "-o e.svg", "PATH=/nonexistent");
  EXPECT_EQ(picture.status, 1);
  EXPECT_TRUE(contains(picture.err, "cannot draw e.svg")) << picture.err;
}

TEST_F(OutputFiles, EveryCommandWritesWhatItFoundInTheSameForms) {
  put("ops.csv",
      "GLOBAL CALL COUNT,OP CODE,OP TYPE,DEVICE ID,CORE COUNT,DEVICE KERNEL DURATION [ns],"
      "DEVICE FW DURATION [ns],OP TO OP LATENCY [ns]\n"
      "1024,Matmul,tt_dnn_device,0,64,5000,5500,0\n");
  put_training();
  run(kOnePoint + "--results results --times a.txt");
  run("track results --db perf.db --commit one --branch main");
  const std::pair<const char*, const char*> asked[] = {
      {"explain -a m=64 -a k=64 -a n=64", "howard.result/1"},
      {"tune -a m=64 -a k=64 -a n=64", "howard.result/1"},
      {"fit -c my.yaml --no-search", "howard.fit/2"},
      {"analyze ops.csv", "howard.result/1"},
      {"report results", "howard.result/1"},
      {"history --db perf.db", "howard.tables/1"}};
  for (const auto& [command, schema] : asked) {
    const Outcome outcome =
        run(std::string(command) + " -o x.json -o x.csv -o x.md -o x.tex -o x.html -o x.txt");
    EXPECT_EQ(outcome.status, 0) << command << outcome.err;
    EXPECT_TRUE(contains(content(folder() / "x.json"), schema)) << command;
    EXPECT_TRUE(contains(content(folder() / "x.csv"), ",")) << command;
    EXPECT_TRUE(contains(content(folder() / "x.md"), "|")) << command;
    EXPECT_TRUE(contains(content(folder() / "x.tex"), "\\toprule")) << command;
    EXPECT_TRUE(contains(content(folder() / "x.html"), "</html>")) << command;
    EXPECT_GT(fs::file_size(folder() / "x.txt"), 20U) << command;
    for (const char* const ending : {"json", "csv", "md", "tex", "html", "txt"}) {
      fs::remove(folder() / (std::string("x.") + ending));
    }
    EXPECT_TRUE(contains(run(std::string(command) + " --format json").out, schema)) << command;
  }
  run("compare a.txt a.txt -o same.json");
  EXPECT_TRUE(contains(content(folder() / "same.json"), "howard.tables/1"));
  EXPECT_TRUE(contains(run("history --db perf.db -o -").err, "does not say in which form"));
  run("history --db perf.db -o runs.jsonl");
  EXPECT_TRUE(contains(content(folder() / "runs.jsonl"), "howard.run/1"));
}

TEST_F(OutputFiles, ASinglePointLeavesItsJsonAloneUnlessAFolderIsAskedFor) {
  run(kOnePoint);
  EXPECT_TRUE(fs::exists(folder() / "results/matmul_sweep.json"));
  EXPECT_FALSE(fs::exists(folder() / "results/matmul_sweep.csv"));
  run(kOnePoint + "--results all");
  EXPECT_TRUE(fs::exists(folder() / "all/matmul_sweep.csv"));
}

}  // namespace
}  // namespace howard::cli
