// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/ttnn_module.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/program/sharding.h"
#include "tests/error_of.h"

namespace howard::workload {
namespace {

// Layouts and ops in the forms of tt-mlir's TTNN dialect (TTNNOpsAttrs.td), in shapes of our own.
constexpr std::string_view kLayouts = R"(
#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x8x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x16x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x4>, memref<2x4x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0, 0), (3, 1)>]>>
#r = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<4x16x!ttcore.tile<32x32, bf16>, #dram>, interleaved>
#host = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<128x256xbf16, #ttnn.buffer_type<system_memory>>>
)";

Workload read(const std::string& body, ModuleNotes& notes) {
  return workload_of_module(std::string(kLayouts) + body, "m", notes);
}
Workload read(const std::string& body) {
  ModuleNotes notes;
  return read(body, notes);
}

std::vector<std::string> kernels_of(const Workload& made) {
  std::vector<std::string> kernels;
  for (const CallLine& call : made.calls) {
    const OpLine& op = made.ops[call.op];
    kernels.push_back(op.kernel + (op.attributes == "{}" ? "" : op.attributes));
  }
  return kernels;
}
using Kernels = std::vector<std::string>;

TEST(TtnnModule, TensorsLieAsTheirLayoutsSay) {
  const Workload made = read(R"(func.func @main() {
    %1 = "ttnn.linear"(%a, %w) <{transpose_a = false, transpose_b = false}> : (tensor<128x256xbf16, #a>, tensor<256x512xbf16, #w>) -> tensor<128x512xbf16, #s> loc(#loc)
  })");
  ASSERT_EQ(made.tensors.size(), 3U);
  EXPECT_EQ(made.tensors[0].spec, (TensorSpec{{128, 256}}));
  EXPECT_EQ(made.tensors[1].spec, (TensorSpec{{256, 512}, DataType::bfloat8_b}));
  const TensorSpec& out = made.tensors[2].spec;
  EXPECT_EQ(out.storage, Storage::l1);
  ASSERT_TRUE(out.sharding);
  EXPECT_EQ(short_text(*out.sharding), "block:4x2:64x128");
  EXPECT_EQ(kernels_of(made), (Kernels{R"(matmul{"transpose_a":false,"transpose_b":false})"}));
  EXPECT_FALSE(made.eth_dispatch);
}

TEST(TtnnModule, TensorsHaveTheDataTypesOfTheirLayouts) {
  const std::map<std::string, DataType> types{
      {"si32", DataType::int32}, {"u32", DataType::uint32},  {"ui16", DataType::uint16},
      {"u8", DataType::uint8},   {"f32", DataType::float32}, {"bf16", DataType::bfloat16},
      {"i32", DataType::int32},  {"ui32", DataType::uint32}};
  for (const auto& [word, type] : types) {
    const Workload made =
        read("#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, " +
             word + ">, #dram>, <interleaved>>\nfunc.func @main() {\n %1 = \"ttnn.relu\"(%a) : " +
             "(tensor<32x32x" + word + ", #t>) -> tensor<32x32x" + word + ", #t>\n}");
    ASSERT_EQ(made.tensors.size(), 2U) << word;
    EXPECT_EQ(made.tensors[0].spec.dtype, type) << word;
    EXPECT_EQ(made.tensors[1].spec.dtype, type) << word;
  }
}

TEST(TtnnModule, ShardsOnAllRowsOfCoresNeedEthernetCoresToDispatch) {
  const Workload made = read(R"(
#all = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
  func.func @main() {
    %1 = "ttnn.relu"(%a) : (tensor<256x256xbf16, #all>) -> tensor<256x256xbf16, #all>
  })");
  EXPECT_TRUE(made.eth_dispatch);
}

TEST(TtnnModule, ProductsHaveTheirConfigurations) {
  const auto product = [](const std::string& properties) {
    return kernels_of(read("func.func @main() {\n %1 = \"ttnn.matmul\"(%a, %w) <{" + properties +
                           "}> : (tensor<128x256xbf16, #a>, tensor<256x512xbf16, #w>) -> "
                           "tensor<128x512xbf16, #s>\n}"));
  };
  const std::string flags = R"(matmul{"transpose_a":false,"transpose_b":false)";
  EXPECT_EQ(
      product("matmul_program_config = "
              "#ttnn.matmul_multi_core_reuse_multi_cast_program_config<"
              "compute_with_storage_grid_size = #ttnn.core_coord<4, 2>, in0_block_w = 2, "
              "out_subblock_h = 1, out_subblock_w = 4, out_block_h = 2, out_block_w = 4, "
              "per_core_m = 2, per_core_n = 4, transpose_mcast = false, fuse_batch = true>"),
      (Kernels{flags + R"(,"config":"2d:grid=4x2:per_core=2x4:in0_block_w=2:out_subblock=1x4:)" +
               R"(out_block=2x4"})"}));
  EXPECT_EQ(product("compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi4, "
                    "fp32_dest_acc_en = true>, transpose_a = false"),
            (Kernels{flags + R"(,"fidelity":"HiFi4","fp32_accumulation":true})"}));
  EXPECT_THROW(product("matmul_program_config = #ttnn.another<a = 1>"), Error);
}

TEST(TtnnModule, OpsBecomeKernelsOrAreNamed) {
  ModuleNotes notes;
  const Workload made = read(R"(func.func @main() {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.add"(%a, %b) : (tensor<128x256xbf16, #a>, tensor<128x256xbf16, #a>) -> tensor<128x256xbf16, #a>
    %2 = "ttnn.softmax"(%1) <{dimension = -1 : si32}> : (tensor<128x256xbf16, #a>) -> tensor<128x256xbf16, #a>
    %3 = "ttnn.softmax"(%2) <{dimension = 0 : si32}> : (tensor<128x256xbf16, #a>) -> tensor<128x256xbf16, #a>
    %4 = "ttnn.moe_gpt"(%2) : (tensor<128x256xbf16, #a>) -> tensor<128x256xbf16, #a>
    %5 = "ttnn.mean"(%2) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<128x256xbf16, #a>) -> tensor<128x1xbf16, #a>
    %6 = "ttnn.permute"(%2) <{permutation = array<i64: 1, 0>}> : (tensor<128x256xbf16, #a>) -> tensor<256x128xbf16, #a>
    "ttnn.deallocate"(%2) <{force = false}> : (tensor<128x256xbf16, #a>) -> ()
  })",
                             notes);
  EXPECT_EQ(kernels_of(made),
            (Kernels{"add", "softmax", R"(mean{"dimension":"columns"})", "transpose"}));
  EXPECT_EQ(notes.ops, 8);
  EXPECT_EQ(notes.launched, 4);
  EXPECT_EQ(notes.free, 2);
  const std::map<std::string, std::int64_t> left{{"moe_gpt", 1}, {"softmax", 1}};
  EXPECT_EQ(notes.left_out, left);
}

TEST(TtnnModule, ReshapesOfWholeTilesAreViews) {
  const Workload made = read(R"(func.func @main() {
    %1 = "ttnn.relu"(%a) : (tensor<128x512xbf16, #r>) -> tensor<128x512xbf16, #r>
    %2 = "ttnn.reshape"(%1) <{shape = [2 : i32, 64 : i32, 512 : i32]}> : (tensor<128x512xbf16, #r>) -> tensor<2x64x512xbf16, #r>
    "ttnn.deallocate"(%1) : (tensor<128x512xbf16, #r>) -> ()
    %3 = "ttnn.relu"(%2) : (tensor<2x64x512xbf16, #r>) -> tensor<2x64x512xbf16, #r>
  })");
  EXPECT_EQ(kernels_of(made), (Kernels{"relu", "relu"}));
  ASSERT_TRUE(made.tensors[2].view_of);
  EXPECT_EQ(made.tensors[2].view_of.value(), 1U);
}

TEST(TtnnModule, WhatIsEvaluatedBeforeAndWhatIsOnTheHostTakesNothing) {
  ModuleNotes notes;
  const Workload made = read(R"(
  func.func private @f(%arg0: tensor<128x256xbf16, #a>) attributes {tt.function_type = "const_eval"} {
    %1 = "ttnn.relu"(%arg0) : (tensor<128x256xbf16, #a>) -> tensor<128x256xbf16, #a>
  }
  func.func @main() {
    %1 = "ttnn.to_layout"(%h) : (tensor<128x256xbf16, #host>) -> tensor<128x256xbf16, #a>
    %2 = "ttnn.exp"(%1) : (tensor<128x256xbf16, #a>) -> tensor<128x256xbf16, #a>
  })",
                             notes);
  EXPECT_EQ(kernels_of(made), (Kernels{"exp"}));
  EXPECT_EQ(notes.free, 1);
}

TEST(TtnnModule, ATextWithoutSuchOpsIsNone) {
  EXPECT_THROW(read("func.func @main() {}"), Error);
  EXPECT_NE(error_of([] { read("\"ttnn.add\"("); }).find("the '(' on line 9 is not closed"),
            std::string::npos);
  EXPECT_THROW(read("%1 = \"ttnn.add\"(%0 <{ : (tensor<9x"), Error);
  EXPECT_THROW(read("func.func @main() {\n"), Error) << "the file ends within a function";
  EXPECT_NE(error_of([] {
              read(
                  "%1 = \"ttnn.moe_gpt\"(%0) : (tensor<128x256xbf16, #a>) -> "
                  "tensor<128x256xbf16, #a>");
            }).find("none of its ops can be run: moe_gpt x 1"),
            std::string::npos);
}

}  // namespace
}  // namespace howard::workload
