// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace howard::models {

/// Says how a parameter, a matrix, is divided among the devices of a tensor-parallel group: not at
/// all (each has the whole), by rows or by columns. If there are several sections, which stand for
/// q, k and v, a device has its part of each.
struct Split {
  enum class Along : std::uint8_t { nothing, rows, columns };
  Along along = Along::nothing;
  int sections = 1;
};

/// Returns how TTML divides a parameter of a Llama or of a nano_gpt, by its name: column-parallel
/// layers by their outputs, row-parallel layers by their inputs, the head by its tokens, and a
/// Llama's token table by its columns, if it is divided.
Split split_of(std::string_view parameter, bool divided_table = false);

/// Returns the share of the device at `place` of a whole matrix [rows, columns].
std::vector<float> share_of(std::span<const float> whole, std::int64_t rows, std::int64_t columns,
                            const Split& split, int devices, int place);
/// Writes a device's share back into the whole matrix: the inverse of share_of().
void join_share(std::span<const float> share, std::int64_t rows, std::int64_t columns,
                const Split& split, int devices, int place, std::span<float> whole);

}  // namespace howard::models
