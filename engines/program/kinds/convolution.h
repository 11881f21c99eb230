// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engines/program/compute_config.h"
#include "engines/program/eltwise.h"
#include "engines/program/operands.h"
#include "engines/program/sharding.h"

namespace howard {

// Images lie as [1, 1, n h w, c]: a row for each place, which ttnn calls a stick. A window passes
// over them, and each of its stops is a row of the result.

inline constexpr std::array<std::string_view, 3> kShardLayouts{"height", "width", "block"};

/// The sizes of the images and of the window. Pairs are (rows, columns).
struct Window {
  std::int64_t images = 1, height = 1, width = 1;
  std::array<std::int64_t, 2> size{1, 1}, stride{1, 1}, dilation{1, 1};
  std::array<std::int64_t, 4> padding{};  ///< Top, bottom, left, right.
  /// What ttnn's ceil_mode adds below and on the right, so that the last stops are whole.
  std::array<std::int64_t, 2> beyond{};

  std::int64_t rows_out() const;     ///< The stops down an image; less than 1 if it is too small.
  std::int64_t columns_out() const;  ///< The stops across an image.
  std::int64_t places_in() const { return images * height * width; }
  std::int64_t places_out() const { return images * rows_out() * columns_out(); }
  std::int64_t places() const { return size[0] * size[1]; }  ///< Of the window.

  /// `logged` is the attribute that has it in ttnn's logs.
  static void fields(auto& self, auto&& visit, std::string_view logged) {
    constexpr Whole kSize{1, 1 << 16}, kBorder{0, 1 << 16};
    const TtnnStruct of{logged, "SlidingWindowConfig"};
    visit({"images", "batch_size", of}, self.images, kSize);
    visit({"height", ""}, self.height, kSize);
    visit({"width", ""}, self.width, kSize);
    visit(needed({"window", "window_hw", of}), self.size, kSize);
    visit(needed({"stride", "stride_hw", of}), self.stride, kSize);
    visit({"dilation", "dilation_hw", of}, self.dilation, kSize);
    visit({"padding", "padding", of}, self.padding, kBorder);
    visit({"beyond", ""}, self.beyond, kBorder);
  }

  friend auto operator<=>(const Window&, const Window&) = default;
};

/// Multiplies what each stop of the window sees with weights [window rows x window columns x c, k],
/// and adds a bias. This is ttnn's conv2d without the halo, which is a program before it. A product
/// of channels in groups has weights that are 0 between groups.
struct Conv2dAttributes {
  static constexpr std::string_view kName = "conv2d";
  static constexpr std::string_view kTtnn = "Conv2dDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::reals("weights"),
                                      role::maybe(role::reals("bias"))};
  static constexpr std::array kResults{role::reals("result")};
  static constexpr Leeway kLeeway{.dtype = true, .layout = true};

  Window window;
  ShardLayout sharding = ShardLayout::height;
  /// The cores among which the stops, and those among which the channels of the result (block) or
  /// all channels (width) are dealt out. 0 is all of the grid.
  std::int64_t cores = 0, channel_cores = 0;
  std::int64_t act_block_h = 0;  ///< Tiles of stops that a core works on at a time; 0 is all.
  bool double_buffers_x = false, double_buffers_weights = false;
  bool reuses_x = false;        ///< Rows that two stops see are read once (height sharding).
  bool full_inner_dim = false;  ///< The rows of the window are one step (block sharding).
  ComputeConfig compute;        ///< HiFi4 by default; the packer does not accumulate by default.
  std::optional<EltwiseStep> activation;

  static void fields(auto& self, auto&& visit) {
    constexpr TtnnStruct kBlocks{"block_config", "Conv2dBlockConfig"},
        kDealt{"parallelization_config", "Conv2dParallelizationConfig"};
    Window::fields(self.window, visit, "sliding_window_config");
    visit({"sharding", ""}, self.sharding, kShardLayouts);
    visit({"cores", "num_cores_nhw", kDealt}, self.cores, Whole{0, 1 << 16});
    visit({"channel_cores", "num_cores_c_in|num_cores_c", kDealt}, self.channel_cores,
          Whole{0, 1 << 16});
    visit({"act_block_h", "act_block_h_ntiles", kBlocks}, self.act_block_h,
          Whole{0, kBlockSides.most});
    visit({"double_buffers_x", "enable_act_double_buffer"}, self.double_buffers_x);
    visit({"double_buffers_weights", "enable_weights_double_buffer"}, self.double_buffers_weights);
    visit({"reuses_x", "enable_activation_reuse"}, self.reuses_x);
    visit("full_inner_dim", self.full_inner_dim);
    visit(field::kPacker, self.compute.packer_accumulates);
    visit(field::kFidelity, self.compute.fidelity);
    visit(field::kFp32, self.compute.fp32_accumulation);
    visit("activation", self.activation);
  }
  SpecList results(Specs in) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const Conv2dAttributes&, const Conv2dAttributes&) = default;
};

/// Brings to each core the rows that its stops of the window see, in row-major order. Its values
/// are those of x.
struct HaloAttributes {
  static constexpr std::string_view kName = "halo";
  static constexpr std::string_view kTtnn = "HaloDeviceOperation";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::rows("result")};
  static constexpr Leeway kLeeway{.dtype = true};

  Window window;
  std::int64_t cores = 0;          ///< Among which the stops are dealt out; 0 is all of the grid.
  std::int64_t channel_cores = 1;  ///< Among which the channels are.

  static void fields(auto& self, auto&& visit) {
    constexpr TtnnStruct kWindow{"config", "SlidingWindowConfig"};
    Window::fields(self.window, visit, kWindow.attribute);
    visit({"cores", "num_cores_nhw", kWindow}, self.cores, Whole{0, 1 << 16});
    visit({"channel_cores", "num_cores_c", kWindow}, self.channel_cores, Whole{1, 1 << 16});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const HaloAttributes&, const HaloAttributes&) = default;
};

enum class PoolKind : std::uint8_t { max, average };

/// Gives the largest number or the mean of what each stop of the window sees, after a halo.
struct Pool2dAttributes {
  static constexpr std::string_view kTtnn = "Pool2D";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::reals("result")};
  static constexpr Leeway kLeeway{.dtype = true, .layout = true};

  PoolKind kind{};
  Window window;
  bool counts_padding = true;  ///< Zeros of the padding are part of a mean.
  std::int64_t divisor = 0;    ///< Of a mean, instead of what the window sees; 0 is none.
  std::int64_t cores = 0;      ///< Among which the stops are dealt out; 0 is all of the grid.
  std::int64_t channel_cores = 1;

  /// There is an op for each kind.
  static std::vector<Pool2dAttributes> all();
  std::string_view name() const { return kind == PoolKind::max ? "max_pool2d" : "avg_pool2d"; }
  TtnnWord told() const {
    return kind == PoolKind::max ? TtnnWord{"pool_type_", "Pool2DType::MAX_POOL2D"}
                                 : TtnnWord{"pool_type_", "Pool2DType::AVG_POOL2D", false};
  }

  static void fields(auto& self, auto&& visit) {
    constexpr TtnnStruct kWindow{"sliding_window_config_", "SlidingWindowConfig"};
    Window::fields(self.window, visit, kWindow.attribute);
    visit({"counts_padding", "count_include_pad_"}, self.counts_padding);
    visit({"divisor", "divisor_override_"}, self.divisor, kSides);
    visit({"cores", "num_cores_nhw", kWindow}, self.cores, Whole{0, 1 << 16});
    visit({"channel_cores", "num_cores_c", kWindow}, self.channel_cores, Whole{1, 1 << 16});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const Pool2dAttributes&, const Pool2dAttributes&) = default;
};

/// Enlarges [n, h, w, c]: each place is repeated, or places between are weighted by their distance.
struct UpsampleAttributes {
  static constexpr std::string_view kName = "upsample";
  static constexpr std::string_view kTtnn = "UpSample";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::reals("result")};
  static constexpr Leeway kLeeway{.dtype = true, .layout = true};

  std::array<std::int64_t, 2> factor{2, 2};  ///< Down and across.
  bool bilinear = false;

  static void fields(auto& self, auto&& visit) {
    visit({"factor", "scale_factor_h_,scale_factor_w_"}, self.factor, Whole{1, 1 << 10});
    visit({"bilinear", "mode_=nearest/bilinear"}, self.bilinear);
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const UpsampleAttributes&, const UpsampleAttributes&) = default;
};

/// Makes of [n, h, w, c] and a window [n, h / rows, w / columns, rows x columns x c], or the same
/// with all places in one dimension.
struct FoldAttributes {
  static constexpr std::string_view kName = "fold";
  static constexpr std::string_view kTtnn = "Fold";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::reals("result")};

  std::array<std::int64_t, 2> stride{1, 1};

  static void fields(auto& self, auto&& visit) {
    visit(needed({"stride", "stride_h,stride_w"}), self.stride, Whole{1, 1 << 16});
  }
  SpecList results(Specs in) const;
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const FoldAttributes&, const FoldAttributes&) = default;
};

/// Computes (x - mean) rstd gamma + beta, where mean and rstd are those of all places of an image
/// [n, 1, h w, c] and of a group of neighbouring channels.
struct GroupNormAttributes {
  static constexpr std::string_view kName = "group_norm";
  static constexpr std::string_view kTtnn = "GroupNormDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::maybe(role::reals("gamma")),
                                      role::maybe(role::reals("beta"))};
  static constexpr std::array kResults{role::reals("result")};
  static constexpr Leeway kLeeway{.dtype = true, .layout = true};

  std::int64_t groups = 1;
  float epsilon = 1e-12F;
  /// The cores over which it deals a tensor without shards; the device's by default.
  std::optional<CoreGrid> core_grid;
  bool fp32_accumulation = false;  ///< Called fp32_dest_acc_en in ttnn.

  static void fields(auto& self, auto&& visit) {
    constexpr TtnnStruct kConfig{"program_config", "GroupNormMultiCoreProgramConfig"};
    visit(needed({"groups", "num_groups"}), self.groups, Whole{1, 1 << 20});
    visit(field::kEpsilon, self.epsilon);
    visit({"core_grid", "compute_with_storage_grid_size", kConfig}, self.core_grid);
    visit(field::kFp32, self.fp32_accumulation);
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const GroupNormAttributes&, const GroupNormAttributes&) = default;
};

/// Computes (x - mean) / sqrt(variance + epsilon) gamma + beta of [n, c, h, w] with numbers
/// [1, c, 1, 1] for each channel: ttnn's batch_norm with known statistics.
struct BatchNormAttributes {
  static constexpr std::string_view kName = "batch_norm";
  static constexpr std::string_view kTtnn = "BatchNormOperation";
  static constexpr std::array kInputs{role::reals("x"), role::reals("mean"),
                                      role::reals("variance"), role::maybe(role::reals("gamma")),
                                      role::maybe(role::reals("beta"))};
  static constexpr std::array kResults{role::reals("result")};
  static constexpr Leeway kLeeway{.dtype = true};

  float epsilon = 1e-5F;

  static void fields(auto& self, auto&& visit) { visit(field::kEpsilon, self.epsilon); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const BatchNormAttributes&, const BatchNormAttributes&) = default;
};

}  // namespace howard
