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
#include "tests/profiler/silicon/logged_ops.h"

namespace howard::profiler {
namespace {

using testing::advice;
using testing::back_to_back;
using testing::find;
using testing::kOpsHeader;
using testing::Op;
using testing::profiles;
using testing::read;

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
  std::string text = "NOC UTIL (%),DRAM BW UTIL (%),PM FPU UTIL (%)," + std::string(kOpsHeader);
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

TEST(LogAdvice, MoreCoresAreNotForThoseThatHaveTheirs) {
  const auto spreads = [](const Op& op) {
    return find(advice(read(back_to_back(op, 3))), "spread it over more cores") != nullptr;
  };
  Op op{.cores = 8,
        .kernel = 100'000,
        .in0 = "1,1,32,4096",
        .in1 = "1,1,4096,4096",
        .out = "1,1,32,4096"};
  EXPECT_TRUE(spreads(op));
  op.in1_memory = "DEV_0_DRAM_WIDTH_SHARDED";
  EXPECT_FALSE(spreads(op)) << "beside the banks";
  op = {.code = "LayerNormDeviceOperation",
        .cores = 8,
        .kernel = 100'000,
        .in0 = "1,1,32,4096",
        .in1 = "",
        .out = "1,1,32,4096"};
  EXPECT_TRUE(spreads(op));
  op.memory = "DEV_0_L1_WIDTH_SHARDED";
  EXPECT_FALSE(spreads(op)) << "a norm of shards";
  op = {.code = "NLPConcatHeadsDecodeDeviceOperation",
        .cores = 8,
        .kernel = 100'000,
        .in0 = "1,8,32,128",
        .in1 = "",
        .out = "1,1,32,4096"};
  EXPECT_FALSE(spreads(op)) << "a core for each sequence";
}

TEST(LogAdvice, WhatAnOpDoesIsKnownByItsName) {
  for (const char* const op : {"ConcatDeviceOperation", "NLPCreateQKVHeadsDecodeDeviceOperation",
                               "PagedUpdateCacheDeviceOperation", "HaloDeviceOperation", "Slice",
                               "InterleavedToShardedDeviceOperation"}) {
    EXPECT_EQ(work_of(op), OpWork::data_movement) << op;
  }
  for (const char* const op : {"MatmulDeviceOperation", "SdpaDecodeDeviceOperation",
                               "LayerNormDeviceOperation", "ArgMaxDeviceOperation"}) {
    EXPECT_EQ(work_of(op), OpWork::compute) << op;
  }
  EXPECT_EQ(work_of("AllGatherAsyncDeviceOperation"), OpWork::communication);
  EXPECT_EQ(work_of("ReduceScatterMinimalAsyncDeviceOperation"), OpWork::communication);
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

TEST(LogAdvice, FirstRunsComeLastHoweverLongTheyTook) {
  std::vector<Op> ops = back_to_back({.kernel = 10'000}, 65);
  ops[1].code = "Softmax";
  for (std::size_t i = 1; i < 65; ++i) {  // after a second, and called as late as they start
    ops[i].start += 1'000'000'000 + (i > 4 ? static_cast<int>(i - 4) * 50'000 : 0);
    ops[i].host = ops[i].start - 1'000'000;
  }
  const reports::LogAdvice found = advice(read(ops));
  ASSERT_NE(find(found, "replay a trace"), nullptr);
  EXPECT_EQ(find(found, "keep the process"), &found.findings.back());
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

TEST(LogAdvice, WeightsAreNotAdvisedIntoL1) {
  const auto log = read(back_to_back(
      {.kernel = 100'000, .in0 = "1,1,32,1024", .in1 = "1,1,1024,1024", .out = "1,1,32,1024"}, 3));
  const reports::LogAdvice found = advice(log);
  EXPECT_EQ(find(found, "operands and result in L1"), nullptr);
  const LogFinding* const finding = find(found, "first operand and result in L1");
  const double gained = finding != nullptr ? finding->gain.seconds() / finding->now.seconds() : 0;
  EXPECT_LT(gained, 0.5);
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
  const LogFinding* const beside = find(found, "run it beside");
  ASSERT_NE(beside, nullptr);
  EXPECT_NE(beside->why.find("num_links 1"), std::string::npos) << beside->why;
}

TEST(LogAdvice, AProductThatExchangesSomethingIsNotSaidToBeBoundByLinks) {
  std::vector<Op> ops = two_devices();
  for (Op& op : ops) {
    if (op.code == "AllGatherAsync") op.code = "AllGatherMatmulAsync";
  }
  EXPECT_EQ(find(advice(read(ops)), "run it beside"), nullptr);
}

TEST(LogAdvice, TwiceTheLinksAndARingAreTriedOnTheEmulator) {
  Op op{.code = "AllGatherAsync",
        .kernel = 400'000,
        .attributes = "{'num_links': '1'; 'topology': 'ttnn::ccl::Topology::Linear'}",
        .in0 = "1,1,1024,1024",
        .in1 = "",
        .out = "1,1,1024,8192"};
  const reports::LogAdvice line = advice(read(back_to_back(op, 3)));
  const LogFinding* const links = find(line, "2 links instead of 1");
  ASSERT_NE(links, nullptr) << line.uses.at(0).not_emulated;
  EXPECT_EQ(links->source, GainSource::emulated);
  EXPECT_NEAR(links->gain.seconds() / links->now.seconds(), 0.5, 0.15);
  EXPECT_NE(find(line, "a ring in place of a line"), nullptr);
  op.attributes = "{'topology': 'Topology::Ring'}";
  const reports::LogAdvice ring = advice(read(back_to_back(op, 3)));
  EXPECT_NE(find(ring, "2 links instead of 1"), nullptr);
  EXPECT_EQ(find(ring, "a ring in place"), nullptr);
  op.attributes = "{'all_gather': 'AllGather(num_links=2;topology=Topology::Ring)'}";
  EXPECT_NE(find(advice(read(back_to_back(op, 3))), "4 links instead of 2"), nullptr);
}

TEST(LogAdvice, AnArgmaxOfOneCoreIsToBeSharedByAll) {
  Op op{.code = "ArgMaxDeviceOperation",
        .cores = 1,
        .kernel = 80'000'000,
        .attributes = "{'dim': '3'; 'use_multicore': 'false'}",
        .in0 = "1,1,32,65536",
        .in1 = "",
        .out = "1,1,32,1"};
  const auto find_shared = [&] {
    std::string text(kOpsHeader);
    for (const Op& one : back_to_back(op, 3)) {
      std::string row = one.text();
      for (std::size_t at; (at = row.find(",TILE,")) != std::string::npos;) {
        row.replace(at, 6, ",ROW_MAJOR,");
      }
      text += row;
    }
    TextBytes source(text);
    const reports::LogAdvice all =
        advice(read_ops_csv(source, "ops.csv", {.tensors = Tensors::read}));
    const LogFinding* const found = find(all, "cores share the columns");
    return found == nullptr ? 0.0 : found->gain.seconds() / found->now.seconds();
  };
  EXPECT_GT(find_shared(), 0.9);
  op.attributes = "{'dim': '3'; 'use_multicore': '0'}";
  EXPECT_GT(find_shared(), 0.9) << "as older logs say it";
  op.attributes = "{'dim': '3'; 'use_multicore': 'true'}";
  EXPECT_EQ(find_shared(), 0.0);
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

}  // namespace
}  // namespace howard::profiler
