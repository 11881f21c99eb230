// SPDX-License-Identifier: Apache-2.0
// What the emulator writes of a program as a row of a log is read as the same program.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/facts.h"
#include "engines/chip/kernels/planner.h"
#include "engines/program/fields.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/formats/tt_metal_logs.h"
#include "profiler/silicon/logged_program.h"
#include "tests/engines/program/op_examples.h"
#include "tests/profiler/formats/wormhole_device.h"

namespace howard::profiler {
namespace {

/// A call with fields that differ from the defaults.
struct Call {
  std::string_view op, fields, inputs, results;
};

constexpr std::string_view kImage = "1x2x64x32", kRow = "1x96", kMatrix = "64x96";
constexpr std::string_view kWindow =
    R"({"images":2,"height":14,"width":28,"window":[3,5],"stride":[2,1],"dilation":[1,2],)"
    R"("padding":[1,0,2,3],)";

constexpr Call kCalls[] = {
    {"matmul",
     R"({"transpose_a":true,"transpose_b":true,"core_grid":[2,1],"fidelity":"HiFi3",
           "fp32_accumulation":true,"packer_accumulates":false,"activation":"gelu"})",
     "96x64 32x96", "64x32"},
    {"matmul",
     R"({"config":"2d:grid=2x2:per_core=1x1:in0_block_w=3:out_subblock=1x1:transpose_mcast=yes",
           "fidelity":"LoFi","fp32_accumulation":false,"packer_accumulates":true})",
     "64x96 96x64", "64x64"},
    {"matmul",
     R"({"config":"1d_in0:grid=2x1:per_core=2x1:in0_block_w=1:out_block=1x1:out_subblock=1x1",
           "fidelity":"HiFi2","fp32_accumulation":true,"packer_accumulates":true,
           "activation":"relu"})",
     "64x96 96x64", "64x64"},
    {"matmul",
     R"({"config":"1d_in1:grid=2x1:per_core=1x2:in0_block_w=1:out_subblock=1x2:fuse_batch=no",
           "fidelity":"HiFi2","fp32_accumulation":true,"packer_accumulates":true})",
     "64x96 96x64", "64x64"},
    {"matmul",
     R"({"config":"reuse:grid=2x1:per_core=1x2:in0_block_w=1:out_subblock=1x2",
           "fidelity":"HiFi2","fp32_accumulation":true,"packer_accumulates":true})",
     "2x1x32x96 2x1x96x64", "2x1x32x64"},
    {"matmul",
     R"({"config":"multi_core","fidelity":"HiFi2","fp32_accumulation":false,
           "packer_accumulates":false})",
     "64x96 96x64", "64x64"},
    {"minimal_matmul",
     R"({"block":[2,1,4],"subblock":[1,2],"core_grid":[4,2],"fidelity":"HiFi4",
           "fp32_accumulation":true,"activation":"silu"})",
     "64x96 96x32 1x32", "64x32"},
    {"add", R"({"scalar":0.5,"core_grid":[3,5],"then":["clamp","silu"],"on_a":["relu"]})", kMatrix,
     kMatrix},
    {"multiply", R"({"on_a":["relu"],"on_b":["exp","clamp"]})", "64x96 1x96", kMatrix},
    {"clamp", R"({"numbers":[0,6],"then":["silu"]})", kMatrix, kMatrix},
    {"gelu_approx", R"({"core_grid":[3,5]})", kMatrix, kMatrix},
    {"fill", R"({"scalar":3})", "", kMatrix},
    {"gelu_backward", R"({"fused":true})", "64x96 64x96", kMatrix},
    {"dropout", R"({"probability":0.25,"seed":7})", kMatrix, kMatrix},
    {"sum", R"({"dimension":"rows"})", "2x3x64x96", "2x3x1x96"},
    {"sum", R"({"dimension":"batch"})", "2x3x64x96", "1x1x64x96"},
    {"sum", R"({"dimension":"all"})", "2x3x64x96", "1x1x1x1"},
    {"max", R"({"dimension":"rows"})", "2x3x64x96", "2x3x1x96"},
    {"mean", R"({"moreh":true})", "2x3x64x96", "2x3x64x1"},
    {"sum", R"({"dimension":"batch","moreh":true})", "2x3x64x96", "2x1x64x96"},
    {"cumsum", R"({"dim":3,"flip":true})", kMatrix, kMatrix},
    {"softmax", R"({"stable":false,"approximate":true,"fp32_accumulation":false})", kMatrix,
     kMatrix},
    {"layernorm", R"({"epsilon":1e-3,"fp32_accumulation":false})", kMatrix, kMatrix},
    {"ttml_layernorm", R"({"epsilon":1e-3})", "64x96 1x96 1x96", "64x96 64x1 64x1"},
    {"rms_norm", R"({"epsilon":1e-3,"fp32_accumulation":false})", "64x96 1x96", kMatrix},
    {"ttml_rms_norm", R"({"epsilon":1e-3})", "64x96 1x96", "64x96 64x1"},
    {"attention",
     R"({"causal":true,"scale":0.5,"window":40,"approximate":false,"query_chunk":64,"key_chunk":32,
           "fidelity":"HiFi4","fp32_accumulation":true})",
     "1x2x64x32 1x2x64x32 1x2x64x32", kImage},
    {"attention", R"({"scale":0.5,"fidelity":"HiFi4","fp32_accumulation":true})",
     "1x2x64x32 1x2x64x32 1x2x64x32 64x64", kImage},
    {"decode_attention",
     R"({"scale":0.5,"seen":33,"window":9,"key_chunk":32,"cores_of_head":4,"approximate":false,
           "fidelity":"HiFi4","fp32_accumulation":true})",
     "2x4x1x32 2x2x64x32 2x2x64x32 u1x1", "2x4x1x32"},
    {"split_heads_decode", R"({"heads":4,"groups":2})", "1x1x32x256",
     "1x32x4x32 1x32x2x32 1x32x2x32"},
    {"concat_heads_decode", R"({"heads":8})", "1x32x32x64", "1x1x32x512"},
    {"sdpa_fw", R"({"causal":true,"scale":0.5})", howard::testing::kQkv,
     "1x2x64x32 1x2x64x1 1x2x64x1"},
    {"sdpa_bw_q", R"({"causal":true,"scale":0.5})", howard::testing::kGradients, kImage},
    {"sdpa_bw_kv", R"({"scale":0.5})", howard::testing::kGradients, "1x2x64x32 1x2x64x32"},
    {"rotary_embedding", R"({"style":"halves"})", "1x2x64x32 64x32 64x32", kImage},
    {"argmax", R"({"use_multicore":false})", "r64x96", "u64x1"},
    {"topk", R"({"k":64,"largest":false})", kMatrix, "64x64 t64x64"},
    {"sort", R"({"descending":true})", kMatrix, "64x96 t64x96"},
    {"sampling", R"({"k":16})", "32x96 u32x96", "u32"},
    {"transpose", R"({"swap":"heads_rows"})", kImage, "1x64x2x32"},
    {"concat", R"({"dimension":1})", "1x2x64x32 1x1x64x32", "1x3x64x32"},
    {"split_heads", R"({"heads":4,"groups":2,"transpose_k":true})", "1x1x64x256",
     "1x4x64x32 1x2x32x64 1x2x64x32"},
    {"split_groups", R"({"heads":4,"groups":2,"transpose_k":true})", "64x128 64x128",
     "1x4x64x32 1x2x32x64 1x2x64x32"},
    {"slice", R"({"begins":[0,1,5,7],"steps":[1,1,2,3]})", "2x4x96x64", "2x3x40x9"},
    {"write_rows", R"({"row":32})", "32x96 64x96", kMatrix},
    {"tilize", R"({"use_multicore":false})", "r64x96", kMatrix},
    {"untilize", R"({"use_multicore":false})", kMatrix, "r64x96"},
    {"pad", R"({"before":[0,1,3,0],"value":1,"use_multicore":false})", "2x4x96x64", "2x5x128x64"},
    {"permute", R"({"order":[2,0,1,3]})", "2x4x96x64", "96x2x4x64"},
    {"cross_entropy_backward", R"({"scale":0.5})", "2x32x96 u2x32", "2x32x96"},
    {"nll_loss_backward", R"({"scale":0.5})", "2x32x96 u2x32", "2x32x96"},
    {"adamw", R"({"learning_rate":0.5,"step":3})", "64x96 64x96 64x96 64x96", "64x96 64x96 64x96"},
    {"sgd", R"({"momentum":0.5,"weight_decay":0.25,"nesterov":true})", "64x96 64x96 64x96",
     "64x96 64x96"},
    {"all_gather", R"({"dimension":2,"links":2,"ring":true,"workers":2,"chunk":20,"buffers":4})",
     "64x32 u1x1", "128x32"},
    {"reduce_scatter",
     R"({"dimension":"rows","links":2,"ring":true,"workers":2,"chunk":20,"buffers":4})",
     "64x64 u1x1", "32x64"},
    {"all_to_all_dispatch", R"({"links":2,"ring":true})", "r32x64 u1x1 u32x2 u8x4", "r64x64 u64x2"},
    {"all_to_all_combine", R"({"links":2,"ring":true})", "r1x2x64x64 u1x1 u64x2 u8x4",
     "r1x2x32x64"},
    {"sparse_matmul",
     R"({"used":3,"sparse_a":true,"sparse_b":false,"fidelity":"HiFi2","fp32_accumulation":true,
           "packer_accumulates":true,
           "config":"1d_in0:grid=2x1:per_core=1x1:in0_block_w=1:out_subblock=1x1:fuse_batch=no"})",
     "2x4x32x96 1x4x96x64 r1x1x2x4", "2x4x32x64"},
    {"all_gather_matmul",
     R"({"links":2,"ring":true,"fidelity":"HiFi4","fp32_accumulation":true,
           "packer_accumulates":true})",
     "64x32 u1x1 64x96", "64x64 64x96"},
    {"matmul_reduce_scatter",
     R"({"links":2,"ring":true,"fidelity":"HiFi4","fp32_accumulation":true,
           "packer_accumulates":true})",
     "64x32 u1x1 32x64", "64x64 64x32"},
    {"halo", R"("cores":4,"channel_cores":2})", "784x64", "r784x64"},
    {"conv2d", R"("sharding":"block","cores":4,"channel_cores":2,"act_block_h":2,
                    "double_buffers_x":true,"double_buffers_weights":true,"full_inner_dim":true,
                    "packer_accumulates":true,"fidelity":"LoFi","fp32_accumulation":true,
                    "activation":"relu"})",
     "784x64 960x96 1x96", "350x96"},
    {"max_pool2d", R"("cores":4,"channel_cores":2})", "784x64", "350x64"},
    {"avg_pool2d", R"("counts_padding":false,"divisor":3})", "784x64", "350x64"},
    {"upsample", R"({"factor":[2,3],"bilinear":true})", kImage, "1x4x192x32"},
    {"fold", R"({"stride":[2,4]})", kImage, "1x1x16x256"},
    {"group_norm", R"({"groups":2,"epsilon":1e-3,"core_grid":[1,2],"fp32_accumulation":true})",
     "1x1x64x64", "1x1x64x64"},
    {"batch_norm", R"({"epsilon":1e-3})", "1x2x64x32 1x2x1x1 1x2x1x1", kImage}};

class LoggedWords : public ::testing::Test {
 protected:
  /// Plans a call, writes each of its launches into a log, and expects the same program from it:
  /// its op, operands, results and time, and if `told` its fields.
  void expect_back(const Program& program, bool told) {
    for (const chip::PlannedProgram& launch : chip_.launches(program)) {
      const std::string_view op = name_of(launch.program.attributes);
      SCOPED_TRACE(op);
      const std::string text = text_of(launch);
      SCOPED_TRACE(text.substr(text.find('\n') + 1));
      const auto read = read_back(text);
      EXPECT_TRUE(read || kNotTold.contains(op));
      if (!read || kNotTold.contains(op)) continue;
      EXPECT_FALSE(read->stands_in);
      const Program& found = read->program;
      EXPECT_EQ(name_of(found.attributes), op);
      const bool fields = told && !kUntoldFields.contains(op);
      if (fields) {
        EXPECT_TRUE(found.attributes == launch.program.attributes);
      }
      EXPECT_EQ(texts_of(found.inputs), texts_of(launch.program.inputs));
      EXPECT_EQ(texts_of(found.outputs), texts_of(launch.program.outputs));
      if (told && !fields) continue;
      EXPECT_EQ(chip::plan_program(found, launch.grid, chip_.profiles()).kernel.total,
                launch.kernel.total);
    }
  }

  std::string text_of(const chip::PlannedProgram& launch) const {
    const OpRecord record{.run = {.number = 1, .kernel = {SimTime(), launch.kernel.total}},
                          .name = std::string(launch.name),
                          .facts = facts_of(launch, chip_.profiles().chip)};
    return ops_csv(std::span(&record, 1), kWormholeDevice);
  }

  static std::optional<LoggedProgram> read_back(const std::string& text) {
    TextBytes source(text);
    DroppedRows dropped;
    std::optional<LoggedProgram> read;
    for_each_op_row(source, "ops.csv", Tensors::read, dropped, [&](const OpRow& row) {
      try {
        read = logged_program(row);
      } catch (const Error& error) {
        std::cout << error.what() << "\n";
      }
    });
    return read;
  }

  static std::string texts_of(const std::vector<Operand>& operands) {
    std::string text;
    for (const Operand& operand : operands) {
      text += layout_text(operand.spec) + ", ";
      if (operand.spec.sharding) text += operand.spec.sharding->text() + ", ";
    }
    return text;
  }

  /// Ops that ttnn has no name of their own for.
  const std::map<std::string_view, std::string_view> kNotTold{
      {"mean", "ttnn's is a sum that is scaled"},
      {"move", "stands for any op that moves tiles, and is called a concat"},
      {"update_cache", "is a paged_update_cache whose pages are whole caches"}};
  /// Ops of which no log tells some field.
  const std::map<std::string_view, std::string_view> kUntoldFields{
      {"adamw", "the seed of its rounding, and what TTML adds"},
      {"sampling", "the number of candidates is a tensor"},
      {"topk", "how many cores share the columns follows from CORE COUNT"}};

  chip::EmulatedChip chip_{chip::load_profiles()};
};

TEST_F(LoggedWords, OfEachOpAreReadAsItsProgram) {
  for (const Attributes& op : all_ops()) {
    SCOPED_TRACE(name_of(op));
    if (name_of(op) == "fill") continue;  // each call has a number
    const auto [inputs, results] = howard::testing::op_example(op);
    ASSERT_FALSE(results.empty()) << "an op needs operands that it takes in op_examples.h";
    expect_back(make_program(op, inputs, results), false);
  }
}

TEST_F(LoggedWords, OfShardsAreReadAsTheseShards) {
  const Sharding height{.grid = {8, 1}, .rows = 32, .columns = 96},
      block{.layout = ShardLayout::block, .grid = {3, 8}, .rows = 32, .columns = 32};
  const TensorSpec pages{.shape = {256, 96}},
      rows{.shape = {256, 96}, .storage = Storage::l1, .sharding = height},
      blocks{.shape = {256, 96}, .storage = Storage::l1, .sharding = block};
  expect_back(make_program(MemoryMoveAttributes{}, {pages}, {rows}), true);
  expect_back(make_program(MemoryMoveAttributes{}, {rows}, {pages}), true);
  expect_back(make_program(MemoryMoveAttributes{}, {pages}, {blocks}), true);
  expect_back(make_program(eltwise_of(Eltwise::add), {rows, rows}, {rows}), true);
  expect_back(make_program(eltwise_of(Eltwise::silu), {blocks}, {blocks}), true);
}

TEST_F(LoggedWords, OfEachFieldAreReadAsItsValue) {
  std::map<std::string_view, bool> has_call;
  for (const Call& call : kCalls) {
    SCOPED_TRACE(call.op);
    has_call[call.op] = true;
    const std::string fields(call.fields);
    const Attributes op =
        parse_attributes(call.op, fields.starts_with('{') ? fields : std::string(kWindow) + fields);
    expect_back(make_program(op, howard::testing::operands_of(call.inputs),
                             howard::testing::operands_of(call.results)),
                true);
  }
  for (const Attributes& op : all_ops()) {
    const bool has_fields =
        !field_names(op).empty() && !std::holds_alternative<EltwiseAttributes>(op);
    EXPECT_TRUE(!has_fields || has_call[name_of(op)]) << name_of(op) << " needs a call above";
  }
}

}  // namespace
}  // namespace howard::profiler
