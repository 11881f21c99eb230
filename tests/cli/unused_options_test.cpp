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
    {"analyze a --json - --format html --output -", "nothing else can go"},
    {"analyze a ./a --join", "the file of each host once, and ./a twice"},
    {"analyze a --compare-emulated --pictures p", "--pictures is for logs that are shown"},
    {"analyze a --picture-size 900x600", "--picture-size is for --pictures DIR"},
    {"report a --paper p --format html", "--paper writes LaTeX, CSV and Markdown"},
    {"report a --base main", "--base is for --against and --db"},
    {"history --export e --last 3", "--export writes whole runs"},
    {"matmul_sweep --set dram.read=1GB/s", "dram.read.noc0=... or dram.read.noc1=..."},
    {"tune -a m=64 -a k=64 -a n=64 --set noc.link=20B/cycle,24B/cycle", "accepted: one quantity"},
    {"compare a b --pairs 3", "--pairs is for --exec-a and --exec-b"},
    {"train_nano_gpt --data x --prompt a", "--prompt is for --generate N"},
    {"train_nano_gpt --data x --momentum 0.9", "--momentum is for --optimizer sgd"},
    {"train_nano_gpt --data x --theta 500000", "--theta is for --model-type llama"},
    {"train_nano_gpt --data x --schedule cosine --gamma 2", "--gamma is for --schedule step"},
};

TEST_F(UnusedOptions, AreRefusedWithWhatTheyAreFor) {
  for (const auto& [arguments, part] : kRefused) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_TRUE(contains(outcome.err, part)) << arguments << ": " << outcome.err;
  }
}

}  // namespace
}  // namespace howard::cli
