// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engines/program/program.h"

namespace howard::testing {

/// Operands and results that an op takes: shapes, of which "r" begins one in rows, "u" one of
/// uint32 in rows and "t" one of uint32 in tiles.
struct Example {
  std::string_view inputs, results;
};

inline constexpr std::string_view kQkv = "1x2x64x32 1x2x64x32 1x2x64x32";
inline constexpr std::string_view kGradients =
    "1x2x64x32 1x2x64x32 1x2x64x32 1x2x64x32 1x2x64x32 1x2x64x1 1x2x64x1";
inline constexpr std::string_view kHeads = "1x1x64x32 1x1x64x32 1x1x64x32";

/// Those of ops on images, of ops on several devices and their experts, of sort and of scatter.
inline std::map<std::string_view, Example> further_examples() {
  return {
      {"sort", {"64x96", "64x96 t64x96"}},
      {"scatter", {"r64x96 u64x2 r64x2", "r64x96"}},
      {"all_gather", {"64x32 u1x1", "64x64"}},
      {"reduce_scatter", {"64x64 u1x1", "64x32"}},
      {"sparse_matmul", {"1x1x64x96 1x4x96x32 r1x1x1x4", "1x4x64x32"}},
      {"all_to_all_dispatch", {"r32x64 u1x1 u32x2 u8x4", "r64x64 u64x2"}},
      {"all_to_all_combine", {"r1x2x64x64 u1x1 u64x2 u8x4", "r1x2x32x64"}},
      {"all_gather_matmul", {"64x32 u1x1 64x96", "64x64 64x96"}},
      {"matmul_reduce_scatter", {"64x32 u1x1 32x64", "64x64 64x32"}},
      {"conv2d", {"1x96 96x32", "1x32"}},
      {"halo", {"1x96", "r1x96"}},
      {"max_pool2d", {"1x96", "1x96"}},
      {"avg_pool2d", {"1x96", "1x96"}},
      {"upsample", {"1x2x64x32", "1x4x128x32"}},
      {"fold", {"1x2x64x32", "1x2x64x32"}},
      {"group_norm", {"1x1x64x32", "1x1x64x32"}},
      {"batch_norm", {"1x2x64x32 1x2x1x1 1x2x1x1", "1x2x64x32"}},
  };
}

inline std::map<std::string_view, Example> first_examples() {
  return {
      {"matmul", {"64x96 96x32", "64x32"}},
      {"minimal_matmul", {"64x96 96x32", "64x32"}},
      {"swiglu", {"64x96 128x96 96x128 128x96", "64x96"}},
      {"gelu_backward", {"64x96 64x96", "64x96"}},
      {"swiglu_backward", {"64x96 64x96 64x96", "64x96 64x96"}},
      {"dropout", {"64x96", "64x96"}},
      {"sum", {"64x96", "64x1"}},
      {"mean", {"64x96", "64x1"}},
      {"max", {"64x96", "64x1"}},
      {"cumsum", {"64x96", "64x96"}},
      {"softmax", {"64x96", "64x96"}},
      {"softmax_backward", {"64x96 64x96", "64x96"}},
      {"layernorm", {"64x96", "64x96"}},
      {"ttml_layernorm", {"64x96", "64x96 64x1 64x1"}},
      {"layernorm_backward", {"64x96 1x96 64x1 64x1 64x96", "64x96 64x96 64x96"}},
      {"rms_norm", {"64x96", "64x96"}},
      {"ttml_rms_norm", {"64x96 1x96", "64x96 64x1"}},
      {"rms_norm_backward", {"64x96 1x96 64x1 64x96", "64x96 64x96"}},
      {"attention", {kQkv, "1x2x64x32"}},
      {"decode_attention", {"1x2x1x32 1x2x64x32 1x2x64x32 u1x1", "1x2x1x32"}},
      {"split_heads_decode", {"1x1x32x96", "1x32x1x32 1x32x1x32 1x32x1x32"}},
      {"concat_heads_decode", {"1x32x32x64", "1x1x32x64"}},
      {"paged_update_cache", {"1x2x32x64 8x1x64x64", "8x1x64x64"}},
      {"paged_fill_cache", {"1x1x128x64 8x1x64x64", "8x1x64x64"}},
      {"sdpa_fw", {kQkv, "1x2x64x32 1x2x64x1 1x2x64x1"}},
      {"sdpa_bw_q", {kGradients, "1x2x64x32"}},
      {"sdpa_bw_kv", {kGradients, "1x2x64x32 1x2x64x32"}},
      {"rotary_embedding", {"1x2x64x32 64x32 64x32", "1x2x64x32"}},
      {"argmax", {"r64x96", "u64x1"}},
      {"topk", {"64x96", "64x32 t64x32"}},
      {"sampling", {"32x96 u32x96", "u32"}},
      {"plus_one", {"u1x32", "u1x32"}},
      {"transpose", {"64x96", "96x64"}},
      {"reshape", {"64x96", "96x64"}},
      {"repeat", {"1x2x64x32", "1x4x64x32"}},
      {"tilize", {"r64x96", "64x96"}},
      {"untilize", {"64x96", "r64x96"}},
      {"copy", {"64x96", "64x96"}},
      {"move", {"64x96", "96x64"}},
      {"concat", {"64x96", "64x96"}},
      {"split_heads", {"64x96", kHeads}},
      {"split_groups", {"64x32 64x64", kHeads}},
      {"concat_heads", {"1x2x64x32", "64x64"}},
      {"slice", {"64x96", "32x32"}},
      {"write_rows", {"32x96 64x96", "64x96"}},
      {"update_cache", {"32x96 64x96 u1x1", "64x96"}},
      {"pad", {"32x96", "64x96"}},
      {"permute", {"64x96", "64x96"}},
      {"embedding", {"u2x32 r96x64", "2x32x64"}},
      {"embedding_backward", {"u2x32 2x32x64", "96x64"}},
      {"cross_entropy", {"2x32x96 u2x32", "2x32x1"}},
      {"cross_entropy_backward", {"2x32x96 u2x32", "2x32x96"}},
      {"nll_loss", {"2x32x96 u2x32", "2x32x1"}},
      {"nll_loss_backward", {"2x32x96 u2x32", "2x32x96"}},
      {"adamw", {"64x96 64x96 64x96 64x96", "64x96 64x96 64x96"}},
      {"sgd", {"64x96 64x96", "64x96"}},
  };
}

inline const std::map<std::string_view, Example>& examples() {
  static const std::map<std::string_view, Example> kExamples = [] {
    std::map<std::string_view, Example> all = first_examples();
    all.merge(further_examples());
    return all;
  }();
  return kExamples;
}

inline std::vector<Operand> operands_of(std::string_view text) {
  std::vector<Operand> operands;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const bool whole = word[0] == 'u' || word[0] == 't', plain = !whole && word[0] != 'r';
    const auto shape = parse_shape(std::string_view(word).substr(plain ? 0 : 1));
    operands.push_back({BufferId(),
                        {.shape = *shape,
                         .dtype = whole ? DataType::uint32 : DataType::bfloat16,
                         .layout = plain || word[0] == 't' ? Layout::tile : Layout::row_major}});
  }
  return operands;
}

/// Returns operands and results that an op takes with its default fields; there are none for an op
/// that is not listed.
inline std::pair<std::vector<Operand>, std::vector<Operand>> op_example(const Attributes& op) {
  if (const auto* const eltwise = std::get_if<EltwiseAttributes>(&op)) {
    const std::vector<Operand> one = operands_of("64x96");
    return {{static_cast<std::size_t>(arity_of(eltwise->function)), one[0]}, one};
  }
  const auto example = examples().find(name_of(op));
  if (example == examples().end()) return {};
  return {operands_of(example->second.inputs), operands_of(example->second.results)};
}

}  // namespace howard::testing
