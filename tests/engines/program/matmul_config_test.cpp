// SPDX-License-Identifier: Apache-2.0
#include "engines/program/matmul_config.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard {
namespace {

TEST(MatmulConfig, ItsTextReadsBackAsTheSame) {
  for (const char* const text :
       {"2d:grid=8x7:per_core=20x16:in0_block_w=8:out_block=10x8:out_subblock=2x4",
        "2d:grid=7x8:per_core=16x19:in0_block_w=16:out_subblock=8x1:transpose_mcast=yes",
        "1d_in0:grid=8x7:per_core=1x2:in0_block_w=4:out_subblock=1x2:fuse_batch=no",
        "1d_in1:grid=8x7:per_core=2x1:in0_block_w=4:out_subblock=2x1",
        "reuse:grid=8x7:per_core=2x3:in0_block_w=1:out_subblock=2x3", "multi_core",
        "1d_in0:grid=8x3:per_core=1x2:in0_block_w=3:out_subblock=1x2:gather_in0=yes",
        "dram_sharded:per_core=1x6:in0_block_w=4",
        "1024x512x2048@2d:grid=8x7:per_core=5x8:in0_block_w=2:out_subblock=5x1"}) {
    EXPECT_EQ(text_of(parse_matmul_config(text)), text);
  }
}

TEST(MatmulConfig, WhatIsLeftOutHasItsDefault) {
  const MatmulConfig config = parse_matmul_config("2D:per_core=20x16:in0_block_w=8:grid=8x7");
  EXPECT_EQ(config.kind, MatmulKind::multicast_2d);
  EXPECT_EQ(config.out_block_h, 20);
  EXPECT_EQ(config.out_block_w, 16);
  EXPECT_EQ(config.subblock_h, 4);
  EXPECT_EQ(config.subblock_w, 2);
  EXPECT_FALSE(config.transpose_mcast);
  EXPECT_TRUE(config.fuse_batch);
}

TEST(MatmulConfig, WhatIsNoConfigurationIsRefusedWithTheReason) {
  const auto reason = [](const char* text) -> std::string {
    return error_parts_of([&] { parse_matmul_config(text); }).value;
  };
  EXPECT_EQ(reason(""), "there is no kind ''");
  EXPECT_EQ(reason("3d:grid=8x7"), "there is no kind '3d'");
  EXPECT_EQ(reason("2d:grid=8x7:per_core=1x1"), "it has no in0_block_w");
  EXPECT_EQ(reason("dram_sharded:per_core=1x1"), "it has no in0_block_w");
  EXPECT_EQ(reason("2d:grid=8:per_core=1x1:in0_block_w=1"), "grid is '8'");
  EXPECT_EQ(reason("2d:grid=8x7:per_core=0x1:in0_block_w=1"), "per_core is '0'");
  EXPECT_EQ(reason("2d:grid=8x7:per_core=1x1:in0_block_w=99999999999"),
            "in0_block_w is '99999999999'");
  EXPECT_EQ(reason("2d:grid=8x7:grid=8x7"), "grid stands twice");
  EXPECT_EQ(reason("1024x512@multi_core"), "the product's size is '1024x512'");
  EXPECT_EQ(reason("2d:gird=8x7"), "it has no part 'gird'");
  EXPECT_EQ(reason("2d:transpose_mcast=maybe"), "transpose_mcast is 'maybe'");
}

TEST(MatmulConfig, ASubBlockIsTheFirstOfTtnnsListThatDivides) {
  EXPECT_EQ(preferred_subblock(8, 8, 8), std::pair(std::int64_t{4}, std::int64_t{2}));
  EXPECT_EQ(preferred_subblock(7, 12, 8), std::pair(std::int64_t{7}, std::int64_t{1}));
  EXPECT_EQ(preferred_subblock(19, 1, 8), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(preferred_subblock(8, 8, 4), std::pair(std::int64_t{2}, std::int64_t{2}));
}

TEST(MatmulConfig, PythonIsTheConstructorOfTtnnsClass) {
  EXPECT_EQ(python_text(parse_matmul_config("1d_in0:grid=8x7:per_core=1x2:in0_block_w=4:"
                                            "out_subblock=1x2"),
                        Eltwise::gelu),
            "ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(\n"
            "    compute_with_storage_grid_size=ttnn.CoreCoord(8, 7),\n"
            "    in0_block_w=4,\n"
            "    out_subblock_h=1,\n"
            "    out_subblock_w=2,\n"
            "    out_block_h=1,\n"
            "    out_block_w=2,\n"
            "    per_core_M=1,\n"
            "    per_core_N=2,\n"
            "    fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, False),\n"
            "    fuse_batch=True,\n"
            "    mcast_in0=True,\n"
            ")");
  EXPECT_EQ(python_text(parse_matmul_config("reuse:grid=8x7:per_core=1x2:in0_block_w=4")),
            "ttnn.MatmulMultiCoreReuseProgramConfig(\n"
            "    compute_with_storage_grid_size=ttnn.CoreCoord(8, 7),\n"
            "    in0_block_w=4,\n"
            "    out_subblock_h=1,\n"
            "    out_subblock_w=2,\n"
            "    per_core_M=1,\n"
            "    per_core_N=2,\n"
            ")");
  EXPECT_EQ(python_text(parse_matmul_config("dram_sharded:per_core=1x6:in0_block_w=4")),
            "ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(\n"
            "    in0_block_w=4,\n"
            "    per_core_M=1,\n"
            "    per_core_N=6,\n"
            "    fused_activation=None,\n"
            ")");
  EXPECT_EQ(python_text({.kind = MatmulKind::multi_core}), "ttnn.MatmulMultiCoreProgramConfig()");
}

}  // namespace
}  // namespace howard
