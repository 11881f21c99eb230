// SPDX-License-Identifier: Apache-2.0
//
// These tests type what people have, a file or a folder or a part of a name, and no command. They
// run the real program.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
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
  put("module.mlir", "x");
  put("config.json", "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\"}");
  put("run.json", "{\"schema\": \"howard.result/1\"}");
  put("work.json", "{\"schema\": \"howard.workload/2\"}");
  put("trace.json", "[]");
  put("ops.csv", kLog);
  for (const auto& [file, taken] : std::initializer_list<std::pair<const char*, const char*>>{
           {"step.py", "a script: run_experiment python step.py"},
           {"my.yaml", "a training: run_experiment fit -c my.yaml"},
           {"model.onnx", "an ONNX model: run_experiment explain model.onnx"},
           {"module.mlir", "a module of the TTNN dialect: run_experiment explain module.mlir"},
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

TEST_F(Objects, AModuleOfTheTtnnDialectIsExplained) {
  put("module.mlir",
      "#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, "
      "#ttnn.buffer_type<dram>>, <interleaved>>\n"
      "func.func @main() {\n"
      "%1 = \"ttnn.relu\"(%0) : (tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>\n"
      "%2 = \"ttnn.moe_gpt\"(%1) : (tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>\n}\n");
  const Outcome outcome = run("module.mlir");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "module.mlir: 2 ops, of which 1 run on the chip"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "left out, 50 % of the ops: moe_gpt x 1")) << outcome.err;
  put("module.mlir",
      "func.func @main() {\n%1 = \"ttnn.moe_gpt\"(%0) <{a = [1 : (tensor<1xf32>)\n}");
  EXPECT_TRUE(contains(run("module.mlir").err, "the '{' on line 1 is not closed"));
  put("module.mlir",
      "func.func @main() {\n%1 = \"ttnn.relu\"(%0) : (tensor<32x32xbf16>) -> "
      "tensor<32x32xbf16>\n}");
  const Outcome nothing = run("module.mlir");
  EXPECT_EQ(nothing.status, 1);
  EXPECT_TRUE(
      contains(nothing.err, "none of its ops can be run: relu (of tensors without a layout) x 1"))
      << nothing.err;
  put("module.mlir", "func.func @main() {}");
  EXPECT_TRUE(contains(run("module.mlir").err, "it has no op of the dialect ttnn"));
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

  put_training();
  const Outcome plan = run("my.yaml --no-search");
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_EQ(plan.out, run("fit my.yaml --no-search").out);
  EXPECT_EQ(plan.out, run("fit -c my.yaml --no-search").out);
  const Outcome explained = run("explain my.yaml");
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_TRUE(contains(explained.out, "traced dispatch")) << explained.out;

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
  EXPECT_TRUE(contains(run("tune ops.csv").err, "the log ops.csv"));

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

TEST_F(Objects, AnOptionAfterAScriptIsTheScriptsIfItReadsArguments) {
  put("step.py", "print('ran')\n");
  put("own.py", "import sys\nprint(sys.argv[1:])\n");
  const Outcome taken = run("step.py --chip nonsense");
  EXPECT_EQ(taken.status, 2);
  EXPECT_TRUE(contains(taken.err, "note: --chip is taken as an option of python, as step.py"))
      << taken.err;
  EXPECT_TRUE(contains(taken.err, "cannot read profile 'nonsense'")) << taken.err;
  EXPECT_TRUE(contains(run("step.py one --chip p150 --no-what-if").out, "ran"));
  EXPECT_TRUE(contains(run("step.py -o x.csv").err, "note: -o is taken as an option of python"));
  const Outcome own = run("own.py one --chip p150 --steps 3");
  EXPECT_TRUE(contains(own.err, "note: --chip is handed to own.py, which reads its arguments"))
      << own.err;
  EXPECT_TRUE(contains(own.out, "['one', '--chip', 'p150', '--steps', '3']")) << own.out;
  EXPECT_TRUE(contains(run("python -- own.py --chip p150").out, "['--chip', 'p150']"));
  EXPECT_TRUE(contains(run("own.py --help").out, "['--help']"));
}

TEST_F(Objects, WhatIsNoObjectIsSaidWithItsReason) {
  put("notes", "hello world\n");
  put("tool", "#!/bin/sh\necho\n");
  put("run", "#!/usr/bin/env python3\nprint('ran')\n");
  put("package.json", "{\"name\": \"x\"}");
  EXPECT_TRUE(contains(run("notes").err, "cannot tell what notes is: its first line is 'hello"));
  EXPECT_TRUE(contains(run("tool").err, "it is a program, and begins with '#!/bin/sh'"));
  EXPECT_TRUE(contains(run("./run").err, "./run is a script: run_experiment python ./run"));
  EXPECT_TRUE(contains(run("package.json").err, "it is JSON, but no result"));
  put("bench.json", "[{\"name\": \"a\", \"value\": 1, \"unit\": \"s\"}]");
  EXPECT_TRUE(contains(run("bench.json").err, "it is what a benchmark program wrote: compare"));
  ASSERT_EQ(std::system(("mkfifo '" + (folder() / "pipe").string() + "'").c_str()), 0);
  const Outcome pipe = run("pipe");
  EXPECT_EQ(pipe.status, 2);
  EXPECT_TRUE(contains(pipe.err, "it is a pipe or a device")) << pipe.err;
  EXPECT_TRUE(contains(pipe.err, "try run_experiment analyze pipe, if it is a log")) << pipe.err;
}

TEST_F(Objects, AMistypedFileHasTheNearestOneNamed) {
  put("my step.py", "print('ran')\n");
  put("train.yaml", "training_config:\n");
  put("ops.csv", kLog);
  EXPECT_TRUE(contains(run("'my stp.py'").err, "did you mean 'my step.py'?"));
  EXPECT_TRUE(contains(run("python 'my stp.py'").err, "did you mean 'my step.py'?"));
  EXPECT_TRUE(contains(run("'my step.py'").err, "run_experiment python 'my step.py'"));
  EXPECT_TRUE(contains(run("fit trian.yaml").err, "did you mean train.yaml?"));
  EXPECT_TRUE(contains(run("trian.yaml").err, "did you mean train.yaml?"));
  const Outcome explained = run("explain trian.yaml");
  EXPECT_TRUE(contains(explained.err, "try train.yaml")) << explained.err;
  EXPECT_FALSE(contains(explained.err, "is a model")) << explained.err;
  EXPECT_TRUE(contains(run("--model trian.yaml").err, "model is an axis of parallel"));
  EXPECT_TRUE(contains(run("fit -c trian.yaml").err, "No such file or directory")) << "read_file";
  EXPECT_TRUE(contains(run("fit -c trian.yaml").err, "try train.yaml"));
  EXPECT_TRUE(contains(run("analyze opps.csv").err, "try ops.csv"));
}

TEST_F(Objects, AFolderOfSeveralThingsSaysWhatIsInIt) {
  std::filesystem::create_directories(folder() / "logs");
  put("logs/one.csv", kLog);
  put("logs/readme", "text");
  EXPECT_EQ(run("logs").out, run("analyze logs/one.csv").out);
  put("logs/two.py", "print(1)");
  const Outcome several = run("logs");
  EXPECT_TRUE(contains(several.err, "it has one.csv (a log), two.py (a script)")) << several.err;
  EXPECT_TRUE(contains(several.err, "try run_experiment logs/one.csv")) << several.err;
}

TEST_F(Objects, SettingsOfGigabytesAreRefusedByTheirSize) {
  put("big.yaml", "training_config:\n");
  put("config.json", "{\"model_type\": \"llama\"");
  for (const char* const file : {"big.yaml", "config.json"}) {
    std::filesystem::resize_file(folder() / file, std::uintmax_t{3} << 30);  // a hole
    const Outcome outcome = run(file, "", "sh");
    EXPECT_TRUE(contains(outcome.err + outcome.out, "it has more than 16 MiB")) << outcome.err;
  }
}

TEST_F(Objects, AnAxisNeedsNoExperimentWhereOneIsMeant) {
  const Outcome model = run("--model llama-3.2-1b --machine n150 --mode performance --csv -");
  EXPECT_TRUE(contains(model.err, "no experiment is named: run_experiment inference")) << model.err;
  EXPECT_EQ(model.out,
            run("inference -a model=llama-3.2-1b -a machine=n150 -a mode=performance --csv -").out);
  EXPECT_TRUE(contains(run("Llama-3.2-1B-Instruct --dry-run").out, "machine:p150"));
  EXPECT_TRUE(contains(run("meta-llama/Llama-3.2-1B machine=n150 --dry-run").err,
                       "is a model: run_experiment inference -a model="));
  const Outcome shape = run("--shape 4096");
  EXPECT_EQ(shape.status, 2);
  EXPECT_TRUE(contains(shape.err, "try run_experiment matmul_sweep --shape 4096")) << shape.err;
  EXPECT_TRUE(contains(run("nobody/Nothing").err, "there is no file 'nobody/Nothing'"));
}

TEST_F(Objects, SizesKeysAndOptionsNeedNoOption) {
  const std::string tuned = run("tune -a m=64 -a k=128 -a n=256").out;
  EXPECT_TRUE(contains(tuned, "64")) << tuned;
  for (const char* const words : {"tune 64x128x256", "tune 64 128 256", "tune --shape 64x128x256",
                                  "tune shape=64x128x256", "tune --top 10 64x128x256"}) {
    EXPECT_EQ(run(words).out, tuned) << words;
  }
  EXPECT_EQ(run("tune --shape 64,128").status, 2);
  const auto dry = [&](const std::string& words) {
    return run("matmul_sweep --backend emulated shape=64 --dry-run " + words);
  };
  EXPECT_EQ(dry("seed=3 chip=n150").out, dry("--seed 3 --chip n150").out);
  EXPECT_EQ(dry("seed=x").status, 2);
  put_training();
  const std::string planned = run("fit -c my.yaml --no-search --with batch_size=4").out;
  EXPECT_NE(planned, run("fit -c my.yaml --no-search").out);
  EXPECT_EQ(run("my.yaml --no-search batch_size=4").out, planned);
  EXPECT_EQ(run("fit my.yaml --batch-size 4 --no-search").out, planned);
}

TEST_F(Objects, AWordThatOneAxisTakesNeedsNoAxis) {
  const auto dry = [&](const std::string& words) { return run(words + " --dry-run").out; };
  const std::string sweep = "matmul_sweep --backend emulated ";
  EXPECT_EQ(dry(sweep + "64x96x128"), dry(sweep + "-a shape=64x96x128"));
  EXPECT_EQ(dry(sweep + "64 96 128"), dry(sweep + "-a shape=64x96x128"));
  EXPECT_EQ(dry("matmul_sweep 64 --backend emulator"), dry(sweep + "-a shape=64"));
  EXPECT_EQ(dry("inference llama-3.2-1b n150"),
            dry("inference -a model=llama-3.2-1b -a machine=n150"));
  EXPECT_EQ(dry("vision resnet-50 --backend emulated"),
            dry("vision -a model=resnet-50 --backend emulated"));
  const std::string both = dry("dispatch_gaps core_grid --backend emulated");
  EXPECT_TRUE(contains(both, "dispatch_gaps/") && contains(both, "core_grid/")) << both;
  EXPECT_EQ(run("matmul_sweep nonsense").status, 2);
  EXPECT_TRUE(contains(run("matmul_sweep gpt2_ful").err, "did you mean gpt2_full?"));
  EXPECT_TRUE(contains(run("fit tinyllama").err, "there is no training file 'tinyllama'"));
}

TEST_F(Objects, AMachineIsNoChip) {
  const Outcome outcome = run("matmul_sweep --backend emulated --chip t3000");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(contains(outcome.err, "this is a machine; try --chip wormhole_b0_n300"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "run_experiment inference -a machine=t3k")) << outcome.err;
}

TEST_F(Objects, AScriptIsSummedUpWhereNoFileCanBeWritten) {
  put("step.py",
      "import ttnn\nd = ttnn.open_device(device_id=0)\n"
      "a = ttnn.rand((64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=d)\n"
      "b = a + a\nttnn.close_device(d)\n");
  put("results", "a file in the place of the folder");
  const Outcome outcome = run("step.py --no-what-if");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: the recorded program is not kept")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "of virtual time")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "explain")) << outcome.err;
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
  EXPECT_FALSE(contains(own, "which --chip or --card says")) << own;
  // With a constant of the other chip nobody knows what is meant.
  EXPECT_TRUE(contains(
      run("inference --model llama-3.2-1b --machine p150 --set dram.read.noc1=190GB/s").out,
      "a machine p150 has no wormhole_b0 chips, which --chip or --card says"));
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
  EXPECT_TRUE(contains(advice("tables"), "try run_experiment all --backend emulated"));
  EXPECT_TRUE(contains(advice("profile"), "try run_experiment python SCRIPT, or run_experiment"));
  EXPECT_TRUE(contains(advice("report"), "try run_experiment all --backend emulated"));
  EXPECT_TRUE(contains(advice("compare a b --fail-above 5%"), "is called --threshold now"));
}

}  // namespace
}  // namespace howard::cli
