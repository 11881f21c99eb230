// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/program/operands.h"

namespace howard {

// These ops of a decoding step hold one place of b sequences: the rows of a matrix are the
// sequences, and the heads of one are the rows of [1, b, h, d]. They bring data to other places,
// and no device with values has them.

/// Splits [1, 1, b, (heads + 2 groups) d] into q [1, b, heads, d], and k and v, each [1, b, groups,
/// d]. This is ttnn's nlp_create_qkv_heads_decode.
struct SplitHeadsDecodeAttributes {
  static constexpr std::string_view kName = "split_heads_decode";
  static constexpr std::string_view kTtnn = "NLPCreateQKVHeadsDecodeDeviceOperation";
  static constexpr std::array kInputs{role::reals("qkv")};
  static constexpr std::array kResults{role::reals("q"), role::reals("k"), role::reals("v")};

  int heads = 1;
  int groups = 1;  ///< Heads of k and of v.

  static void fields(auto& self, auto&& visit) {
    visit(needed({"heads", "num_q_heads|num_heads"}), self.heads, Whole{1, 1 << 20});
    visit(needed({"groups", "num_kv_heads"}), self.groups, Whole{1, 1 << 20});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const SplitHeadsDecodeAttributes&,
                          const SplitHeadsDecodeAttributes&) = default;
};

/// Turns the first heads of [1, b, h, d] into [1, 1, b, heads d]: ttnn's nlp_concat_heads_decode.
struct ConcatHeadsDecodeAttributes {
  static constexpr std::string_view kName = "concat_heads_decode";
  static constexpr std::string_view kTtnn = "NLPConcatHeadsDecodeDeviceOperation";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::reals("result")};

  int heads = 1;

  static void fields(auto& self, auto&& visit) {
    visit(needed({"heads", "num_heads"}), self.heads, Whole{1, 1 << 20});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const ConcatHeadsDecodeAttributes&,
                          const ConcatHeadsDecodeAttributes&) = default;
};

/// Writes x [1, b, h, d] to one row of each of b sequences in a cache [b, g, t, d], or [pages, g,
/// t, d], in place. This is ttnn's paged_update_cache.
struct PagedUpdateCacheAttributes {
  static constexpr std::string_view kName = "paged_update_cache";
  static constexpr std::string_view kTtnn = "PagedUpdateCacheDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::reals("cache")};
  static constexpr std::array kResults{role::reals("cache")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const PagedUpdateCacheAttributes&,
                          const PagedUpdateCacheAttributes&) = default;
};

/// Writes the rows of x [1, g, s, d] to pages of a cache [pages, g, t, d], in place. This is ttnn's
/// paged_fill_cache.
struct PagedFillCacheAttributes {
  static constexpr std::string_view kName = "paged_fill_cache";
  static constexpr std::string_view kTtnn = "PagedFillCacheDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::reals("cache")};
  static constexpr std::array kResults{role::reals("cache")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const PagedFillCacheAttributes&,
                          const PagedFillCacheAttributes&) = default;
};

}  // namespace howard
