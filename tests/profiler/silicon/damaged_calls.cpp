// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/silicon/damaged_calls.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"

namespace howard::profiler::testing {

std::string tensor(int rows, int columns, std::string_view memory, std::string_view dtype) {
  return fmt::format("1[1],1[1],{}[{}],{}[{}],TILE,{},{}", (rows + 31) / 32 * 32, rows,
                     (columns + 31) / 32 * 32, columns, dtype, memory);
}

std::string Row::text() const {
  return fmt::format("{},{},{},{},{},{},{},1000,{},{},{},{},{}\n", code, type, architecture,
                     attributes, fidelity, cores, worker_cores, kernel, skew, input0, input1,
                     output);
}

SiliconComparison compared(const std::vector<Row>& rows, const chip::Profiles& profiles) {
  std::string text(kCallsHeader);
  for (const Row& row : rows) text += row.text();
  TextBytes source(text);
  return compare_with_silicon(source, "ops.csv", profiles);
}

ComparedCall call_of(const Row& row, const chip::Profiles& profiles) {
  SiliconComparison found = compared({row}, profiles);
  if (!found.calls.empty()) return found.calls[0];
  return {.code = {}, .call = found.not_emulated.at(0).reason};
}

std::string why_not_emulated(const Row& row) {
  const SiliconComparison found = compared({row});
  HOWARD_CHECK(found.calls.size() + found.not_emulated.size() == 1, "a row is one call");
  return found.not_emulated.empty() ? "" : found.not_emulated[0].reason;
}

namespace {

std::vector<Row> calls_of_later_ops() {
  return {
      {.code = "MinimalMatmulOp",
       .attributes = "{'config': 'MinimalMatmulConfig(M_block_size=2;K_block_size=8;N_block_size=8;"
                     "subblock_h=2;subblock_w=2;compute_with_storage_grid_size=(x=8;y=8))'}"},
      {.code = "UnaryDeviceOperation",
       .attributes = "{'op_chain': '{U(op_type=UnaryOpType::CLAMP_TSS;param={0;6}); "
                     "U(op_type=UnaryOpType::SILU;param={0})}'}",
       .input1 = kNoTensor},
      {.code = "SliceDeviceOperation",
       .attributes = "{'slice_start': 'Shape([0; 0; 32; 0])'; 'step': 'Shape([1; 1; 2; 1])'}",
       .input1 = kNoTensor,
       .output = tensor(128, 512)},
      {.code = "PadDeviceOperation",
       .attributes = "{'input_tensor_start': 'Shape([0; 0; 3; 0])'}",
       .input1 = kNoTensor,
       .output = tensor(1024, 512)},
      {.code = "SoftmaxDeviceOperation",
       .attributes = "{'output_mem_config': 'MemoryConfig(shard_spec=ShardSpec(grid={[(x=0;y=0) - "
                     "(x=7;y=1)]};shape={32; 512}))'; 'program_config': 'S(block_h=1;block_w=16)'}",
       .input0 = tensor(512, 512, "DEV_0_L1_HEIGHT_SHARDED"),
       .input1 = kNoTensor,
       .output = tensor(512, 512, "DEV_0_L1_HEIGHT_SHARDED")},
      {.code = "Conv2dDeviceOperation",
       .attributes = "{'parallelization_config': 'P(num_cores_nhw=8;num_cores_c_in=1)'; "
                     "'sliding_window_config': 'S(batch_size=1; input_hw=(16;16); window_hw=(3;3);"
                     " stride_hw=(1;1); padding=((1; 1); (1; 1)); ceil_mode=false)'}",
       .input0 = tensor(256, 512),
       .input1 = tensor(4608, 512)},
      {.code = "GroupNorm",
       .attributes = "{'num_groups': '16'; 'program_config': "
                     "'P(compute_with_storage_grid_size=(x=8;y=4))'}",
       .input1 = kNoTensor},
      {.code = "SdpaDecodeDeviceOperation",
       .attributes = "{'cur_pos': '{31}'; 'program_config': 'C(k_chunk_size=32)'}",
       .input0 = "1[1],1[1],32[32],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED",
       .input1 = tensor(64, 64),
       .output = "1[1],1[1],32[32],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"},
      {.code = "ArgMaxDeviceOperation",
       .attributes = "{'dim': '3'; 'use_multicore': 'false'}",
       .input1 = kNoTensor},
      {.code = "TopKDeviceOperation",
       .attributes = "{'dim': '3'; 'k': '32'; 'largest': '1'}",
       .input1 = kNoTensor},
      {.code = "SamplingDeviceOperation", .input0 = tensor(32, 256), .input1 = tensor(32, 256)},
      {.code = "PermuteDeviceOperation",
       .attributes = "{'dims': 'SmallVector([0; 1; 3; 2])'}",
       .input1 = kNoTensor}};
}

}  // namespace

std::vector<std::string> whole_calls() {
  const std::string qkv = tensor(512, 1536);
  const std::vector<Row> rows = {
      {.attributes = "{'compute_kernel_config': 'WormholeComputeKernelConfig(math_fidelity=HiFi2;"
                     "fp32_dest_acc_en=1)'; 'transpose_a': 'false'; 'transpose_b': '1'; "
                     "'user_core_coord': '(x=8;y=7)'; 'user_fused_activation': 'std::nullopt'}"},
      {.code = "BinaryNgDeviceOperation",
       .attributes = "{'binary_op_type': 'BinaryOpType::ADD'; 'post_activations': '[]'; 'scalar': "
                     "'std::nullopt'; 'sub_core_grids': '{[(x=0;y=0) - (x=7;y=6)]}'; "
                     "'worker_grid': '{[(x=0;y=0) - (x=7;y=7)]}'}"},
      {.code = "BinaryNgDeviceOperation",
       .attributes = "{'binary_op_type': 'BinaryOpType::MUL'; 'scalar': '0.5'}",
       .input1 = kNoTensor},
      {.code = "UnaryDeviceOperation",
       .attributes = "{'op_chain': '{UnaryWithParam(op_type=UnaryOpType::ERF;param={0})}'}",
       .input1 = kNoTensor},
      {.code = "Reduce",
       .attributes = "{'dim': 'ReduceOpDim::W'; 'math_op': 'ReduceOpMath::SUM'}",
       .input1 = kNoTensor,
       .output = tensor(512, 1)},
      {.code = "MorehMeanOperation",
       .attributes = "{'dim': '2'}",
       .input1 = kNoTensor,
       .output = tensor(1, 512)},
      {.code = "TransposeDeviceOperation",
       .attributes = "{'dim': 'TransposeOpDim::WH'}",
       .input1 = kNoTensor},
      {.code = "ConcatDeviceOperation", .attributes = "{'dim': '3'}", .output = tensor(512, 1024)},
      {.code = "NlpCreateHeadsDeviceOperation",
       .attributes = "{'num_kv_heads': '8'; 'num_q_heads': '8'}",
       .input0 = qkv,
       .input1 = kNoTensor,
       .output = "1[1],8[8],512[512],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"},
      {.code = "SoftmaxDeviceOperation", .attributes = "{'dim': '-1'}", .input1 = kNoTensor},
      {.code = "LayerNormDeviceOperation",
       .attributes = "{'norm_type': 'LayerNormType::LAYERNORM'}",
       .input1 = kNoTensor},
      {.code = "TilizeDeviceOperation",
       .input0 = "1[1],1[1],512[512],512[512],ROW_MAJOR,BFLOAT16,DEV_0_L1_INTERLEAVED",
       .input1 = kNoTensor}};
  std::vector<std::string> texts;
  for (const Row& row : rows) texts.push_back(row.text());
  for (const Row& row : calls_of_later_ops()) texts.push_back(row.text());
  return texts;
}

void compare_rows(std::string_view rows) {
  static const chip::Profiles kProfiles = chip::load_profiles();
  const std::string text = std::string(kCallsHeader) + std::string(rows);
  try {
    TextBytes source(text);
    const SiliconComparison found = compare_with_silicon(source, "file", kProfiles);
    for (const ComparedCall& call : found.calls) {
      HOWARD_CHECK(!call.runs.empty(), "a call has the row it was made of");
      HOWARD_CHECK(call.emulated > SimTime(), "what is emulated takes time");
    }
  } catch (const Error&) {
  }
}

}  // namespace howard::profiler::testing
