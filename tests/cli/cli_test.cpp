// SPDX-License-Identifier: Apache-2.0
//
// These tests treat the command line as a contract: what a script may rely on. They run the real
// program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Cli : public CliFixture {
 protected:
  json results() const { return json::parse(content(folder() / "results/matmul_sweep.json")); }
};

const std::string kOnePoint = "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth ";

int lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Cli, FilesOfAnEarlierRunAreSaidToBeThat) {
  EXPECT_FALSE(contains(run(kOnePoint).err, "of an earlier one"));
  EXPECT_FALSE(contains(run(kOnePoint).err, "of an earlier one")) << "all of them are written anew";
  put("results/matmul_sweep_2.dat", "a second picture of another version");
  put("results/matmul_sweep_notes.md", "a user's own");
  put("results/two_queues.json", "another experiment");
  const Outcome outcome = run(kOnePoint + "--json -");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(
      contains(outcome.err, "not of this run, but of an earlier one: results/matmul_sweep.json\n"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "earlier one: results/matmul_sweep_2.dat\n")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "notes")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "two_queues")) << outcome.err;
  EXPECT_FALSE(contains(run(kOnePoint + "--json ./results/../results/matmul_sweep.json").err,
                        "earlier one: results/matmul_sweep.json\n"));
}

TEST_F(Cli, ARunLeavesEveryFileAndPrintsTheTableOnStandardOutput) {
  const Outcome outcome = run("matmul_sweep --backend emulated --trace trace.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const file : {"matmul_sweep.json", "matmul_sweep.csv", "matmul_sweep.md",
                                 "matmul_sweep.gp", "matmul_sweep.dat"}) {
    EXPECT_TRUE(fs::exists(folder() / "results" / file)) << file;
  }
  EXPECT_TRUE(contains(outcome.out, "4096x4096x4096")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "wrote results/matmul_sweep.{json,csv,md,")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "wrote trace.json")) << outcome.err;
  const json result = results();
  EXPECT_EQ(result["schema"], "howard.result/1");
  EXPECT_EQ(result["points"].size(), 12U);
  for (const json& point : result["points"]) {
    EXPECT_TRUE(point["metrics"]["time"].contains("picoseconds"));
    EXPECT_FALSE(point["reference"].is_null()) << point["id"];
  }
  const json trace = json::parse(content(folder() / "trace.json"));
  EXPECT_GT(trace["traceEvents"].size(), 1000U);
}

TEST_F(Cli, AFolderInTheFilesPlaceIsRefusedBeforeTheRun) {
  fs::create_directory(folder() / "there");
  for (const std::string option : {"--json", "--csv", "--md", "--times", "--trace"}) {
    const Outcome outcome = run(kOnePoint + option + " there");
    EXPECT_EQ(outcome.status, 1) << option;
    EXPECT_EQ(outcome.out, "") << option;
    EXPECT_TRUE(contains(outcome.err, "cannot write there: it is a folder")) << outcome.err;
  }
}

TEST_F(Cli, APageLiesWhereItsOptionSaysAndLinksToFilesBesideIt) {
  const Outcome outcome = run(kOnePoint + "--page='pages/a b.html'");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "wrote pages/a b.html")) << outcome.err;
  EXPECT_FALSE(fs::exists(folder() / "results/index.html"));
  EXPECT_FALSE(contains(content(folder() / "pages/a b.html"), "href=\"matmul_sweep.json\""));
  EXPECT_EQ(run(kOnePoint + "--page").status, 0);
  EXPECT_TRUE(contains(content(folder() / "results/index.html"), "href=\"matmul_sweep.json\""));
}

TEST_F(Cli, WhatWasWrittenHasALineForEachName) {
  const Outcome outcome = run("core_grid two_queues --quick --backend emulated");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const name : {"core_grid", "two_queues"}) {
    const std::string line = std::string("wrote results/") + name + ".{json,csv,md,";
    EXPECT_TRUE(contains(outcome.err, line.c_str())) << outcome.err;
  }
}

TEST_F(Cli, ATraceOfTheHostSaysWhatRecordingCost) {
  const Outcome outcome = run(
      "matmul_sweep --quick --repetitions 1 --min-time 0.001 --backend host -a shape=64 --trace "
      "t.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, ": recording added ")) << outcome.err;
  EXPECT_FALSE(contains(run("matmul_sweep --quick --backend emulated --trace t.json").err,
                        "recording added"))
      << "virtual time does not see it";
}

TEST_F(Cli, LogsOfTheChipAreNotClaimedOfARunOnTheHost) {
  const Outcome outcome =
      run("matmul_sweep --quick --repetitions 1 --min-time 0.001 --backend host -a shape=64 "
          "--device-logs logs");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "no emulated point was recorded")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "wrote logs")) << outcome.err;
}

TEST_F(Cli, WhatRunsInAnotherProcessIsNotShownAsIfItDidNothing) {
  const Outcome outcome = run(
      "mlp_engines --quick --repetitions 1 --min-time 0.001 --backend host -a engine=python,static "
      "-a variant=as_published -a dtype=pure_bf16 -a batch=32 -a dim=32 --trace t.json "
      "--memory memory");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  if (json::parse(content(folder() / "results/mlp_engines.json"))["points"][0]["skipped"]
          .is_string()) {
    GTEST_SKIP() << "there is no Python with the module";
  }
  EXPECT_TRUE(contains(outcome.err, "dtype:pure_bf16: no events: its steps run in another process"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "dtype:pure_bf16: no memory to show: ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "host/engine:static")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "host/engine:python")) << outcome.out;
  const std::string trace = content(folder() / "t.json");
  EXPECT_TRUE(contains(trace, "engine:static"));
  EXPECT_FALSE(contains(trace, "engine:python"));
}

TEST_F(Cli, MemoryOfAPointIsShownOnBothBackends) {
  for (const std::string backend : {"emulated", "host"}) {
    const std::string short_runs = backend == "host" ? " --repetitions 1 --min-time 0.001" : "";
    const Outcome outcome = run("mlp_engines --quick --backend " + backend + short_runs +
                                " -a engine=dynamic -a variant=corrected --memory memory");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const char* const word : {"memory by phase: ", "memory at its peak: ", "model", "forward",
                                   "backward", "step", "DRAM"}) {
      EXPECT_TRUE(contains(outcome.out, word)) << word;
    }
    bool found = false;
    for (const auto& entry : fs::directory_iterator(folder() / "memory" / "mlp_engines")) {
      if (!entry.path().filename().string().starts_with(backend + "__")) continue;
      found = true;
      EXPECT_TRUE(contains(content(entry.path() / "memory.md"), "| model"));
      const std::string buffers = content(entry.path() / "buffers.csv");
      EXPECT_TRUE(contains(buffers, "\nDRAM,")) << buffers;
      EXPECT_EQ(contains(buffers, "L1 circular buffer"), backend == "emulated");
      EXPECT_TRUE(fs::exists(entry.path() / "device_memory.dat"));
    }
    EXPECT_TRUE(found);
  }
}

TEST_F(Cli, TwoRunsAndAnyThreadCountGiveTheSameBytes) {
  ASSERT_EQ(run("matmul_sweep --backend emulated --threads 1 --json a.json --trace ta.json").status,
            0);
  ASSERT_EQ(run("matmul_sweep --backend emulated --threads 1 --json b.json --trace tb.json").status,
            0);
  ASSERT_EQ(run("matmul_sweep --backend emulated --threads 2 --json c.json --trace tc.json").status,
            0);
  EXPECT_EQ(content(folder() / "a.json"), content(folder() / "b.json"));
  EXPECT_EQ(content(folder() / "a.json"), content(folder() / "c.json"));
  EXPECT_EQ(content(folder() / "ta.json"), content(folder() / "tb.json"));
  EXPECT_EQ(content(folder() / "ta.json"), content(folder() / "tc.json"));
}

TEST_F(Cli, EveryExperimentWritesTheSameBytesForAnyThreadCount) {
  for (const char* const threads : {"1", "2", "5"}) {
    const std::string name = threads;
    const Outcome outcome =
        run("all --quick --backend emulated --threads " + name + " --json " + name + ".json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
  ASSERT_FALSE(content(folder() / "1.json").empty());
  EXPECT_EQ(content(folder() / "1.json"), content(folder() / "2.json"));
  EXPECT_EQ(content(folder() / "1.json"), content(folder() / "5.json"));
}

TEST_F(Cli, BothBackendsShareOneResult) {
  const Outcome outcome =
      run("matmul_sweep -a shape=64 -a dispatch=eth --repetitions 2 --min-time 0.001");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json points = results()["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["metrics"]["time"]["clock"], "virtual");
  EXPECT_EQ(points[1]["metrics"]["time"]["clock"], "wall");
  EXPECT_EQ(points[1]["metrics"]["time"]["samples"].size(), 2U);
}

TEST_F(Cli, JsonOnStandardOutputIsOnlyJson) {
  const Outcome outcome = run(kOnePoint + "--json -");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(json::parse(outcome.out)["points"].size(), 1U);
  EXPECT_TRUE(contains(outcome.err, "512x512x512")) << "the table moves to standard error";
}

TEST_F(Cli, AStandardOutputThatIsFullIsAnError) {
  for (const std::string command : {"list", "explain -a m=64 -a k=64 -a n=64", "--version"}) {
    const Outcome outcome = run(command + " >/dev/full 2>stderr #");
    EXPECT_EQ(outcome.status, 1) << command;
    EXPECT_TRUE(contains(outcome.err, "cannot write standard output"))
        << command << ": " << outcome.err;
  }
}

TEST_F(Cli, DryRunPrintsTheIdsAndRunsNothing) {
  const Outcome outcome = run("matmul_sweep --dry-run --backend emulated --filter 'dispatch:eth'");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.out), 6);
  EXPECT_FALSE(fs::exists(folder() / "results"));
}

TEST_F(Cli, ConstantsOfTheChipAreTakenWhereAnyPointIsEmulated) {
  const Outcome outcome =
      run("matmul_sweep gradient_check --dry-run --set host.op_call=1us --chip wormhole_b0_n150");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "/host/")) << "a point on the host beside the emulated ones";
}

/// These are command lines that nobody can mean, and what is said about them.
const std::pair<std::string, std::string> kBadLines[] = {
    {"", "no experiment named"},
    {"matmul_swep", "did you mean matmul_sweep?"},
    {"matmul_sweep --jsn x", "there is no option --jsn; did you mean --json?"},
    {"matmul_sweep -a shape=32 -a shape=64", "it is given twice, as 32 and as 64"},
    {"matmul_sweep --set host.finish=1us --set host.finish=2us", "gives host.finish twice"},
    {"matmul_sweep --set noc.link=20B/cycle,24B/cycle --set noc.link=20B/cycle",
     "gives noc.link twice"},
    {"matmul_sweep --seed -1", "cannot read option --seed: '-1'; accepted: a whole number from 0"},
    {"matmul_sweep --seed 18446744073709551616", "'18446744073709551616'; accepted"},
    {"matmul_sweep --threads 0x10", "'0x10'; accepted: a whole number from 1 to 4096"},
    {"matmul_sweep --json", "--json needs a value; try --json VALUE"},
    {"matmul_sweep --quick=maybe", "--quick takes no value"},
    {"matmul_sweep --chip nowhere.json", "No such file"},
    {"matmul_sweep --chip wormhole_b0_n15", "try --chip wormhole_b0_n150"},
    {"compare a b --threshold 1x", "--threshold: '1x'; accepted: a share from 0 to 1"},
    {"analyze a --top 0", "--top: '0'; accepted: a whole number from 1"},
    {"matmul_sweep -a shape=abc", "cannot set axis shape: 'abc'"},
    {"matmul_sweep -a shape=-5", "cannot set axis shape: '-5'"},
    {"matmul_sweep -a shape=0x32x32", "cannot set axis shape: '0x32x32'"},
    {"matmul_sweep -a shap=32", "try -a shape=..."},
    {"matmul_sweep -a shape", "AXIS=VALUE"},
    {"matmul_sweep -a dispatch=wroker", "-a dispatch=worker"},
    {"matmul_sweep --backend cloud", "emulated, host"},
    {"matmul_sweep --backend host -a dispatch=eth", "no axis 'dispatch'"},
    {"matmul_sweep --filter '('", "choose points by a filter: '('"},
    {"matmul_sweep --repetitions many", "many"},
    {"matmul_sweep --repetitions 0", "--repetitions"},
    {"matmul_sweep --min-time 0", "--min-time"},
    {"matmul_sweep --min-time nan", "--min-time: 'nan'; accepted: a number from 1e-06 to 3600"},
    {"matmul_sweep --threads 0", "--threads"},
    {"matmul_sweep --results ''", "--results is empty"},
    {"matmul_sweep --trace ''", "--trace is empty"},
    {"matmul_sweep --color green", "accepted: auto, always, never"},
    {"matmul_sweep --json - --csv -", "--json and --csv; accepted: one of them"},
    {"matmul_sweep --json x.txt --times ./x.txt", "--json and --times; accepted: one of them"},
    {"matmul_sweep -a dtype=uint32", "cannot set axis dtype: 'uint32'; accepted: bfloat16, "},
    {"matmul_sweep --set host.op_call=-1us", "a time that is not negative"},
    {"matmul_sweep --backend host --set host.op_call=1us", "all of this runs on the host; try "},
    {"matmul_sweep --backend host --set host.op_call=1us,2us", "try --backend emulated"},
    {"matmul_sweep --filter '^host/' --chip wormhole_b0_n150", "try --backend emulated"},
    {"multi_device --backend host", "try --backend emulated"},
    {"matmul_sweep --picture-size 900", "--picture-size: '900'; accepted: WIDTHxHEIGHT"},
    {"matmul_sweep --picture-size 100x100000", "400x300 to 10000x10000"},
    {"matmul_sweep --picture-format png,gif", "--picture-format: 'png,gif'; accepted: png, svg"},
    {"report . --format pdf", "accepted: a file for a picture; try -o FILE.pdf"},
    {"report . --format doc", "accepted: text, json, csv, md, latex, html"},
    {"train --preset nano_gpt --engine warp", "accepted: dynamic, static, traced"},
};

TEST_F(Cli, BadCommandLinesAreOneLineAndStatus2) {
  for (const auto& [arguments, part] : kBadLines) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(lines(outcome.err), 1) << arguments << ": " << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("run_experiment: ")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, part)) << arguments << ": " << outcome.err;
    EXPECT_FALSE(fs::exists(folder() / "results")) << arguments;
  }
}

TEST_F(Cli, APointThatFailsLeavesTheOthersAndStatus1) {
  const Outcome outcome =
      run("matmul_sweep --backend emulated -a shape=200000,512 -a dispatch=eth");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "DRAM of wormhole_b0_n300")) << outcome.err;
  const json points = results()["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_TRUE(points[0]["skipped"].is_string());
  EXPECT_TRUE(points[1]["skipped"].is_null());
}

TEST_F(Cli, PaddingIsSaidBesideTheTable) {
  const Outcome outcome = run("matmul_sweep --backend emulated -a shape=100 -a dispatch=eth");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(contains(outcome.out, "not a multiple of 32")) << outcome.out;
}

TEST_F(Cli, BadProfilesAreOneLineAndStatus1) {
  put("not.json", "{");
  put("other.json", R"({"schema": "other"})");
  put("missing.json",
      R"({"schema": "howard.profile/1", "name": "x", "kind": "chip", "constants": {}})");
  put("unit.json",
      R"({"schema": "howard.profile/1", "name": "x", "kind": "chip",
          "extends": "wormhole_b0_n300", "constants": {"noc.link":
          {"value": 1, "unit": "us", "meaning": "m", "source": "s"}}})");
  const std::pair<std::string, std::string> cases[] = {
      {"not.json", "it is not JSON"},
      {"other.json", "at /schema: \"other\"; accepted: \"howard.profile/1\""},
      {"missing.json", "constant clock.aiclk is missing"},
      {"unit.json", "constant noc.link has unit 'us'"},
  };
  for (const auto& [file, part] : cases) {
    const Outcome outcome = run(kOnePoint + "--chip " + file);
    EXPECT_EQ(outcome.status, 1) << file;
    EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
  }
}

TEST_F(Cli, AProfileChangesTheVirtualTime) {
  put("fast.json",
      R"({"schema": "howard.profile/1", "name": "fast_dram", "kind": "chip",
          "extends": "wormhole_b0_n300", "constants": {"dram.read.noc1":
          {"value": 190, "unit": "GB/s", "meaning": "m", "source": "a what-if"}}})");
  ASSERT_EQ(run("matmul_sweep --backend emulated -a shape=4096 -a dispatch=worker").status, 0);
  const json before = results();
  ASSERT_EQ(run("matmul_sweep --backend emulated -a shape=4096 -a dispatch=worker --chip fast.json")
                .status,
            0);
  const json after = results();
  EXPECT_EQ(after["context"]["chip_profile"], "fast_dram");
  EXPECT_LT(after["points"][0]["metrics"]["time"]["picoseconds"].get<std::int64_t>(),
            before["points"][0]["metrics"]["time"]["picoseconds"].get<std::int64_t>());
}

TEST_F(Cli, ASettingIsAQuickWhatIf) {
  ASSERT_EQ(run(kOnePoint + "--set host.finish=0us --results results").status, 0);
  EXPECT_LT(results()["points"][0]["metrics"]["time"]["value"].get<double>(), 70e-6);
  EXPECT_EQ(results()["context"]["software_profile"], "tt_metal_2025_12 with host.finish=0us");
  EXPECT_TRUE(contains(content(folder() / "results/matmul_sweep.md"), "set: host.finish=0us"));
  const Outcome typo = run(kOnePoint + "--set host.finsih=0us");
  EXPECT_EQ(typo.status, 2);
  EXPECT_TRUE(contains(typo.err, "host.finish=...")) << typo.err;
}

TEST_F(Cli, ACalibrationLeavesProfilesThatTheNextRunTakes) {
  const std::string small = "calibrate -a evaluations=60 --filter 'mlp_host|host.op_call' ";
  const Outcome outcome = run(small);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "calibrate: about ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, " evaluations of the model, which take about ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "calibrate: tables of measurements")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "calibrate: calibrated constants")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "calibrated_software.json")) << outcome.err;
  const json chip = json::parse(content(folder() / "results/calibrated_chip.json"));
  EXPECT_EQ(chip["name"], "wormhole_b0_n300 calibrated");
  const Outcome next = run(kOnePoint +
                           "--chip results/calibrated_chip.json "
                           "--software results/calibrated_software.json");
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_EQ(results()["context"]["software_profile"], "tt_metal_2025_12 calibrated");
}

TEST_F(Cli, AVerbsBadCommandLineIsOneLineAndStatus2AndABadFileIsStatus1) {
  put(folder() / "bad.json", "{\"schema\": \"howard.result/1\", \"experiment\": 7}");
  for (const char* const arguments :
       {"compare", "compare a", "compare a b c", "compare a b --exat",
        "compare a b --exec-a c --exec-b d", "report", "report . --format pdf", "compre a b"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
  }
  for (const char* const arguments :
       {"compare none.json bad.json", "compare bad.json bad.json", "report .", "report none"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
  }
  EXPECT_TRUE(contains(run("compare bad.json bad.json").err, "bad.json at /experiment: 7"));
  EXPECT_TRUE(contains(run("compre a b").err, "did you mean compare?"));
  for (const char* const verb : {"compare", "report"}) {
    const Outcome help = run(std::string(verb) + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(contains(help.out, std::string("run_experiment ") + verb)) << help.out;
  }
}

TEST_F(Cli, AllEndsWithASummaryAndVerdictsAndLeavesTheToolsOut) {
  const Outcome outcome = run("all --backend emulated");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "within 10 %")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "number confirmed, cause not")) << "5.29x";
  EXPECT_TRUE(contains(outcome.out, "artefact")) << "1.71x";
  EXPECT_FALSE(fs::exists(folder() / "results/fidelity.json"));
  EXPECT_FALSE(fs::exists(folder() / "results/calibrate.json"));
  EXPECT_FALSE(contains(run("matmul_sweep --backend emulated").out, "within 10 %"));
  const std::string list = run("list").out;
  EXPECT_GT(list.find("\nfidelity"), list.find("Tools")) << list;
  EXPECT_LT(list.find("\ntwo_queues"), list.find("Tools")) << list;

  // The same tables come from the files alone.
  const Outcome markdown = run("report results");
  EXPECT_EQ(markdown.status, 0) << markdown.err;
  EXPECT_TRUE(contains(markdown.out, content(folder() / "results/two_queues.md").substr(14, 200)));
  EXPECT_TRUE(contains(markdown.out, "number confirmed, cause not")) << markdown.out;
  EXPECT_LT(markdown.out.find("matmul_sweep:"), markdown.out.find("core_grid:")) << "as in list";
  EXPECT_TRUE(contains(run("report results --format latex").out, "\\toprule"));
  EXPECT_TRUE(contains(run("report results --format csv").out, "experiment,"));
  const json benchmarks = json::parse(run("report results --format google-benchmark").out);
  EXPECT_GT(benchmarks["benchmarks"].size(), 200U);
}

TEST_F(Cli, WithoutGnuplotTheDataAndTheScriptStay) {
  const Outcome outcome = run(kOnePoint + "--results results", "PATH=/nonexistent");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "gnuplot")) << outcome.err;
  EXPECT_TRUE(fs::exists(folder() / "results/matmul_sweep.gp"));
  EXPECT_FALSE(fs::exists(folder() / "results/matmul_sweep.png"));
  EXPECT_TRUE(fs::exists(folder() / "results/matmul_sweep.json"));
}

TEST_F(Cli, PicturesHaveTheSizeAndTheFormatsThatAreAskedFor) {
  const Outcome outcome = run(kOnePoint + "--picture-size 480x384 --picture-format svg,pdf,svg");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(folder() / "results/matmul_sweep.png"));
  const std::string script = content(folder() / "results/matmul_sweep.gp");
  EXPECT_TRUE(contains(script, "svg size 480,384")) << script;
  EXPECT_TRUE(contains(script, "set output 'matmul_sweep.pdf'")) << script;
  EXPECT_FALSE(contains(script, "pngcairo")) << script;
}

TEST_F(Cli, AResultsFolderThatCannotBeWrittenStopsBeforeAnyTimeIsSpent) {
  put("results", "a file in the way");
  const Outcome outcome = run(kOnePoint);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "results")) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Cli, AFullDiskIsReportedAndTheOtherFilesAreKept) {
  const Outcome outcome = run(kOnePoint + "--json /dev/full --csv kept.csv");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "cannot write /dev/full: No space left")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "512x512x512")) << "the table still shows the points";
  EXPECT_TRUE(fs::exists(folder() / "kept.csv"));
}

TEST_F(Cli, CtrlCKeepsWhatIsFinished) {
  // The host points take a minute each, so the signal arrives while the first is being measured. It
  // comes once: without --foreground timeout signals its whole group too, and a second signal
  // kills.
  const Outcome outcome = run("matmul_sweep -a shape=256,512 --min-time 60",
                              "timeout --foreground --preserve-status --signal=INT 8");
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  const json result = results();
  EXPECT_EQ(result["points"].size(), 4U) << "the emulated points were finished";
  EXPECT_TRUE(contains(outcome.out, "emulated device")) << "shown before the host's points ran";
  EXPECT_TRUE(contains(outcome.err, "2 points follow on this machine's CPU")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "interrupted")) << outcome.err;
}

TEST_F(Cli, AKilledRunHasLostTheLastSecondOnly) {
  // There are sixteen points of more than 0.6 s each. Once the first is written, the program is
  // killed without a chance to write anything more.
  const Outcome outcome =
      run("matmul_sweep --backend host --repetitions 1 --min-time 0.6 "
          "-a shape=16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
          "sh -c '\"$@\" & until [ -s results/matmul_sweep.json ]; do sleep 0.1; done; "
          "kill -KILL $!; wait $!' sh");
  EXPECT_EQ(outcome.status, 137);
  const json result = results();
  EXPECT_TRUE(result["interrupted"].get<bool>());
  EXPECT_GE(result["points"].size(), 1U);
}

TEST_F(Cli, ColourIsForTerminalsUnlessAsked) {
  EXPECT_FALSE(contains(run(kOnePoint).out, "\x1b["));
  EXPECT_TRUE(contains(run(kOnePoint + "--color always").out, "\x1b["));
  EXPECT_FALSE(contains(run(kOnePoint, "NO_COLOR=1 FORCE_COLOR=1").out, "\x1b["));
}

}  // namespace
}  // namespace howard::cli
