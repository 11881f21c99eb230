// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/program/compute_config.h"
#include "engines/program/operands.h"

namespace howard {

// In all of these, q is [b, h, s, d], and k and v are [b, g, t, d], where h is a multiple of g.

inline constexpr TtnnStruct kSdpaConfig{"program_config", "SDPAProgramConfig"};
inline constexpr FieldName kAttentionWindow{"window", "sliding_window_size"};

/// Computes softmax(scale q k^T + mask) v for each head: ttnn's scaled_dot_product_attention. The
/// mask is [b or 1, h or 1, s, t].
struct AttentionAttributes {
  static constexpr std::string_view kName = "attention";
  static constexpr std::string_view kTtnn = "SDPAOperation";
  static constexpr std::array kInputs{role::tiles("q"), role::tiles("k"), role::tiles("v"),
                                      role::maybe(role::tiles("mask"))};
  static constexpr std::array kResults{role::tiles("result")};

  bool causal = false;  ///< Place i sees only the places up to i; s = t, and there is no mask.
  float scale = 1;
  /// A place sees the last so many of the places up to its own or, if it is not causal, half of so
  /// many on either side of its own; 0: all.
  std::int64_t window = 0;
  std::int64_t query_chunk = 32, key_chunk = 32;  ///< Rows that a core works on at a time.
  bool approximate = true;            ///< The exponential is the fast one: exp_approx_mode in ttnn.
  std::optional<CoreGrid> core_grid;  ///< The cores to use; all by default.
  ComputeConfig compute;              ///< HiFi2 by default.

  static void fields(auto& self, auto&& visit) {
    visit({"causal", "is_causal"}, self.causal);
    visit("scale", self.scale);
    visit(kAttentionWindow, self.window, kSides);
    visit({"approximate", "exp_approx_mode", kSdpaConfig}, self.approximate);
    visit({"query_chunk", "q_chunk_size", kSdpaConfig}, self.query_chunk,
          Whole{kTileSide, kBlockSides.most});
    visit({"key_chunk", "k_chunk_size", kSdpaConfig}, self.key_chunk,
          Whole{kTileSide, kBlockSides.most});
    visit({"core_grid", "compute_with_storage_grid_size", kSdpaConfig}, self.core_grid);
    visit(field::kFidelity, self.compute.fidelity);
    visit(field::kFp32, self.compute.fp32_accumulation);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const AttentionAttributes&, const AttentionAttributes&) = default;
};

/// A row of q for each head, [b, h, 1, d] or [b, g, h / g, d], sees the places 0 to `position` of a
/// cache k and v [b, g, t, d], or the last ones of them. This is ttnn's
/// scaled_dot_product_attention_decode.
struct DecodeAttentionAttributes {
  static constexpr std::string_view kName = "decode_attention";
  static constexpr std::string_view kTtnn = "SdpaDecodeDeviceOperation";
  static constexpr std::array kInputs{role::tiles("q"), role::tiles("k"), role::tiles("v"),
                                      role::one("position")};
  static constexpr std::array kResults{role::tiles("result")};

  float scale = 1;
  std::int64_t seen = 0;    ///< The time is that of the step in which these are all; 0: all of t.
  std::int64_t window = 0;  ///< It sees the last so many places up to its own; 0: all.
  std::int64_t key_chunk = 0;  ///< Places of a cache that a core works on at a time; 0: ttnn's.
  int cores_of_head = 16;      ///< ttnn's max_cores_per_head_batch.
  bool approximate = true;     ///< The exponential is the fast one: exp_approx_mode in ttnn.
  ComputeConfig compute;       ///< HiFi2 by default.

  static void fields(auto& self, auto&& visit) {
    visit("scale", self.scale);
    visit({"seen", ""}, self.seen, kSides);
    visit(kAttentionWindow, self.window, kSides);
    visit({"key_chunk", "k_chunk_size", kSdpaConfig}, self.key_chunk, Whole{0, kBlockSides.most});
    visit({"cores_of_head", "max_cores_per_head_batch", kSdpaConfig}, self.cores_of_head,
          Whole{1, 1 << 10});
    visit({"approximate", "exp_approx_mode", kSdpaConfig}, self.approximate);
    visit(field::kFidelity, self.compute.fidelity);
    visit(field::kFp32, self.compute.fp32_accumulation);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const DecodeAttentionAttributes&,
                          const DecodeAttentionAttributes&) = default;
};

/// The spec of each of the two numbers that TTML's attention keeps of each row of q, [b, h, s, 1]:
/// its largest score, and 1 / (sum of exp(score - largest)).
TensorSpec attention_statistics(const TensorSpec& q);

/// Computes attention and keeps two numbers of each row: TTML's sdpa_fw. v may have heads of
/// another width than q and k, which the result then has too. A mask [b or 1, h or 1, s, t] of q's
/// data type makes of a score x the score mask x + (mask - 1) 10^9: where it is 1, a place is seen.
struct TtmlAttentionAttributes {
  static constexpr std::string_view kName = "sdpa_fw";
  static constexpr std::string_view kTtnn = "SDPAForwardDeviceOperation";
  static constexpr std::string_view kShown = "attention";
  static constexpr std::array kInputs{role::tiles("q"), role::tiles("k"), role::tiles("v"),
                                      role::maybe(role::tiles("mask"))};
  static constexpr std::array kResults{role::tiles("result"), role::tiles("largest"),
                                       role::tiles("inverse_sums")};

  bool causal = false;  ///< Place i sees only the places up to i; s = t, and there is no mask.
  float scale = 1;

  static void fields(auto& self, auto&& visit) {
    visit({"causal", "is_causal"}, self.causal);
    visit("scale", self.scale);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const TtmlAttentionAttributes&, const TtmlAttentionAttributes&) = default;
};

/// Computes dq from the operands of the forward pass, its result, the gradient of that and the two
/// numbers, from which it computes the probabilities again: the second program of TTML's sdpa_bw.
struct AttentionBackwardQAttributes {
  static constexpr std::string_view kName = "sdpa_bw_q";
  static constexpr std::string_view kTtnn = "SDPABackwardQDeviceOperation";
  static constexpr std::string_view kShown = "attention_backward_q";
  static constexpr std::array kInputs{role::tiles("q"),
                                      role::tiles("k"),
                                      role::tiles("v"),
                                      role::tiles("out"),
                                      role::tiles("dout"),
                                      role::tiles("largest"),
                                      role::tiles("inverse_sums"),
                                      role::maybe(role::tiles("mask"))};
  static constexpr std::array kResults{role::tiles("dq")};

  bool causal = false;
  float scale = 1;

  static void fields(auto& self, auto&& visit) {
    visit({"causal", "is_causal"}, self.causal);
    visit("scale", self.scale);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const AttentionBackwardQAttributes&,
                          const AttentionBackwardQAttributes&) = default;
};

/// Computes dk and dv from the same; the gradients of heads that share one of k and v are added.
/// This is the first program of TTML's sdpa_bw.
struct AttentionBackwardKvAttributes {
  static constexpr std::string_view kName = "sdpa_bw_kv";
  static constexpr std::string_view kTtnn = "SDPABackwardKVDeviceOperation";
  static constexpr std::string_view kShown = "attention_backward_kv";
  static constexpr std::array kInputs = AttentionBackwardQAttributes::kInputs;
  static constexpr std::array kResults{role::tiles("dk"), role::tiles("dv")};

  bool causal = false;
  float scale = 1;

  static void fields(auto& self, auto&& visit) {
    visit({"causal", "is_causal"}, self.causal);
    visit("scale", self.scale);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const AttentionBackwardKvAttributes&,
                          const AttentionBackwardKvAttributes&) = default;
};

/// Says which two columns of a row of d are the coordinates of a point that is rotated.
enum class RotaryStyle : std::uint8_t {
  pairs,   ///< 2 i and 2 i + 1: ttnn's rotary_embedding_llama.
  halves,  ///< i and i + d / 2: ttnn's rotary_embedding.
};
inline constexpr std::array<std::string_view, 2> kRotaryStyles{"pairs", "halves"};

/// Rotates each point (a, b) of x [n, h, s, d] to (a cos - b sin, b cos + a sin). The tables have
/// the cosines and sines [s or more, d] of each place in the sequence.
struct RotaryEmbeddingAttributes {
  static constexpr std::string_view kName = "rotary_embedding";
  static constexpr std::array kInputs{role::reals("x"), role::reals("cosines"),
                                      role::reals("sines")};
  static constexpr std::array kResults{role::reals("result")};

  RotaryStyle style = RotaryStyle::pairs;

  std::string_view ttnn() const {
    return style == RotaryStyle::pairs ? "RotaryEmbeddingLlamaDeviceOperation"
                                       : "RotaryEmbeddingDeviceOperation";
  }

  static void fields(auto& self, auto&& visit) { visit({"style", ""}, self.style, kRotaryStyles); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const RotaryEmbeddingAttributes&,
                          const RotaryEmbeddingAttributes&) = default;
};

}  // namespace howard
