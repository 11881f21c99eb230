// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/device/device.h"

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
/// layers by their outputs, row-parallel layers by their inputs, and the head by its tokens.
Split split_of(std::string_view parameter);

/// Returns the share of the device at `place` of a whole matrix [rows, columns].
std::vector<float> share_of(std::span<const float> whole, std::int64_t rows, std::int64_t columns,
                            const Split& split, int devices, int place);
/// Writes a device's share back into the whole matrix: the inverse of share_of().
void join_share(std::span<const float> share, std::int64_t rows, std::int64_t columns,
                const Split& split, int devices, int place, std::span<float> whole);

/// Writes the start values that write_random() gives to the parameters `whole` of a model. Only
/// those that this device has, or its shares of them, are written, into `own`. `whole` needs no
/// values.
void write_random_shares(CommandQueue& queue, std::span<autograd::Parameter* const> own,
                         std::span<autograd::Parameter* const> whole, std::uint32_t seed,
                         int devices, int place);

}  // namespace howard::models
