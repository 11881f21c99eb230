// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/program/operands.h"

namespace howard {

// These ops choose among the numbers of each row on the device, or order them: the next tokens of
// sequences, where the rows are the sequences and the columns the words of the vocabulary, or the
// experts of tokens.

/// Finds the place of the largest number of each row, the first one of equals: ttnn's argmax along
/// the columns.
struct ArgmaxAttributes {
  static constexpr std::string_view kName = "argmax";
  static constexpr std::string_view kTtnn = "ArgMaxDeviceOperation";
  static constexpr TtnnWord kTold = kLastDimension;
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::tokens("places")};

  /// Cores share the columns of row-major operands. Otherwise one core has them, or each core rows
  /// of tiles.
  bool use_multicore = true;

  static void fields(auto& self, auto&& visit) { visit("use_multicore", self.use_multicore); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const ArgmaxAttributes&, const ArgmaxAttributes&) = default;
};

/// Finds the k largest or smallest numbers of each row, in their order, and their places: ttnn's
/// topk along the columns. Of equal numbers the first one comes first.
struct TopkAttributes {
  static constexpr std::string_view kName = "topk";
  static constexpr std::string_view kTtnn = "TopKDeviceOperation";
  static constexpr TtnnWord kTold = kLastDimension;
  static constexpr std::array kInputs{role::tiles("x")};
  static constexpr std::array kResults{role::tiles("values"), role::indices("places")};
  static constexpr Leeway kLeeway{.layout = true};  // of the places

  std::int64_t k = 32;
  bool largest = true;
  int cores = 0;  ///< How many share the columns and merge; 0 leaves it to the kernel.

  static void fields(auto& self, auto&& visit) {
    visit("k", self.k, kBlockSides);
    visit("largest", self.largest);
    visit({"cores", ""}, self.cores, Whole{0, 1 << 10});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const TopkAttributes&, const TopkAttributes&) = default;
};

/// Brings the numbers of each row into their order and tells where they were: ttnn's sort along the
/// columns. Of equal numbers the first one comes first.
struct SortAttributes {
  static constexpr std::string_view kName = "sort";
  static constexpr std::string_view kTtnn = "SortDeviceOperation";
  static constexpr TtnnWord kTold = kLastDimension;
  static constexpr std::array kInputs{role::any_in_tiles("x")};
  static constexpr std::array kResults{role::any_in_tiles("values"), role::indices("places")};
  static constexpr Leeway kLeeway{.layout = true};  // of the places

  bool descending = false;

  static void fields(auto& self, auto&& visit) { visit("descending", self.descending); }
  static SpecList results(Specs in) { return {in[0], {in[0].shape, DataType::uint32}}; }

  friend auto operator<=>(const SortAttributes&, const SortAttributes&) = default;
};

/// Replaces the numbers of each row of x at some places by those of a source, which has one for
/// each place: ttnn's scatter along the columns, of rows.
struct ScatterAttributes {
  static constexpr std::string_view kName = "scatter";
  static constexpr std::string_view kTtnn = "ScatterDeviceOperation";
  static constexpr std::array kInputs{role::any_in_rows("x"), role::indices("places"),
                                      role::any_in_rows("source")};
  static constexpr std::array kResults{role::any_in_rows("result")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const ScatterAttributes&, const ScatterAttributes&) = default;
};

/// Draws one of the k largest numbers of each row by their softmax, and gives what `indices` has at
/// its place: ttnn's sampling. The numbers are drawn by the chip, so that no device with values has
/// it.
struct SamplingAttributes {
  static constexpr std::string_view kName = "sampling";
  static constexpr std::string_view kTtnn = "SamplingDeviceOperation";
  static constexpr std::array kInputs{role::tiles("values"), role::indices("indices")};
  static constexpr std::array kResults{role::tokens("tokens")};

  std::int64_t k = 32;  ///< A row's candidates.

  static void fields(auto& self, auto&& visit) { visit({"k", ""}, self.k, Whole{1, kTileSide}); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const SamplingAttributes&, const SamplingAttributes&) = default;
};

/// Adds one to each whole number, in place: the positions of sequences after a step. This is ttnn's
/// plus_one.
struct PlusOneAttributes {
  static constexpr std::string_view kName = "plus_one";
  static constexpr std::string_view kTtnn = "PlusOneDeviceOperation";
  static constexpr std::array kInputs{role::indices("x")};
  static constexpr std::array kResults{role::indices("x")};

  static SpecList results(Specs in) { return {in[0]}; }

  friend auto operator<=>(const PlusOneAttributes&, const PlusOneAttributes&) = default;
};

}  // namespace howard
