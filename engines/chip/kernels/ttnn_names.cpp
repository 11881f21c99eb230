// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/ttnn_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace howard::chip {
namespace {

template <std::size_t Count>
bool has_any(std::string_view name, const std::array<std::string_view, Count>& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

std::string_view stem_of(std::string_view operation) {
  for (const std::string_view ending : {"DeviceOperation", "Operation", "DeviceOp", "Op"}) {
    if (operation.ends_with(ending) && operation.size() > ending.size()) {
      operation.remove_suffix(ending.size());
      break;
    }
  }
  // The names of 2024 and 2025, as logs and the classes of ttnn have them.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 29> kRenamed{
      {{"Binary", "BinaryNg"},
       {"EltwiseBinary", "BinaryNg"},
       {"EltwiseBinaryBroadcast", "BinaryNg"},
       {"EltwiseUnary", "Unary"},
       {"Where", "Ternary"},
       {"OptimizedConvNew", "Conv2d"},
       {"OptimizedConv", "Conv2d"},
       {"ScaledDotProductAttention", "SDPA"},
       {"ScaledDotProductAttentionDecode", "SdpaDecode"},
       {"ReshapeView", "Reshape"},
       {"Tensor::to_layout", "Tilize"},
       {"RotaryEmbeddingLlamaFusedQK", "RotaryEmbeddingLlamaFusedQk"},
       {"CreateQKVHeads", "NlpCreateHeads"},
       {"NLPCreateHeadsDecode", "NLPCreateQKVHeadsDecode"},
       {"NlpConcatHeads", "NLPConcatHeads"},
       {"UpdateCache", "UpdateKVCache"},
       {"MaxPool", "Pool2D"},
       {"MaxPool2D", "Pool2D"},
       {"MaxPoolNew", "Pool2D"},
       {"Upsample", "UpSample"},
       {"UntilizeWithHalo", "Halo"},
       {"UntilizeWithHaloV2", "Halo"},
       {"Bcast", "BinaryNg"},
       {"CreateQKVHeadsSeparateTensors", "NlpCreateHeads"},
       {"NLPCreateHeads", "NlpCreateHeads"},
       {"ConcatenateHeads", "NLPConcatHeads"},
       {"CumSum", "Accumulation"},
       {"LayernormNew", "LayerNorm"},
       {"RotaryEmbeddingHf", "RotaryEmbedding"}}};
  const auto renamed =
      std::ranges::find(kRenamed, operation, [](const auto& one) { return one.first; });
  return renamed != kRenamed.end() ? renamed->second : operation;
}

bool moves_elements(std::string_view operation) {
  constexpr std::array<std::string_view, 9> kWords{"Tilize",    "tilize",  "Reshape",
                                                   "Transpose", "Permute", "Sharded",
                                                   "Reshard",   "Copy",    "ToLayout"};
  return has_any(operation, kWords);
}

bool picks_elements(std::string_view operation) {
  return has_any(operation,
                 std::array<std::string_view, 4>{"Embedding", "Slice", "Split", "Gather"});
}

bool updates_a_part(std::string_view operation) {
  return has_any(operation, std::array<std::string_view, 4>{"UpdateCache", "UpdateKVCache",
                                                            "FillCache", "FusedUpdateCache"});
}

bool reads_a_part(std::string_view operation) {
  constexpr std::array<std::string_view, 6> kWords{
      "SdpaDecode", "AttentionDecode", "SDPADecode", "FlashMla", "ChunkedScaled", "PagedAttention"};
  return has_any(operation, kWords);
}

bool is_product(std::string_view operation) {
  return operation.find(operation::kMatmul) != std::string_view::npos;
}

bool is_convolution(std::string_view operation) {
  return has_any(operation, std::array<std::string_view, 2>{"OptimizedConv", "Conv2d"});
}

bool is_attention(std::string_view operation) {
  constexpr std::array<std::string_view, 3> kWords{"SDPAOperation", "SDPAForward",
                                                   "ScaledDotProductAttention"};
  return has_any(operation, kWords) && !reads_a_part(operation);
}

std::string ttnn_chain(std::span<const EltwiseStep> steps) {
  std::string chain;
  for (const EltwiseStep& step : steps) {
    const EltwiseEntry& entry = entry_of(step.function);
    // The fast gelu is ttnn's gelu with a number that says so.
    const bool is_fast = step.function == Eltwise::gelu_approx;
    chain += fmt::format("{}BasicUnaryWithParam<float>(op_type=UnaryOpType::{};param={{{}",
                         chain.empty() ? "" : "; ", is_fast ? "GELU" : entry.ttnn,
                         is_fast ? 1.0F : step.numbers[0]);
    if (entry.numbers == 2) chain += fmt::format(";{}", step.numbers[1]);
    chain += "})";
  }
  return chain;
}

std::string ttnn_text(const std::optional<CoreGrid>& grid) {
  return grid ? fmt::format("(x={};y={})", grid->columns, grid->rows) : "std::nullopt";
}

std::string ttnn_range_text(CoreGrid grid) {
  return fmt::format("{{[(x=0;y=0) - (x={};y={})]}}", grid.columns - 1, grid.rows - 1);
}

}  // namespace howard::chip
