// SPDX-License-Identifier: Apache-2.0
//
// These tests type what people have, a file or a folder or a part of a name, and no command. They
// run the real program.
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

class Objects : public CliFixture {
 protected:
  static constexpr const char* kLog =
      "GLOBAL CALL COUNT,OP CODE,OP TYPE,DEVICE ID,CORE COUNT,DEVICE KERNEL DURATION [ns],"
      "DEVICE FW DURATION [ns],OP TO OP LATENCY [ns]\n"
      "1024,Matmul,tt_dnn_device,0,64,5000,5500,0\n"
      "2048,Matmul,tt_dnn_device,0,64,5200,5700,900\n";
};

TEST_F(Objects, AreWhatTheirNamesAndFirstBytesSay) {
  put("step.py", "import ttnn\n");
  put("my.yaml", "training_config:\n");
  put("model.onnx", "x");
  put("config.json", "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\"}");
  put("run.json", "{\"schema\": \"howard.result/1\"}");
  put("work.json", "{\"schema\": \"howard.workload/2\"}");
  put("trace.json", "[]");
  put("ops.csv", kLog);
  for (const auto& [file, taken] : std::initializer_list<std::pair<const char*, const char*>>{
           {"step.py", "a script: run_experiment python step.py"},
           {"my.yaml", "a training: run_experiment fit -c my.yaml"},
           {"model.onnx", "an ONNX model: run_experiment explain model.onnx"},
           {"config.json",
            "a model's configuration: run_experiment inference -a model=config.json -a machine="},
           {"run.json", "a run's results: run_experiment report run.json"},
           {"work.json", "a workload: run_experiment explain work.json"},
           {"trace.json", "a log: run_experiment analyze trace.json"},
           {"ops.csv", "a log: run_experiment analyze ops.csv"}}) {
    const Outcome outcome = run(file);
    EXPECT_TRUE(contains(outcome.err, std::string(file) + " is " + taken)) << outcome.err;
  }
}

TEST_F(Objects, AFolderOfTheProfilerIsItsNewestLog) {
  for (const char* const date : {"2026_07_01", "2026_07_02"}) {
    const std::string place = std::string("generated/profiler/reports/") + date;
    std::filesystem::create_directories(folder() / place);
    put(place + "/ops_perf_results_" + date + ".csv", kLog);
    put(place + "/profile_log_device.csv", "ARCH: wormhole_b0");
  }
  for (const char* const command : {"", "analyze ", "explain "}) {
    const Outcome outcome = run(std::string(command) + "generated/profiler");
    EXPECT_TRUE(contains(outcome.err, "ops_perf_results_2026_07_02.csv")) << outcome.err;
  }
  EXPECT_EQ(run("generated/profiler").status, 0);
  std::filesystem::create_directories(folder() / "empty");
  const Outcome empty = run("empty");
  EXPECT_EQ(empty.status, 1);
  EXPECT_TRUE(contains(empty.err, "it has neither results nor a log of tt-metal's profiler"));
}

TEST_F(Objects, EachHasItsCommand) {
  put("ops.csv", kLog);
  const Outcome log = run("ops.csv");
  EXPECT_EQ(log.status, 0) << log.err;
  EXPECT_TRUE(contains(log.err, "ops.csv is a log: run_experiment analyze ops.csv")) << log.err;
  EXPECT_EQ(log.out, run("analyze ops.csv").out);

  put("my.yaml",
      "training_config:\n  batch_size: 1\n  tokenizer_type: char\n  max_steps: 1\n"
      "  model_config: model.yaml\n");
  put("model.yaml",
      "transformer_config:\n  model_type: gpt2\n  num_heads: 2\n  embedding_dim: 64\n"
      "  num_blocks: 1\n  max_sequence_length: 32\n  vocab_size: 96\n  dropout_prob: 0.0\n");
  const Outcome plan = run("my.yaml --no-search");
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_EQ(plan.out, run("fit my.yaml --no-search").out);
  EXPECT_EQ(plan.out, run("fit -c my.yaml --no-search").out);
  EXPECT_EQ(plan.out, run("explain my.yaml --no-search").out);

  run("matmul_sweep --backend emulated -a shape=64 --results results");
  const Outcome results = run("results");
  EXPECT_EQ(results.status, 0) << results.err;
  EXPECT_EQ(results.out, run("report results").out);

  // Options of the command may stand before what is given to it.
  EXPECT_EQ(run("--no-progress --chip n150 my.yaml").status, 2);
  EXPECT_EQ(run("--chip n150 my.yaml --no-search").out,
            run("fit -c my.yaml --chip n150 --no-search").out);
  EXPECT_TRUE(contains(run("--chip n150 my.yaml --no-search").out, "wormhole_b0_n150"));
  EXPECT_EQ(run("-- ops.csv").out, log.out);

  EXPECT_TRUE(contains(run("fit ops.csv").err,
                       "fit takes a training; ops.csv is a log: run_experiment analyze ops.csv"));
  EXPECT_EQ(run("tune ops.csv").status, 2);

  const Outcome missing = run("nothing.py");
  EXPECT_EQ(missing.status, 2);
  EXPECT_TRUE(contains(missing.err, "there is no file 'nothing.py'")) << missing.err;
}

TEST_F(Objects, AnExperimentIsNoFileOfItsName) {
  put("matmul_sweep", kLog);
  const Outcome outcome = run("matmul_sweep --backend emulated -a shape=64");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(contains(outcome.err, "matmul_sweep is an experiment here, and ./matmul_sweep a log"))
      << outcome.err;
  EXPECT_TRUE(contains(run("./matmul_sweep").err, "run_experiment analyze ./matmul_sweep"));
}

TEST_F(Objects, AxesNeedNoOption) {
  const std::string asked = run("matmul_sweep --backend emulated -a shape=64 --dry-run").out;
  EXPECT_TRUE(contains(asked, "shape:64x64x64")) << asked;
  EXPECT_EQ(run("matmul_sweep --backend emulated --shape 64 --dry-run").out, asked);
  EXPECT_EQ(run("matmul_sweep --shape=64 --backend emulated --dry-run").out, asked);
  EXPECT_EQ(run("matmul_sweep shape=64 --backend=emulated --dry-run").out, asked);
  EXPECT_EQ(run("explain matmul --m 64 --k 64 --n 64").out,
            run("explain matmul -a m=64 -a k=64 -a n=64").out);
  EXPECT_EQ(run("tune --m 64 --k 64 --n 64").out, run("tune -a m=64 -a k=64 -a n=64").out);
  // The value of an option stays its value, and an option that is none an error.
  EXPECT_EQ(run("matmul_sweep --filter shape=64 --dry-run").status, 2);
  EXPECT_TRUE(
      contains(run("matmul_sweep --shape").err, "--shape needs a value; try --shape VALUE"));
  const Outcome unknown = run("matmul_sweep --shap 64");
  EXPECT_EQ(unknown.status, 2);
}

TEST_F(Objects, AnOptionAfterAScriptIsTheScriptsAndThatIsSaid) {
  put("step.py", "print('ran')\n");
  put("own.py", "import sys  # takes --chip\nprint(sys.argv[1:])\n");
  const Outcome lost = run("step.py --chip p150");
  EXPECT_TRUE(contains(lost.err, "note: --chip is handed to step.py, which does not name it"))
      << lost.err;
  const Outcome own = run("own.py --chip p150");
  EXPECT_FALSE(contains(own.err, "note:")) << own.err;
  EXPECT_TRUE(contains(own.out, "['--chip', 'p150']")) << own.out;
}

TEST_F(Objects, UsualNamesAreUnderstood) {
  const auto dry = [&](const std::string& words) {
    return run("matmul_sweep --backend emulated --shape 64 --dry-run " + words).out;
  };
  EXPECT_EQ(dry("--dtype bf16 --dispatch ethernet"), dry("-a dtype=bfloat16 -a dispatch=eth"));
  EXPECT_EQ(dry("--dtype BFP8"), dry("-a dtype=bfloat8_b"));
  EXPECT_EQ(run("matmul_sweep --backend emulated --shape 64 --chip n150 --json -").out.substr(0, 9),
            "{\n  \"sche");
  const std::string n150 =
      run("matmul_sweep --backend emulated --shape 64 --chip n150 --csv -").out;
  EXPECT_EQ(n150,
            run("matmul_sweep --backend emulated --shape 64 --chip wormhole_b0_n150 --csv -").out);
  EXPECT_NE(n150, run("matmul_sweep --backend emulated --shape 64 --csv -").out);
  EXPECT_EQ(run("inference --model meta-llama/Llama-3.2-1B-Instruct --machine n300d --csv -").out,
            run("inference -a model=llama-3.2-1b -a machine=n300 --csv -").out);
}

TEST_F(Objects, AMachineOfAnotherFamilyHasItsOwnChip) {
  const auto rate = [&](const std::string& words) {
    return run("inference --model llama-3.2-1b --mode performance --csv - " + words).out;
  };
  const std::string own = rate("--machine p150");
  EXPECT_TRUE(contains(own, "blackhole_p150")) << own;
  EXPECT_FALSE(contains(own, "which --chip says")) << own;
  // With a constant of the other chip nobody knows what is meant.
  EXPECT_TRUE(contains(
      run("inference --model llama-3.2-1b --machine p150 --set dram.read.noc1=190GB/s").out,
      "a machine p150 has no wormhole_b0 chips, which --chip says"));
}

TEST_F(Objects, APartOfANameNamesWhatHasIt) {
  const auto advice = [&](const std::string& name) {
    const Outcome outcome = run(name);
    EXPECT_EQ(outcome.status, 2) << name;
    return outcome.err;
  };
  EXPECT_TRUE(contains(advice("llama"),
                       "try run_experiment llama_step, or run_experiment "
                       "llama_inference, or run_experiment inference -a model="))
      << advice("llama");
  EXPECT_TRUE(contains(advice("resnet"), "run_experiment vision -a model=resnet-50"));
  EXPECT_TRUE(contains(advice("qwen"), "run_experiment inference -a model=qwen2.5-0.5b"));
  EXPECT_TRUE(contains(advice("matmul"), "try run_experiment matmul_sweep"));
  EXPECT_TRUE(contains(advice("matmul_swep"), "did you mean matmul_sweep?"));
  EXPECT_TRUE(contains(advice("xyzzy"), "try run_experiment list"));
}

}  // namespace
}  // namespace howard::cli
