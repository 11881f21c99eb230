// SPDX-License-Identifier: Apache-2.0
//
// An option that is taken and changes nothing answers another question than the one that was asked.
// These tests run the real program.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

class UnusedOptions : public CliFixture {};

const std::pair<std::string, std::string> kRefused[] = {
    {"matmul_sweep --backend emulated --repetitions 5", "--repetitions is for wall-clock points"},
    {"multi_device --min-time 1", "--min-time is for wall-clock points"},
    {"analyze a --json - --csv -", "--json and --csv; accepted: one of them"},
    {"analyze a --json - --page=-", "nothing else can go"},
    {"analyze a --page 'b c.html'", "--page takes its file after \"=\"; try --page='b c.html'"},
    {"matmul_sweep --page b.html", "--page takes its file after \"=\""},
    {"matmul_sweep --page=-", "--page=- is for analyze and report"},
    {"matmul_sweep --page=.", "--page=. is a folder; try --page=./index.html"},
    {"analyze a ./a --join", "the file of each host once, and ./a twice"},
    {"analyze a --compare-emulated --pictures p", "--pictures is for logs that are shown"},
    {"analyze a --picture-size 900x600", "--picture-size is for --pictures DIR"},
    {"report a --paper p --page", "--paper writes LaTeX, CSV and Markdown"},
    {"report a --against b", "--against is for pages; try --page"},
    {"report a --base main", "--base is for --against and --db"},
    {"history --export e --last 3", "--export writes whole runs"},
    {"matmul_sweep --set dram.read=1GB/s", "dram.read.noc0=... or dram.read.noc1=..."},
    {"tune -a m=64 -a k=64 -a n=64 --set noc.link=20B/cycle,24B/cycle", "accepted: one quantity"},
    {"matmul_sweep --backend emulated --set host.finish=0.1ps", "the clock counts picoseconds"},
    {"MATMUL_SWEEP", "did you mean matmul_sweep?"},
    {"op_list -a ops=", "-a ops=VALUE"},
    {"compare a b --pairs 3", "--pairs is for --exec-a and --exec-b"},
    {"train --preset nano_gpt --prompt a", "--prompt is for --generate N"},
    {"history --picture-size 900x600", "--picture-size is for --pictures DIR"},
};

TEST_F(UnusedOptions, AreRefusedWithWhatTheyAreFor) {
  for (const auto& [arguments, part] : kRefused) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_TRUE(contains(outcome.err, part)) << arguments << ": " << outcome.err;
  }
}

const std::pair<std::string, std::string> kFormerWords[] = {
    {"matmul_sweep --profile wormhole_b0_n150", "--profile is called --chip now"},
    {"matmul_sweep --plots p", "--plots is called --pictures now; try --pictures DIR"},
    {"history --plots p", "--plots is called --pictures now"},
    {"python --what-if no x", "--what-if is called --no-what-if now"},
    {"python --calls report x", "--calls is called --call-times now"},
    {"generate --safetensors w", "--safetensors is called --weights now"},
    {"generate --ignore-end", "--ignore-end is called --no-end now"},
    {"generate --calls ttml", "--calls is called --cache now"},
    {"report a --output p.html", "--output is called --page now; try --page[=FILE]"},
    {"core_grid -a traced=yes", "try -a trace=..."},
    {"two_queues -a config=half_2cq", "try -a layout=..."},
    {"train_nano_gpt --data x", "train_nano_gpt is now train --preset nano_gpt"},
    {"bisect a", "bisect is now git bisect run, with compare --strict"},
};

TEST_F(UnusedOptions, FormerWordsNameThePresentOnes) {
  for (const auto& [arguments, part] : kFormerWords) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_TRUE(contains(outcome.err, part)) << arguments << ": " << outcome.err;
  }
}

TEST_F(UnusedOptions, OfAPointSkipItWithAReasonAndARunWithoutAnotherPointFails) {
  const std::pair<std::string, std::string> skipped[] = {
      {"parallel -a model=tinyllama -a mesh=1x1x1 -a links=2", "one chip has no links"},
      {"parallel -a model=tinyllama -a mesh=1x1x1 -a socket=fabric", "one stage sends over no"},
      {"multi_device -a devices=0 -a mode=weak -a overlap=backward", "one chip sums nothing"}};
  for (const auto& [arguments, reason] : skipped) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_TRUE(contains(outcome.err, "nothing ran: every point was skipped: " + reason))
        << outcome.err;
  }
}

TEST_F(UnusedOptions, TimesThatARecordedProgramHasInItsFileCanNotBeSet) {
  put("script.py",
      "import ttnn\ndevice = ttnn.open_device(device_id=0)\n"
      "ttnn.zeros((32, 32), device=device)\nttnn.close_device(device)\n");
  const Outcome recorded = run("python --set host.ttnn_call=20us --json r.json script.py");
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_TRUE(
      contains(recorded.err, "explain results/script.workload.json --set host.ttnn_call=20us"))
      << recorded.err;
  const std::string again = "workload -a file=results/script.workload.json ";
  EXPECT_EQ(run(again).status, 0);
  const Outcome refused = run(again + "--set host.ttnn_call=30us");
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(contains(refused.err, "its file has this time: 20000000 ps")) << refused.err;
}

TEST_F(UnusedOptions, AFileWithoutAnySettingIsRefused) {
  put("empty.yaml", "# nothing\n");
  const Outcome outcome = run("fit -c empty.yaml");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "in empty.yaml: there is none in it")) << outcome.err;
  EXPECT_TRUE(contains(run("generate --weights NOT_THERE --prompt a").err, "no such file"));
}

}  // namespace
}  // namespace howard::cli
