// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/ttnn_names.h"

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
  return operation.find("Matmul") != std::string_view::npos;
}

bool is_convolution(std::string_view operation) {
  return has_any(operation, std::array<std::string_view, 2>{"OptimizedConv", "Conv2d"});
}

bool is_attention(std::string_view operation) {
  constexpr std::array<std::string_view, 3> kWords{"SDPAOperation", "SDPAForward",
                                                   "ScaledDotProductAttention"};
  return has_any(operation, kWords) && !reads_a_part(operation);
}

}  // namespace howard::chip
