// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/log_advice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "reports/findings/log_advice_report.h"
#include "reports/findings/log_difference.h"

namespace howard::profiler {
namespace {

constexpr std::string_view kHeader =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,HOST START TS,HOST DURATION [ns],DEVICE FW START CYCLE,"
    "DEVICE FW END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],PM IDEAL [ns],"
    "INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"
    "INPUT_1_W,INPUT_1_Z,INPUT_1_Y,INPUT_1_X,INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,"
    "OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,OUTPUT_0_X,OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,"
    "OUTPUT_0_MEMORY\n";

/// A program of a log, one after the other.
struct Op {
  std::string code = "Matmul";
  int call = 1;
  int cores = 64;
  std::int64_t host = 0, start = 0, kernel = 0;  ///< Nanoseconds and cycles, which are the same.
  std::string attributes = "{}";
  std::string in0 = "1,1,512,512", in1 = "1,1,512,512", out = "1,1,512,512";
  std::string fidelity = "HiFi4";
  std::string memory = "DEV_0_DRAM_INTERLEAVED";
  int device = 0;
  std::string in1_memory = {};  ///< Of the second operand; "": as the others.
  std::string in1_type = "BFLOAT16";

  std::string text() const {
    const auto tensor = [&](const std::string& shape) {
      return shape.empty() ? ",,,,,," : shape + ",TILE,BFLOAT16," + memory;
    };
    const auto second = [&] {
      return in1_memory.empty() ? tensor(in1) : in1 + ",TILE," + in1_type + "," + in1_memory;
    };
    return fmt::format(
        "{},tt_dnn_device,{},{},wormhole_b0,{},{},{},64,{},1000,{},{},{},{},5000,{},{},{}\n", code,
        call, device, attributes, fidelity, cores, host, start, start + kernel + 500, kernel + 500,
        kernel, tensor(in0), second(), tensor(out));
  }
};

Log read(const std::vector<Op>& ops) {
  std::string text(kHeader);
  for (const Op& op : ops) text += op.text();
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv", {.tensors = Tensors::read});
}

const chip::Profiles& profiles() {
  static const chip::Profiles loaded = chip::load_profiles();
  return loaded;
}

/// Of the only run.
reports::LogAdvice advice(const Log& log) {
  CallEmulator emulator(profiles());
  return reports::advice_of(log, &emulator).at(0);
}

const LogFinding* find(const reports::LogAdvice& advice, std::string_view what) {
  const auto found = std::ranges::find_if(advice.findings, [&](const LogFinding& finding) {
    return finding.what.find(what) != std::string::npos;
  });
  return found != advice.findings.end() ? &*found : nullptr;
}

/// `count` runs of `op`, launched well ahead of the device.
std::vector<Op> back_to_back(Op op, int count) {
  std::vector<Op> ops;
  for (int i = 0; i < count; ++i) {
    op.call = i + 1;
    op.host = i * 2'000;
    op.start = 1'000'000 + i * (op.kernel + 1'000);
    ops.push_back(op);
  }
  return ops;
}

TEST(LogAdvice, ACallHasItsSharesOfThePeaks) {
  const reports::LogAdvice found = advice(read(back_to_back({.kernel = 40'000}, 3)));
  ASSERT_EQ(found.uses.size(), 1U);
  const CallUse& use = found.uses[0];
  EXPECT_EQ(use.runs, 3U);
  EXPECT_EQ(use.time, SimTime::microseconds(120));
  EXPECT_EQ(use.facts.operands, "512x512 bfloat16, 512x512 bfloat16 -> 512x512 bfloat16");
  EXPECT_EQ(use.facts.flops, Flops(2LL * 512 * 512 * 512));
  EXPECT_EQ(use.facts.dram, Bytes(3LL * 512 * 512 * 2));
  EXPECT_EQ(use.facts.ideal, SimTime::microseconds(5));
  EXPECT_EQ(use.base_cores, 64);
  const double peak = profiles().chip.peak_flops(64, MathFidelity::hifi4);
  EXPECT_NEAR(use.flops_at_peak.seconds(), 2.0 * 512 * 512 * 512 / peak, 1e-11);
  ASSERT_TRUE(use.emulated) << use.not_emulated;
}

TEST(LogAdvice, TheLogsCountersAreShownBesideTheEmulator) {
  std::string text = "NOC UTIL (%),DRAM BW UTIL (%),PM FPU UTIL (%)," + std::string(kHeader);
  const std::vector<Op> ops = back_to_back({.kernel = 40'000}, 3);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    text += fmt::format("{},{},,{}", i == 0 ? "" : "10.5", 20 * (i + 1), ops[i].text());
  }
  TextBytes source(text);
  const auto found = advice(read_ops_csv(source, "ops.csv", {.tensors = Tensors::read}));
  ASSERT_EQ(found.uses.size(), 1U) << "counters make no other call";
  const auto& counters = found.uses[0].counters;
  EXPECT_NEAR(counters[0].value_or(0), 0.105, 1e-9) << "of the rows that have it";
  EXPECT_NEAR(counters[2].value_or(0), 0.4, 1e-9);
  EXPECT_FALSE(counters[8]) << "an empty column";
  std::ptrdiff_t shown = 0;
  for (const reports::Table& table : reports::advice_tables(found, "ops.csv", 5)) {
    shown += std::ranges::count(table.columns, "NOC UTIL", &reports::TableColumn::title);
  }
  EXPECT_EQ(shown, 1);
}

TEST(LogAdvice, TransposedOperandsCountTheRightSides) {
  const Log log = read(back_to_back({.kernel = 40'000,
                                     .attributes = "{'transpose_a': 'true'}",
                                     .in0 = "1,2,96,64",
                                     .in1 = "1,2,128,96",
                                     .out = "1,2,64,128"},
                                    1));
  EXPECT_EQ(facts_of(log.calls.row(1)).flops, Flops(2LL * 2 * 64 * 96 * 128));
}

TEST(LogAdvice, WhatIsInL1IsNoTrafficOfTheDram) {
  const Log log = read(back_to_back({.kernel = 40'000, .memory = "DEV_0_L1_INTERLEAVED"}, 1));
  EXPECT_EQ(facts_of(log.calls.row(1)).dram, Bytes());
  const Log sharded = read(back_to_back({.code = "SoftmaxDeviceOperation",
                                         .kernel = 40'000,
                                         .in1 = "",
                                         .memory = "DEV_0_L1_BLOCK_SHARDED"},
                                        1));
  const reports::LogAdvice found = advice(sharded);
  EXPECT_EQ(found.uses[0].dram_at_peak, SimTime());
}

TEST(LogAdvice, AProductOfAnotherOpIsComparedWithTheDefaultOne) {
  const Log log = read(back_to_back({.code = "MinimalMatmulOp", .kernel = 400'000}, 4));
  const reports::LogAdvice found = advice(log);
  const LogFinding* const finding = find(found, "ttnn.matmul");
  ASSERT_NE(finding, nullptr);
  CallEmulator emulator(profiles());
  OpRow plain = log.calls.row(1);
  plain.name = "Matmul";
  const auto emulated = emulator.run(plain);
  ASSERT_TRUE(emulated);
  EXPECT_EQ(finding->gain, finding->now - 4 * emulated->kernel);
  EXPECT_EQ(finding->source, GainSource::emulated);
  EXPECT_NE(find(found, "HiFi2"), nullptr);
}

TEST(LogAdvice, FewCoresAreABoundFromTheResultsTiles) {
  const Log log = read(back_to_back({.code = "LayerNormDeviceOperation",
                                     .cores = 1,
                                     .kernel = 50'000,
                                     .in0 = "1,1,32,1280",
                                     .in1 = "",
                                     .out = "1,1,32,1280"},
                                    10));
  const reports::LogAdvice found = advice(log);
  const LogFinding* const finding = find(found, "spread it over more cores");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->source, GainSource::at_most);
  EXPECT_LE(finding->gain, finding->now);
  const Log wide = read(back_to_back({.code = "LayerNormDeviceOperation", .kernel = 50'000}, 10));
  EXPECT_EQ(find(advice(wide), "spread it"), nullptr);
}

TEST(LogAdvice, TheHostsGapsAreWhatATraceWouldSave) {
  std::vector<Op> ops = back_to_back({.kernel = 10'000}, 65);
  for (int i = 5; i < 65; ++i) {  // called as late as they start
    Op& op = ops[static_cast<std::size_t>(i)];
    op.start += (i - 4) * 50'000;
    op.host = op.start - 1'000'000;
  }
  const reports::LogAdvice found = advice(read(ops));
  const LogFinding* const finding = find(found, "replay a trace");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->programs, 60U);
  EXPECT_NEAR(finding->gain.seconds(), 60 * 50e-6, 1e-4);
  EXPECT_EQ(find(advice(read(back_to_back({.kernel = 10'000}, 20))), "replay a trace"), nullptr);
}

TEST(LogAdvice, MovementsThatUndoEachOtherAreFound) {
  Op there{.code = "TransposeDeviceOperation",
           .kernel = 5'000,
           .in0 = "1,1,64,96",
           .in1 = "",
           .out = "1,1,96,64"};
  Op back = there;
  std::swap(back.in0, back.out);
  back.call = 2;
  back.host = 2'000;
  there.start = 1'000'000;
  back.start = 1'010'000;
  const reports::LogAdvice found = advice(read({there, back}));
  const LogFinding* const finding = find(found, "undo each other");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain, SimTime::microseconds(10));
}

TEST(LogAdvice, NothingToGainIsAnAnswer) {
  reports::LogAdvice nothing;
  nothing.uses.push_back({.name = "Matmul", .runs = 1, .time = SimTime::microseconds(1)});
  const std::vector<reports::Table> tables = reports::advice_tables(nothing, "log", 3);
  ASSERT_EQ(tables.size(), 3U);
  ASSERT_EQ(tables[0].notes.size(), 1U);
  EXPECT_NE(tables[0].notes[0].find("nothing to gain here"), std::string::npos);
}

TEST(LogDifference, ChangesAddUpToTheDifferenceOfTheKernels) {
  std::vector<Op> before = back_to_back({.kernel = 10'000}, 6);
  std::vector<Op> after = before;
  for (Op& op : after) op.kernel = 12'000;
  before.push_back(
      {.code = "Softmax", .call = 7, .host = 12'000, .start = 2'000'000, .kernel = 3'000});
  after.push_back({.code = "Exp", .call = 7, .host = 12'000, .start = 2'000'000, .kernel = 1'000});
  const reports::LogDifference found = reports::difference(read(before), read(after));
  ASSERT_EQ(found.changes.size(), 3U);
  EXPECT_EQ(found.changes[0].op, "Matmul");
  EXPECT_EQ(found.changes[0].change(), SimTime::microseconds(12));
  SimTime sum;
  for (const reports::LogChange& change : found.changes) sum += change.change();
  EXPECT_EQ(sum, found.kernels_after - found.kernels_before);
  const std::vector<reports::Table> tables = reports::difference_tables(found, "log", 1);
  EXPECT_EQ(tables.at(1).rows.size(), 2U) << "one, and the others";
}

TEST(LogAdvice, OperandsThatFitIntoL1AreTriedThere) {
  const auto log = read(back_to_back({.code = "BinaryNgDeviceOperation",
                                      .kernel = 20'000,
                                      .attributes = "{'binary_op_type': 'BinaryOpType::ADD'}"},
                                     3));
  const reports::LogAdvice found = advice(log);
  ASSERT_TRUE(found.uses.at(0).emulated) << found.uses[0].not_emulated;
  const LogFinding* const finding = find(found, "operands and result in L1");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->source, GainSource::emulated);
  EXPECT_GT(finding->gain, SimTime());
  const auto inside = read(back_to_back({.code = "BinaryNgDeviceOperation",
                                         .kernel = 20'000,
                                         .attributes = "{'binary_op_type': 'BinaryOpType::ADD'}",
                                         .memory = "DEV_0_L1_INTERLEAVED"},
                                        3));
  EXPECT_EQ(find(advice(inside), "operands and result in L1"), nullptr) << "they are there";
}

TEST(LogAdvice, IndependentNeighboursOnFewCoresCouldHaveAQueueEach) {
  std::vector<Op> ops = back_to_back({.cores = 16, .kernel = 40'000}, 4);
  EXPECT_EQ(find(advice(read(ops)), "a second queue"), nullptr)
      << "the second may read what the first wrote";
  for (Op& op : ops) op.out = "1,1,512,256";
  const reports::LogAdvice some = advice(read(ops));
  const LogFinding* const finding = find(some, "a second queue");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->programs, 4U);
  EXPECT_EQ(finding->gain, SimTime::microseconds(80));
  EXPECT_EQ(finding->source, GainSource::at_most);
  for (Op& op : ops) op.cores = 40;
  EXPECT_EQ(find(advice(read(ops)), "a second queue"), nullptr) << "both do not fit";
}

/// Two devices run the same; the second one is slower, and waits for its host twice as long.
std::vector<Op> two_devices() {
  std::vector<Op> ops;
  for (int device = 0; device < 2; ++device) {
    std::int64_t now = 1'000'000;
    for (int i = 0; i < 24; ++i) {
      const bool collective = i % 4 == 3;
      Op op{.code = collective ? "AllGatherAsync" : "Matmul", .call = 1024 * (i + 1) + device};
      op.device = device;
      op.memory = fmt::format("DEV_{}_DRAM_INTERLEAVED", device);
      op.kernel = collective ? 30'000 - 20'000 * device : 40'000 + 8'000 * device;
      now += i % 3 == 0 ? 40'000 * (device + 1) : 1'000;
      op.host = i % 3 == 0 ? now - 2'000 : now - 30'000;
      op.start = now + 70'000'000;
      now += op.kernel;
      ops.push_back(op);
    }
  }
  return ops;
}

TEST(LogAdvice, OfSeveralDevicesIsThatOfOne) {
  const Log log = read(two_devices());
  ASSERT_EQ(log.calls.size(), 2U) << "devices make the same calls";
  const reports::LogAdvice found = advice(log);
  ASSERT_EQ(found.uses.size(), 2U);
  EXPECT_EQ(found.uses[0].name, "Matmul");
  EXPECT_EQ(found.uses[0].runs, 18U);
  EXPECT_EQ(found.uses[0].time, SimTime::nanoseconds(18 * 48'000)) << "the slower device's";
  EXPECT_EQ(found.uses[1].time, SimTime::nanoseconds(6 * 20'000)) << "the mean of both";
  const LogFinding* const waits = find(found, "balance the devices");
  ASSERT_NE(waits, nullptr);
  EXPECT_EQ(waits->where, "AllGatherAsync");
  EXPECT_EQ(waits->gain, SimTime::nanoseconds(6 * 10'000));
  const LogFinding* const host = find(found, "replay a trace");
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->where, "the host of device 1");
  EXPECT_LE(host->programs, 8U) << "the gaps of one device";
}

TEST(LogAdvice, WhatDevicesRunOnOtherNumbersOfCoresIsOneCall) {
  std::vector<Op> ops = two_devices();
  for (Op& op : ops) {
    if (op.device == 1) op.cores = 48;
  }
  const reports::LogAdvice found = advice(read(ops));
  ASSERT_EQ(found.uses.size(), 2U);
  EXPECT_EQ(found.uses[1].name, "AllGatherAsync");
  EXPECT_EQ(found.uses[1].time, SimTime::nanoseconds(6 * 20'000)) << "once, not once a device";
}

TEST(LogAdvice, AConfiguredProductOfShardsIsEmulated) {
  // A decode product of a 3B model on an N150, which took 47.3 us.
  Op op{.kernel = 47'337,
        .attributes =
            "{'program_config': "
            "'MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=12;"
            "per_core_M=1;per_core_N=12;fused_activation=std::nullopt)'}",
        .in0 = "1,1,32,3072",
        .in1 = "1,1,3072,3072",
        .out = "1,1,32,3072",
        .fidelity = "HiFi2",
        .memory = "DEV_0_L1_WIDTH_SHARDED",
        .in1_memory = "DEV_0_DRAM_WIDTH_SHARDED",
        .in1_type = "BFLOAT8_B"};
  const reports::LogAdvice found = advice(read(back_to_back(op, 3)));
  const CallUse& use = found.uses.at(0);
  ASSERT_TRUE(use.emulated) << use.not_emulated;
  EXPECT_NEAR(use.emulated->kernel.seconds(), 47.3e-6, 10e-6);
  EXPECT_EQ(bound_of(use), "DRAM");
  op.attributes = "{'program_config': 'SomeProgramConfig(per_core_M=1)'}";
  EXPECT_FALSE(advice(read(back_to_back(op, 3))).uses.at(0).emulated);
}

TEST(LogAdvice, OpsAreKnownByTheNamesOfEachYear) {
  for (const char* const name : {"Softmax", "SoftmaxDeviceOperation"}) {
    const Op op{.code = name, .kernel = 20'000, .in1 = ""};
    const reports::LogAdvice found = advice(read(back_to_back(op, 2)));
    EXPECT_TRUE(found.uses.at(0).emulated) << name << ": " << found.uses[0].not_emulated;
  }
  const Op old{.code = "BinaryDeviceOperation",
               .kernel = 20'000,
               .attributes = "{'binary_op_type': 'BinaryOpType::ADD'}"};
  EXPECT_TRUE(advice(read(back_to_back(old, 2))).uses.at(0).emulated);
}

TEST(LogAdvice, LinksBoundCollectivesNotCores) {
  std::vector<Op> ops = two_devices();
  for (Op& op : ops) {
    if (op.code == "AllGatherAsync") op.cores = 4;
    if (op.code == "AllGatherAsync") op.attributes = "{'num_links': '1'}";
  }
  const reports::LogAdvice found = advice(read(ops));
  for (const LogFinding& finding : found.findings) {
    const bool spread = finding.what.find("spread it") != std::string::npos;
    EXPECT_FALSE(spread && finding.where.starts_with("AllGather")) << finding.where;
  }
  const LogFinding* const links = find(found, "more links");
  ASSERT_NE(links, nullptr);
  EXPECT_NE(links->why.find("num_links 1"), std::string::npos) << links->why;
}

TEST(LogAdvice, ABatchThatReadsTheWeightsAgainIsCountedAndToBeFolded) {
  const Log log = read(back_to_back(
      {.kernel = 2'000'000, .in0 = "1,32,32,1024", .in1 = "1,1,1024,1024", .out = "1,32,32,1024"},
      3));
  const reports::LogAdvice found = advice(log);
  const CallUse& use = found.uses.at(0);
  EXPECT_EQ(use.facts.batch, 32);
  EXPECT_EQ(use.facts.read_again, Bytes(31LL * 1024 * 1024 * 2));
  const SimTime once = dram_time_at_peak(use.facts, profiles().chip);
  EXPECT_GT(use.dram_at_peak, 10 * once);
  const LogFinding* const fold = find(found, "fold the batch");
  ASSERT_NE(fold, nullptr);
  EXPECT_GT(fold->gain.seconds(), 0.5 * fold->now.seconds()) << fold->why;
  Log told = read(back_to_back({.kernel = 2'000'000,
                                .attributes = "{'program_config': 'Config(fuse_batch=1)'}",
                                .in0 = "1,32,32,1024",
                                .in1 = "1,1,1024,1024",
                                .out = "1,32,32,1024"},
                               3));
  EXPECT_EQ(facts_of(told.calls.row(1)).read_again, Bytes()) << "it is folded";
}

TEST(LogAdvice, OperandsOfAnySizeAreShown) {
  const Log log = read(back_to_back({.code = "EmbeddingsDeviceOperation",
                                     .kernel = 10'000,
                                     .in0 = "1,1,0,64",
                                     .in1 = "1,1,4194304,64",
                                     .out = "1,1,0,64"},
                                    1));
  EXPECT_EQ(facts_of(log.calls.row(1)).operands,
            "0x64 bfloat16, 4194304x64 bfloat16 -> 0x64 bfloat16");
  EXPECT_EQ(facts_of(log.calls.row(1)).short_operands, "0x64, 4194304x64 bf16");
}

TEST(LogAdvice, NoShareOfDramIsAboveAllOfIt) {
  const Op cache{.code = "PagedUpdateCacheDeviceOperation",
                 .kernel = 5'000,
                 .in0 = "32,8,4096,128",
                 .in1 = "1,32,32,128",
                 .out = "32,8,4096,128"};
  const reports::LogAdvice updated = advice(read(back_to_back(cache, 3)));
  EXPECT_EQ(updated.uses.at(0).facts.dram, Bytes(2LL * 32 * 32 * 128 * 2)) << "the part";
  Op attention = cache;
  attention.code = "SdpaDecodeDeviceOperation";
  EXPECT_EQ(advice(read(back_to_back(attention, 3))).uses.at(0).dram_at_peak, SimTime());
  Op other = cache;
  other.code = "SomeDeviceOperation";
  EXPECT_EQ(advice(read(back_to_back(other, 3))).uses.at(0).dram_at_peak, SimTime())
      << "256 MB in 5 us";
}

TEST(LogAdvice, FewCoresCannotGainTheTimeOfTheDramAndALaunch) {
  const Op op{.code = "LayerNormDeviceOperation",
              .cores = 1,
              .kernel = 70'000,
              .in0 = "1,1,1024,4096",
              .in1 = "",
              .out = "1,1,1024,4096"};
  const reports::LogAdvice found = advice(read(back_to_back(op, 10)));
  const LogFinding* const finding = find(found, "spread it over more cores");
  ASSERT_NE(finding, nullptr);
  const SimTime dram = dram_time_at_peak(found.uses.at(0).facts, profiles().chip);
  EXPECT_GT(dram, SimTime::microseconds(50));
  EXPECT_LT(finding->gain, finding->now - 10 * dram);
}

TEST(LogAdvice, RunsThatOneShapeCannotExplainAreNotCompared) {
  std::vector<Op> ops = back_to_back({.code = "BinaryNgDeviceOperation",
                                      .kernel = 20'000,
                                      .attributes = "{'binary_op_type': 'BinaryOpType::ADD'}"},
                                     8);
  for (std::size_t i = 4; i < ops.size(); ++i) ops[i].kernel = 5'000;
  const reports::LogAdvice found = advice(read(ops));
  EXPECT_TRUE(found.uses.at(0).doubtful);
  EXPECT_FALSE(found.uses[0].emulated);
  for (Op& op : ops) op.code = "Matmul";
  EXPECT_FALSE(advice(read(ops)).uses.at(0).doubtful) << "products have their own shapes";
}

TEST(LogDifference, ACallIsJudgedByItsRunsAndTheirSpread) {
  const auto with = [](std::vector<std::int64_t> kernels, int count) {
    std::vector<Op> ops = back_to_back({.kernel = 100'000}, count);
    for (std::size_t i = 0; i < ops.size(); ++i) ops[i].kernel = kernels[i % kernels.size()];
    return read(ops);
  };
  const auto verdict = [&](const Log& before, const Log& after) {
    return reports::verdict_of(reports::difference(before, after).changes.at(0));
  };
  const Log usual = with({50'000, 50'100}, 20);
  EXPECT_EQ(verdict(usual, with({50'200}, 20)), "same") << "by 0.4 %";
  EXPECT_EQ(verdict(usual, with({50'000, 50'100}, 10)), "fewer runs");
  EXPECT_EQ(verdict(usual, with({55'000}, 20)), "slower");
  EXPECT_EQ(verdict(usual, with({45'000}, 10)), "faster, fewer runs");
  EXPECT_EQ(verdict(with({20'000, 80'000}, 20), with({21'000, 82'000}, 20)), "same") << "noise";
}

TEST(LogDifference, ACallWhoseRowsWereLeftOutIsNotGone) {
  std::vector<Op> ops = back_to_back({.kernel = 10'000}, 4);
  ops.push_back(
      {.code = "LayerNorm", .call = 5, .host = 9'000, .start = 2'000'000, .kernel = 9'000});
  const Log before = read(ops);
  std::string text(kHeader);
  for (const Op& op : ops) {
    std::string row = op.text();
    if (op.code == "LayerNorm") row.replace(row.find(",2000000,"), 9, ",?,");
    text += row;
  }
  TextBytes source(text);
  const Log after = read_ops_csv(source, "ops.csv", {.tensors = Tensors::read});
  const reports::LogDifference found = reports::difference(before, after);
  ASSERT_EQ(found.changes.at(0).op, "LayerNorm");
  EXPECT_EQ(reports::verdict_of(found.changes[0]), "rows missing");
  EXPECT_EQ(found.warnings_after.size(), found.warnings_before.size() + 1);
  const std::vector<reports::Table> tables = reports::difference_tables(found, "log", 5);
  const auto warned = std::ranges::any_of(tables.at(0).notes, [](const std::string& note) {
    return note.find("warning, after: left out 1 row") != std::string::npos;
  });
  EXPECT_TRUE(warned);
}

}  // namespace
}  // namespace howard::profiler
