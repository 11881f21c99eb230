// SPDX-License-Identifier: Apache-2.0
// Ops that the emulator has no kernel of, operands that only kernels of logs have, and what the
// emulated times of a log rest on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/silicon/call_facts.h"
#include "reports/findings/silicon_report.h"
#include "tests/profiler/silicon/damaged_calls.h"

namespace howard::profiler {
namespace {

using testing::call_of;
using testing::compared;
using testing::kNoTensor;
using testing::Row;
using testing::tensor;

/// Returns the cells of a tensor of any kind.
std::string cells(std::string_view sides, std::string_view kind) {
  return fmt::format("{},{}", sides, kind);
}

constexpr std::string_view kInL1 = "TILE,BFLOAT16,DEV_0_L1_INTERLEAVED";

/// A row of an op that the emulator lacks, and the call that stands for it.
struct StandIn {
  Row row;
  std::string_view call;
};

void expect_by_analogy(const std::vector<StandIn>& cases) {
  for (const auto& [row, name] : cases) {
    const ComparedCall call = call_of(row);
    EXPECT_EQ(call.call, name) << row.code;
    EXPECT_EQ(call.known, "by analogy") << row.code;
    EXPECT_GT(call.emulated, SimTime()) << row.code;
  }
}

TEST(LoggedStandIns, OpsThatTheEmulatorLacksAreByAnalogyWithThoseThatStandForThem) {
  const std::string whole = tensor(256, 2048), half = tensor(256, 1024), few = tensor(32, 2048);
  expect_by_analogy(
      {{{.code = "LayerNormPreAllGather",
         .input0 = whole,
         .input1 = kNoTensor,
         .output = tensor(256, 32)},
        "sum columns"},
       {{.code = "RMSNormPostAllGatherDeviceOperation",
         .input0 = whole,
         .input1 = tensor(256, 256),
         .output = whole},
        "rms_norm"},
       {{.code = "SplitDeviceOperation", .input0 = whole, .input1 = kNoTensor, .output = half},
        "move"},
       {{.code = "PaddedSliceDeviceOperation", .input0 = whole, .input1 = kNoTensor, .output = few},
        "copy"},
       {{.code = "SliceWriteDeviceOperation", .input0 = few, .input1 = whole, .output = whole},
        "copy"},
       {{.code = "MeshPartitionDeviceOperation",
         .input0 = whole,
         .input1 = kNoTensor,
         .output = half},
        "copy"},
       {{.code = "ReduceScatterAsync",
         .attributes = "{'num_links': '1'}",
         .input0 = whole,
         .input1 = kNoTensor,
         .output = half},
        "reduce_scatter line, 1 link"},
       {{.code = "AllGatherConcat",
         .input0 = cells("1[1],1[1],256[256],1024[1024]", "TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"),
         .input1 = kNoTensor,
         .output = whole},
        "all_gather line, 1 link"},
       {{.code = "GridSampleOperation",
         .input0 = cells("1[1],12[12],40[40],256[256]", "ROW_MAJOR,BFLOAT16,DEV_0_L1_INTERLEAVED"),
         .input1 = kNoTensor,
         .output = cells("1[1],1[1],96[96],1792[1792]", "ROW_MAJOR,BFLOAT16,DEV_0_L1_INTERLEAVED")},
        "avg_pool2d 2x2/2 of 672x2x2"}});
}

TEST(LoggedStandIns, OpsOfDevicesAndOfTrainingAreSoToo) {
  const std::string whole = tensor(256, 2048), half = tensor(256, 1024);
  expect_by_analogy(
      {{{.code = "RMSAllGather", .input0 = whole, .input1 = tensor(32, 2048), .output = whole},
        "rms_norm"},
       {{.code = "LlamaReduceScatterCreateHeads",
         .attributes = "{'num_links': '3'}",
         .input0 = tensor(32, 1280),
         .input1 = kNoTensor,
         .output = cells("1[1],8[8],32[10],128[128]", "TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED")},
        "all_gather line, 3 links"},
       {{.code = "MorehBiasAddBackwardOperation",
         .input0 = whole,
         .input1 = kNoTensor,
         .output = tensor(1, 2048)},
        "sum rows"},
       {{.code = "BernoulliDeviceOperation", .input0 = half, .input1 = kNoTensor, .output = half},
        "dropout"},
       {{.code = "RandDeviceOperation", .input0 = kNoTensor, .input1 = kNoTensor, .output = half},
        "dropout"},
       {{.code = "ArangeOperation", .input0 = kNoTensor, .input1 = kNoTensor, .output = half},
        "fill scalar"},
       {{.code = "RotateHalfDeviceOperation", .input0 = half, .input1 = kNoTensor, .output = half},
        "move"},
       {{.code = "ProdNcDeviceOperation",
         .input0 = cells("1[1],8[8],256[256],256[256]", "TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"),
         .input1 = kNoTensor,
         .output = tensor(256, 256)},
        "sum batch"},
       {{.code = "IntImgDeviceOperation",
         .input0 = cells("1[1],12[12],64[64],256[256]", "TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"),
         .input1 = kNoTensor,
         .output = cells("1[1],12[12],64[64],256[256]", "TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED")},
        "cumsum"}});
}

TEST(LoggedSums, AlongAnyDimensionAddOneTileAfterTheOther) {
  const auto call = [](std::string_view sides, std::string_view dim) {
    const std::string x = cells(sides, "TILE,UINT32,DEV_0_DRAM_INTERLEAVED");
    return call_of({.code = "AccumulationDeviceOperation",
                    .attributes = fmt::format("{{'dim': '{}'; 'flip': 'false'}}", dim),
                    .input0 = x,
                    .input1 = kNoTensor,
                    .output = x});
  };
  // Three tiles of each of 8 columns of tiles, one behind the other or in matrices.
  const SimTime down = call("1[1],1[1],96[96],256[256]", "2").emulated;
  EXPECT_GT(down, SimTime());
  EXPECT_EQ(call("3[3],1[1],32[32],256[256]", "0").emulated, down);
  EXPECT_EQ(call("1[1],3[3],32[32],256[256]", "1").emulated, down);
  EXPECT_GT(call("1[1],1[1],96[96],256[256]", "3").emulated, down) << "3 lines of 8 tiles";
  EXPECT_NE(call("1[1],1[1],96[96],256[256]", "4").call.find("0 to 3"), std::string::npos);
}

TEST(LoggedStandIns, AGridSampleFromDramWaitsForEachPointAndEachRowOfItsGrid) {
  const auto sampled = [](int rows, int points_of_row) {
    const auto tensor_of = [&](int columns) {
      return cells(fmt::format("1[1],1[1],{0}[{0}],{1}[{1}]", rows, columns),
                   "ROW_MAJOR,BFLOAT16,DEV_0_DRAM_INTERLEAVED");
    };
    return call_of({.code = "GridSample",
                    .input0 = cells("1[1],12[12],40[40],256[256]",
                                    "ROW_MAJOR,BFLOAT16,DEV_0_DRAM_INTERLEAVED"),
                    .input1 = tensor_of(6 * points_of_row),
                    .output = tensor_of(256 * points_of_row)});
  };
  const ComparedCall each = sampled(56'000, 1), seven = sampled(8'000, 7);
  EXPECT_EQ(each.call, "embedding");
  EXPECT_EQ(each.known, "by analogy");
  EXPECT_NEAR(each.emulated.seconds() / seven.emulated.seconds(), 2.0 / (1 + 1.0 / 7), 0.02);
}

TEST(LoggedStandIns, WholeNumbersMoveAsRealOnesOfTheirSizeDo) {
  const auto permuted = [](std::string_view type) {
    const std::string x =
        cells("1[1],48[48],160[160],256[256]", fmt::format("TILE,{},DEV_0_DRAM_INTERLEAVED", type));
    const std::string y =
        cells("1[1],160[160],48[48],256[256]", fmt::format("TILE,{},DEV_0_DRAM_INTERLEAVED", type));
    return call_of({.code = "PermuteDeviceOperation",
                    .attributes = "{'dims': 'SmallVector([0; 2; 1; 3])'}",
                    .input0 = x,
                    .input1 = kNoTensor,
                    .output = y});
  };
  EXPECT_EQ(permuted("UINT32").emulated, permuted("FLOAT32").emulated);
  EXPECT_EQ(permuted("UINT16").emulated, permuted("BFLOAT16").emulated);
  EXPECT_GT(permuted("INT32").emulated, permuted("UINT16").emulated);
}

TEST(LoggedLayouts, StayOnTheCoresOfTheirShardsWithPaddingInTheLastTiles) {
  // 6360 rows on 20 cores are 318 of each, in ten tiles; a grid of 8x3 has room for more.
  const auto call = [](std::string_view grid) {
    const std::string x = "1[1],1[1],6368[6360],256[256],TILE,BFLOAT16,DEV_0_L1_HEIGHT_SHARDED";
    const std::string y =
        "1[1],1[1],6360[6360],256[256],ROW_MAJOR,BFLOAT16,DEV_0_L1_HEIGHT_SHARDED";
    return call_of({.code = "UntilizeDeviceOperation",
                    .attributes = fmt::format("{{'output_mem_config': 'MemoryConfig(shard_spec="
                                              "ShardSpec(grid={{[(x=0;y=0) - {}]}};shape={{318; "
                                              "256}};orientation=ROW_MAJOR))'}}",
                                              grid),
                    .input0 = x,
                    .input1 = kNoTensor,
                    .output = y,
                    .cores = "20"});
  };
  const ComparedCall exact = call("(x=4;y=3)"), roomy = call("(x=7;y=2)");
  EXPECT_EQ(exact.emulated_cores, 20) << exact.call;
  EXPECT_EQ(exact.emulated, roomy.emulated);
  EXPECT_LT(exact.emulated, SimTime::microseconds(10)) << "nothing leaves a core";
}

TEST(LoggedLayouts, MayPadARowOfTilesAndMore) {
  const std::string rows =
      cells("1[1],1[1],25281[25281],256[256]", "ROW_MAJOR,BFLOAT16,DEV_0_DRAM_INTERLEAVED");
  const auto time = [&](int tiled) {
    const ComparedCall call = call_of({.code = "TilizeWithValPaddingDeviceOperation",
                                       .input0 = rows,
                                       .input1 = kNoTensor,
                                       .output = tensor(tiled, 256)});
    EXPECT_FALSE(call.code.empty()) << call.call;
    return call.emulated;
  };
  EXPECT_EQ(time(25344), time(25281));
}

TEST(LoggedStandIns, AReshapeOfRowsMovesThePiecesThatAreTogetherInBoth) {
  const auto rows = [](int height, int width) {
    return cells(fmt::format("1[1],1[1],{0}[{0}],{1}[{1}]", height, width),
                 "ROW_MAJOR,BFLOAT16,DEV_0_DRAM_INTERLEAVED");
  };
  const auto time = [&](int from, int to) {
    constexpr int kElements = 9856 * 6;
    const ComparedCall call = call_of({.code = "ReshapeDeviceOperation",
                                       .input0 = rows(kElements / from, from),
                                       .input1 = kNoTensor,
                                       .output = rows(kElements / to, to)});
    EXPECT_FALSE(call.code.empty()) << call.call;
    return call.emulated;
  };
  EXPECT_EQ(time(6, 42), time(42, 6));
  EXPECT_GT(time(6, 42), 3 * time(42, 84)) << "seven times the pieces";
}

TEST(LoggedStandIns, AMoveInPlaceNeedsNoRoomForBoth) {
  // 947 KiB on each of 20 cores, as a program of a Blackhole had.
  const std::string x =
      cells("1[1],1[1],151540[151540],64[64]", "ROW_MAJOR,BFLOAT16,DEV_0_L1_HEIGHT_SHARDED");
  const ComparedCall call = call_of({.code = "MoveDeviceOperation",
                                     .input0 = x,
                                     .input1 = kNoTensor,
                                     .output = x,
                                     .cores = "20"});
  EXPECT_FALSE(call.code.empty()) << call.call;
}

TEST(LoggedStandIns, AUnaryOpMayListATensorForItsResult) {
  Row row{.code = "UnaryDeviceOperation",
          .attributes =
              "{'op_chain': '{BasicUnaryWithParam<float; int; unsigned "
              "int>(base=BasicUnaryWithParam<float>(op_type=UnaryOpType::RELU;param={}"
              "))}'}",
          .input1 = kNoTensor};
  const ComparedCall alone = call_of(row);
  row.input1 = row.output;
  const ComparedCall listed = call_of(row);
  EXPECT_EQ(listed.call, "relu");
  EXPECT_EQ(listed.emulated, alone.emulated);
  row.input1 = tensor(32, 32);
  EXPECT_NE(call_of(row).call.find("not one operand"), std::string::npos);
}

TEST(LoggedGroupNorms, HaveTheCoresThatTheLogSays) {
  static const chip::Profiles blackhole =
      chip::load_profiles({.profiles = {"blackhole_p150"}, .settings = {}});
  const auto call = [](Row row) {
    row.code = "GroupNorm";
    row.architecture = "blackhole";
    row.worker_cores = "20";
    row.input1 = kNoTensor;
    return call_of(row, blackhole).call;
  };
  const std::string x = tensor(25344, 256), few = tensor(122880, 64);
  const std::string told = "{'eps': '1e-05'; 'num_groups': '16'}";
  EXPECT_EQ(call({.attributes = told, .input0 = x, .output = x, .cores = "16"}), "group_norm 4x4");
  EXPECT_EQ(call({.attributes = told, .input0 = few, .output = few, .cores = "8"}),
            "group_norm 2x4")
      << "four columns of cores would have half tiles of channels";
  EXPECT_EQ(call({.attributes = "{'num_groups': '16'; 'program_config': 'GroupNormMultiCore"
                                "ProgramConfig(compute_with_storage_grid_size=(x=5;y=4))'}",
                  .input0 = x,
                  .output = x,
                  .cores = "16"}),
            "group_norm 5x4");
  EXPECT_EQ(call({.attributes = told, .input0 = x, .output = tensor(25312, 256), .cores = "16"}),
            "group_norm 4x4")
      << "the rows of padding are no part of the result";
  EXPECT_NE(call({.attributes = told, .input0 = x, .output = few}).find("operand's channels"),
            std::string::npos);
}

TEST(LoggedTimes, SayWhatTheyRestOn) {
  const auto known = [](const Row& row) { return call_of(row).known; };
  EXPECT_EQ(known({}), "calibrated") << "a product";
  const std::string logits =
      cells("1[1],1[1],32[32],4096[4096]", "ROW_MAJOR,BFLOAT16,DEV_0_DRAM_INTERLEAVED");
  EXPECT_EQ(
      known({.code = "ArgMax",
             .input0 = logits,
             .input1 = kNoTensor,
             .output = cells("1[1],1[1],1[1],32[32]", "ROW_MAJOR,UINT32,DEV_0_DRAM_INTERLEAVED")}),
      "one kernel");
  EXPECT_EQ(known({.code = "AllGatherMatmulAsync",
                   .attributes = "{'num_links': '1'; 'topology': 'Topology::Ring'}",
                   .input0 = tensor(32, 1024),
                   .input1 = tensor(8192, 1024),
                   .output = tensor(32, 1024)}),
            "by analogy")
      << "a product and an exchange, both measured";
  const SiliconComparison found = compared({Row{}});
  const reports::Table ops = reports::silicon_tables(found, "log", 5).at(0);
  EXPECT_EQ(ops.rows.at(0).cells.back().text, "calibrated");
}

TEST(LoggedTimes, OfSeveralChipsAreEachOfItsOwn) {
  const TensorCells x{.dimensions = {"1", "1", "512", "512"},
                      .layout = "TILE",
                      .datatype = "BFLOAT16",
                      .memory = "DEV_0_DRAM_INTERLEAVED"};
  OpRow row;
  row.name = "Matmul";
  row.inputs = {x, x};
  row.outputs = {x};
  const chip::Profiles wormhole = chip::load_profiles();
  const chip::Profiles blackhole =
      chip::load_profiles({.profiles = {"blackhole_p150"}, .settings = {}});
  CallEmulator both(wormhole);
  both.add(blackhole);
  const auto run = [&](CallEmulator&& emulator, std::string_view architecture) {
    row.architecture = architecture;
    return emulator.run(row)->kernel;
  };
  EXPECT_EQ(run(std::move(both), "blackhole"), run(CallEmulator(blackhole), "blackhole"));
  CallEmulator again(blackhole);
  again.add(wormhole);
  EXPECT_EQ(run(std::move(again), "wormhole_b0"), run(CallEmulator(wormhole), ""));
  EXPECT_NE(run(CallEmulator(wormhole), ""), run(CallEmulator(blackhole), ""));
}

TEST(LoggedFacts, SayWhatThePerformanceModelHasTheOpWaitFor) {
  OpRow row;
  row.ideal = 300;
  row.ideal_compute = 15;
  row.ideal_bandwidth = 300;
  EXPECT_EQ(facts_of(row).ideal_bound, "bandwidth");
  row.ideal_compute = 900;
  EXPECT_EQ(facts_of(row).ideal_bound, "compute");
  row.ideal = 1;  // no model of the op
  EXPECT_EQ(facts_of(row).ideal_bound, "");
}

}  // namespace
}  // namespace howard::profiler
