// SPDX-License-Identifier: Apache-2.0
//
// `run_experiment analyze` and `explain` of logs that say what their ops computed, as a contract.
// The logs are those that the program writes itself. Runs the real program.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

class LogAnalysis : public CliFixture {
 protected:
  /// Writes the log of a pass over some ops, and says where.
  std::string log_of(const std::string& ops, const std::string& folder_name) {
    const Outcome made = run("op_list --backend emulated -a ops=" + ops +
                             " -a engine=dynamic --device-logs " + folder_name);
    EXPECT_EQ(made.status, 0) << made.err;
    for (const auto& entry : fs::recursive_directory_iterator(folder() / folder_name)) {
      if (entry.path().filename() == "ops_perf_results.csv") return entry.path().string();
    }
    return "";
  }
};

TEST_F(LogAnalysis, AnalyzeSaysWhyTheDeviceWaitedAndWhatToDo) {
  const std::string log = log_of("256x512/layernorm/linear:512/gelu", "logs");
  const Outcome outcome = run("analyze '" + log + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part : {"calls by kernel time", "256x512", "what would save time", "bound",
                                 "idle time by cause", "host issuing", "its clock counts"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  EXPECT_FALSE(contains(run("analyze --no-advice '" + log + "'").out, "calls by kernel time"));
  const auto all = nlohmann::json::parse(run("analyze '" + log + "' --json -").out);
  EXPECT_TRUE(contains(all.dump(), "log_calls"));
  EXPECT_TRUE(contains(all.dump(), "share_of_dram"));
}

TEST_F(LogAnalysis, AgainstAnOlderLogChangesAddUp) {
  const std::string before = log_of("256x512/linear:512/gelu", "before");
  const std::string after = log_of("256x512/linear:512/softmax", "after");
  const Outcome outcome =
      run("analyze '" + after + "' --against '" + before + "' --json both.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "what changed, by kernel time")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, " gone")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, " new")) << outcome.out;
  EXPECT_EQ(run("analyze a b --against c").status, 2);
  EXPECT_EQ(run("analyze '" + after + "' --against both.json").status, 1);
}

TEST_F(LogAnalysis, ProgramsAreListedInOrderAsTheyAreAskedFor) {
  const std::string log = log_of("256x512/layernorm/linear:512/gelu", "logs");
  const Outcome all = run("analyze '" + log + "' --programs --json list.json");
  ASSERT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(contains(all.out, "programs in order")) << all.out;
  EXPECT_TRUE(contains(content(folder() / "list.json"), "log_programs"));
  const Outcome products = run("analyze '" + log + "' --programs --op MATMUL --md -");
  EXPECT_TRUE(contains(products.out, "programs in order")) << products.out;
  const std::string list = products.out.substr(products.out.find("programs in order"));
  EXPECT_TRUE(contains(list, "Matmul")) << list;
  EXPECT_FALSE(contains(list, "LayerNorm")) << list;
  const Outcome none = run("analyze '" + log + "' --programs --longer-than 1000000");
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_TRUE(contains(none.out, " fits --op and --longer-than")) << none.out;
  EXPECT_EQ(run("analyze '" + log + "' --op x").status, 2) << "it lists nothing";
}

TEST_F(LogAnalysis, TheWarningsOfBothLogsAreSaid) {
  const std::string log = log_of("256x512/linear:512/gelu", "logs");
  put("cut.csv", content(log).substr(0, content(log).size() - 20));
  const Outcome outcome = run("analyze cut.csv --against '" + log + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "warning, after: left out 1 row")) << outcome.out;
  EXPECT_TRUE(contains(run("explain cut.csv").out, "left out 1 row"));
}

TEST_F(LogAnalysis, PicturesAreDrawnWhereTheyAreAskedFor) {
  const std::string log = log_of("256x512/linear:512/gelu", "logs");
  const Outcome outcome = run("analyze '" + log + "' --pictures pictures --picture-format svg");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const what : {"ops", "causes", "gaps", "idle", "roofline"}) {
    EXPECT_TRUE(
        fs::exists(folder() / "pictures" / (std::string("ops_perf_results_") + what + ".gp")))
        << what;
  }
}

TEST_F(LogAnalysis, ALogBecomesATimeline) {
  const std::string log = log_of("256x512/linear:512/gelu", "logs");
  ASSERT_EQ(run("analyze '" + log + "' --trace timeline.json").status, 0);
  const Outcome again = run("analyze timeline.json");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "Matmul")) << again.out;
}

TEST_F(LogAnalysis, ExplainRunsTheOpsOfALog) {
  const std::string log = log_of("256x512/layernorm/linear:512/gelu", "logs");
  const Outcome outcome = run("explain '" + log + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part : {"trace", "they are taken to be", "of the kernels' logged time"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  // Weights in a block format are tried where there are products, and named as not tried elsewhere.
  EXPECT_TRUE(contains(outcome.out, "-a weights=bfloat8_b")) << outcome.out;
  const Outcome none = run("explain '" + log_of("256x512/layernorm/gelu", "plain") + "'");
  EXPECT_TRUE(contains(none.out, "it has no matrix product")) << none.out;
  EXPECT_EQ(run("explain ./missing.csv").status, 1);
  const Outcome range = run("explain '" + log + "' --from nowhere");
  EXPECT_EQ(range.status, 1);
  EXPECT_TRUE(contains(range.err, "the log has no signposts")) << range.err;
}

TEST_F(LogAnalysis, ExplainHasTheCoresOfTheLogAndTakesOperandsThatDoNotFitTogether) {
  std::string text =
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,CORE COUNT,"
      "AVAILABLE WORKER CORE COUNT,HOST START TS,HOST DURATION [ns],DEVICE FW START CYCLE,"
      "DEVICE FW END CYCLE,DEVICE KERNEL DURATION [ns],INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,"
      "INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,"
      "OUTPUT_0_X,OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY\n";
  for (const int rows : {30'720, 28'672}) {  // Each takes most of L1.
    const std::string tensor =
        "1,1," + std::to_string(rows) + ",1024,TILE,BFLOAT16,DEV_0_L1_INTERLEAVED";
    text +=
        "Unary,tt_dnn_device,1,0,wormhole_b0,{'op_chain': '{U(op_type=UnaryOpType::RELU)}'},"
        "64,64,1000,500," +
        std::to_string(10'000'000 - 10 * rows) + ",20000000,150000," + tensor + "," + tensor + "\n";
  }
  put("l1.csv", text);
  const Outcome outcome = run("explain l1.csv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "log, dispatch eth")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "all 2 programs")) << outcome.out;
}

TEST_F(LogAnalysis, ALogBecomesAPageThatNamesWhatCouldNotBeRead) {
  const std::string log = log_of("256x512/linear:512/gelu", "logs");
  const Outcome outcome = run("analyze '" + log + "' --page=page.html");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "") << "the page stands in the place of the tables";
  const std::string page = content(folder() / "page.html");
  for (const char* const part :
       {"Where the time went", "Kernel time by op", "Products under the roofline",
        "what would save time", "idle time by cause", "id=\"timeline-data\""}) {
    EXPECT_TRUE(contains(page, part)) << part;
  }
  put("cut.csv", "OP CODE,OP TYPE\n");
  const Outcome some = run("analyze '" + log + "' cut.csv --page=some.html");
  EXPECT_EQ(some.status, 1);
  EXPECT_TRUE(contains(some.err, "cut.csv")) << some.err;
  EXPECT_TRUE(contains(content(folder() / "some.html"), "cut.csv"));
  EXPECT_TRUE(contains(content(folder() / "some.html"), "Kernel time by op"));
  EXPECT_EQ(run("analyze '" + log + "' --output page.html").status, 2);
}

TEST_F(LogAnalysis, APageNeedsALogThatCanBeRead) {
  const Outcome outcome = run("analyze nowhere.csv --page");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, run("analyze nowhere.csv").err);
  EXPECT_FALSE(fs::exists(folder() / "nowhere.html"));
}

TEST_F(LogAnalysis, ZonesOfADeviceLogHaveTheNamesOfTheOps) {
  const std::string log = log_of("256x512/layernorm/linear:512/gelu", "logs");
  const std::string zones = (fs::path(log).parent_path() / "profile_log_device.csv").string();
  const Outcome outcome = run("analyze '" + log + "' --zones '" + zones + "' --json both.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part : {"kernels of the RISCs by op", "BRISC", "NCRISC", "TRISC_0",
                                 "LayerNorm", "what would save time"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  EXPECT_FALSE(contains(outcome.out, "has zones of")) << "all programs have zones";
  EXPECT_TRUE(contains(content(folder() / "both.json"), "log_zones"));
  EXPECT_TRUE(contains(run("analyze '" + zones + "'").out, "kernels of the RISCs by op"));
  EXPECT_EQ(run("analyze a b --zones c").status, 2);
  const Outcome other = run("analyze '" + log + "' --zones '" + log + "'");
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.err, "as profile_log_device")) << other.err;
}

TEST_F(LogAnalysis, FilesOfSeveralHostsAreOneRun) {
  const std::string first = log_of("256x512/linear:512/gelu", "first");
  const std::string second = log_of("256x512/linear:512/gelu", "second");
  const Outcome outcome = run("analyze '" + first + "' '" + second + "' --join");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "ops of 2 devices as one")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "device 1 is of ops_perf_results.csv")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "what would save time")) << outcome.out;
  EXPECT_EQ(run("analyze '" + first + "' --join --against '" + second + "'").status, 2);
}

TEST_F(LogAnalysis, APaperHasEveryTableInThreeFormatsAndEveryPictureInTwoWidths) {
  ASSERT_EQ(run("matmul_sweep --backend emulated -a shape=512,1024 -a dispatch=eth").status, 0);
  const Outcome outcome = run("report results --paper paper", "PATH=/nowhere");
  EXPECT_EQ(outcome.status, 1) << "there is no gnuplot";
  for (const char* const file : {"matmul_sweep.tex", "matmul_sweep.csv", "matmul_sweep.md",
                                 "summary.tex", "matmul_sweep_column.gp", "matmul_sweep_page.gp"}) {
    EXPECT_TRUE(fs::exists(folder() / "paper" / file)) << file << outcome.err;
  }
  const std::string script = content(folder() / "paper" / "matmul_sweep_column.gp");
  EXPECT_TRUE(contains(script, "pdfcairo size 3.5in")) << script;
}

}  // namespace
}  // namespace howard::cli
