// SPDX-License-Identifier: Apache-2.0
#include "base/usual_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "base/text.h"

namespace howard {
namespace {

/// Each row names one thing: a type or a core as papers, PyTorch and ttnn call it, a card or a box
/// as Tenstorrent's shop and its tools do.
const std::array<std::vector<std::string_view>, 21> kNames{{
    {"bfloat16", "bf16"},
    {"float32", "fp32", "f32", "float"},
    {"bfloat8_b", "bfp8", "bfp8_b", "bf8"},
    {"bfloat4_b", "bfp4", "bfp4_b", "bf4"},
    {"LoFi", "lofi"},
    {"HiFi2", "hifi2"},
    {"HiFi3", "hifi3"},
    {"HiFi4", "hifi4"},
    {"eth", "ethernet", "eth_dispatch"},
    {"worker", "tensix", "workers"},
    {"n150", "n150d", "n150s"},
    {"n300", "n300d", "n300s"},
    {"t3k", "t3000", "loudbox", "tt-loudbox"},
    {"galaxy", "tg", "wh_galaxy"},
    {"p150", "p150a", "p150b", "p150c"},
    {"p150x4", "quietbox", "tt-quietbox"},
    {"p300x2", "quietbox2", "tt-quietbox2", "bh_quietbox_2"},
    {"p150x8", "bh_loudbox"},
    {"bh_galaxy", "blackhole_galaxy_box"},
    {"emulated", "emulator", "emulation", "emu", "chip"},
    {"host", "cpu"},
}};

}  // namespace

std::vector<std::string_view> other_names(std::string_view word) {
  const std::string small = lower_case(word);
  for (const std::vector<std::string_view>& names : kNames) {
    const bool is_one = std::ranges::any_of(
        names, [&](std::string_view name) { return lower_case(name) == small; });
    if (!is_one) continue;
    std::vector<std::string_view> others;
    std::ranges::copy_if(names, std::back_inserter(others),
                         [&](std::string_view name) { return name != word; });
    return others;
  }
  return {};
}

}  // namespace howard
