// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/program/operands.h"

namespace howard {

enum class Reduction : std::uint8_t { sum, mean, max };
inline constexpr std::array<std::string_view, 3> kReductions{"sum", "mean", "max"};

/// Returns "sum", "mean" or "max".
constexpr std::string_view name_of(Reduction reduction) {
  return kReductions.at(static_cast<std::size_t>(reduction));
}

/// The dimension that an op works along: `columns` is the last one, `batch` stands for all
/// dimensions before the rows.
enum class Dimension : std::uint8_t { columns, rows, batch, all };
inline constexpr std::array<std::string_view, 4> kDimensions{"columns", "rows", "batch", "all"};

/// Reduces `dimension` to a size of one: out[..., 1] and so on. Along the batch the result may keep
/// the first dimension, so that only the heads are reduced.
struct ReduceAttributes {
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("result")};

  Reduction reduction{};
  Dimension dimension{};
  /// If true, ttnn's moreh_sum and moreh_mean are used, which accumulate in fp32.
  bool moreh = false;

  /// There is an op for each reduction.
  static std::vector<ReduceAttributes> all();
  std::string_view name() const { return name_of(reduction); }
  std::string_view ttnn() const;

  static void fields(auto& self, auto&& visit) {
    visit({"dimension", ""}, self.dimension, kDimensions);
    visit({"moreh", ""}, self.moreh);
  }
  SpecList results(Specs in) const;
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const ReduceAttributes&, const ReduceAttributes&) = default;
};

/// Adds the elements along a dimension: each element of the result is the sum of those up to its
/// place, or from its place on. This is ttnn's cumsum.
struct CumsumAttributes {
  static constexpr std::string_view kName = "cumsum";
  static constexpr std::string_view kTtnn = "AccumulationDeviceOperation";
  static constexpr std::string_view kMeaning = "the sums of each column up to each row";
  static constexpr std::array kInputs{role::any_in_tiles("x")};
  static constexpr std::array kResults{role::any_in_tiles("sums")};

  /// 2 adds along the columns, from row to row; 3 adds along the rows; 0 and 1 add whole matrices.
  int dim = 2;
  bool flip = false;  ///< From the place on, instead of up to it.

  static void fields(auto& self, auto&& visit) {
    visit("dim", self.dim, Whole{0, 3});
    visit("flip", self.flip);
  }
  static SpecList results(Specs in) { return {in[0]}; }

  friend auto operator<=>(const CumsumAttributes&, const CumsumAttributes&) = default;
};

/// Computes exp(x) / (sum of exp(x)) along the columns.
struct SoftmaxAttributes {
  static constexpr std::string_view kName = "softmax";
  static constexpr std::string_view kTtnn = "SoftmaxDeviceOperation";
  static constexpr TtnnWord kTold = kLastDimension;
  static constexpr std::string_view kMeaning = "the softmax along the columns";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::reals("y")};

  bool stable = true;             ///< The largest number of a row is subtracted first.
  bool masked = false;            ///< The kernel scales x and adds a mask, no operand here.
  bool approximate = false;       ///< The exponential is the fast one: math_approx_mode in ttnn.
  bool fp32_accumulation = true;  ///< Called fp32_dest_acc_en in ttnn.

  static void fields(auto& self, auto&& visit) {
    visit({"stable", "numeric_stable"}, self.stable);
    visit({"masked", ""}, self.masked);
    visit({"approximate", "math_approx_mode", field::kCompute}, self.approximate);
    visit(field::kFp32, self.fp32_accumulation);
  }
  static SpecList results(Specs in) { return {in[0]}; }

  friend auto operator<=>(const SoftmaxAttributes&, const SoftmaxAttributes&) = default;
};

/// Computes dx = y (dy - sum of y dy along the columns) from y and dy. This is ttnn's
/// moreh_softmax_backward.
struct SoftmaxBackwardAttributes {
  static constexpr std::string_view kName = "softmax_backward";
  static constexpr std::string_view kTtnn = "MorehSoftmaxBackwardOperation";
  static constexpr TtnnWord kTold = kLastDimension;
  static constexpr std::string_view kMeaning = "dx of the softmax x and dy";
  static constexpr std::array kInputs{role::reals("y"), role::reals("dy")};
  static constexpr std::array kResults{role::reals("dx")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const SoftmaxBackwardAttributes&,
                          const SoftmaxBackwardAttributes&) = default;
};

/// The spec of one number for each row of x.
TensorSpec row_numbers(const TensorSpec& x);

/// Computes y = (x - mean) rstd along the columns, where rstd = 1 / sqrt(variance + epsilon).
struct LayernormAttributes {
  static constexpr std::string_view kName = "layernorm";
  static constexpr std::string_view kTtnn = "LayerNormDeviceOperation";
  static constexpr TtnnWord kTold{"norm_type", "LayerNormType::LAYERNORM"};
  static constexpr std::string_view kMeaning =
      "x less its mean, by its deviation, along the columns";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::reals("y")};
  static constexpr Leeway kLeeway{.dtype = true};

  float epsilon = 1e-5F;
  bool sums = false;              ///< The kernel adds another tensor to x first, no operand here.
  bool fp32_accumulation = true;  ///< Called fp32_dest_acc_en in ttnn.

  static void fields(auto& self, auto&& visit) {
    visit(field::kEpsilon, self.epsilon);
    visit({"sums", ""}, self.sums);
    visit(field::kFp32, self.fp32_accumulation);
  }
  static SpecList results(Specs in) { return {in[0]}; }

  friend auto operator<=>(const LayernormAttributes&, const LayernormAttributes&) = default;
};

/// Computes y = (x - mean) rstd gamma + beta along the columns, and keeps mean and rstd of each
/// row. This is TTML's layernorm_fw; without gamma and beta it is ttnn's moreh_layer_norm.
struct TtmlLayernormAttributes {
  static constexpr std::string_view kName = "ttml_layernorm";
  static constexpr std::string_view kTtnn = "LayerNormForwardDeviceOperation";
  static constexpr std::string_view kShown = "layernorm";
  static constexpr std::array kInputs{role::reals("x"), role::maybe(role::reals("gamma")),
                                      role::maybe(role::reals("beta"))};
  static constexpr std::array kResults{role::reals("y"), role::reals("mean"), role::reals("rstd")};

  float epsilon = 1e-5F;

  static void fields(auto& self, auto&& visit) { visit(field::kEpsilon, self.epsilon); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const TtmlLayernormAttributes&, const TtmlLayernormAttributes&) = default;
};

/// Computes dx from x, gamma, mean, rstd and dy, and for each row the terms whose sums over the
/// rows are dgamma and dbeta.
struct LayernormBackwardAttributes {
  static constexpr std::string_view kName = "layernorm_backward";
  static constexpr std::string_view kTtnn = "LayerNormBackwardDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::reals("gamma"), role::reals("mean"),
                                      role::reals("rstd"), role::reals("dy")};
  static constexpr std::array kResults{role::reals("dx"), role::reals("gamma terms"),
                                       role::reals("beta terms")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const LayernormBackwardAttributes&,
                          const LayernormBackwardAttributes&) = default;
};

/// Computes y = gamma x / sqrt(mean of x^2 + epsilon) along the columns, or without gamma.
struct RmsNormAttributes {
  static constexpr std::string_view kName = "rms_norm";
  static constexpr std::string_view kTtnn = LayernormAttributes::kTtnn;
  static constexpr TtnnWord kTold{"norm_type", "LayerNormType::RMSNORM", false};
  static constexpr std::array kInputs{role::reals("x"), role::maybe(role::reals("gamma"))};
  static constexpr std::array kResults{role::reals("y")};
  static constexpr Leeway kLeeway{.dtype = true};

  float epsilon = 1e-5F;
  bool sums = false;              ///< The kernel adds another tensor to x first, no operand here.
  bool fp32_accumulation = true;  ///< Called fp32_dest_acc_en in ttnn.
  /// Rows that are too long for L1 are read twice. A call says so where its log does; others follow
  /// the software (tiles.norm_rereads).
  std::optional<bool> rereads;

  static void fields(auto& self, auto&& visit) {
    visit(field::kEpsilon, self.epsilon);
    visit({"sums", ""}, self.sums);
    visit(field::kFp32, self.fp32_accumulation);
    visit({"rereads", ""}, self.rereads);
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const RmsNormAttributes&, const RmsNormAttributes&) = default;
};

/// Computes the same, and keeps the root of each row for the backward pass. This is TTML's
/// rmsnorm_fw.
struct TtmlRmsNormAttributes {
  static constexpr std::string_view kName = "ttml_rms_norm";
  static constexpr std::string_view kTtnn = "RMSNormForwardDeviceOperation";
  static constexpr std::string_view kShown = "rms_norm";
  static constexpr std::array kInputs{role::reals("x"), role::reals("gamma")};
  static constexpr std::array kResults{role::reals("y"), role::reals("rms")};

  float epsilon = 1e-5F;

  static void fields(auto& self, auto&& visit) { visit(field::kEpsilon, self.epsilon); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const TtmlRmsNormAttributes&, const TtmlRmsNormAttributes&) = default;
};

/// Computes dx from x, gamma, the root and dy, and for each row the terms whose sum is dgamma.
struct RmsNormBackwardAttributes {
  static constexpr std::string_view kName = "rms_norm_backward";
  static constexpr std::string_view kTtnn = "RMSNormBackwardDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::reals("gamma"), role::reals("rms"),
                                      role::reals("dy")};
  static constexpr std::array kResults{role::reals("dx"), role::reals("gamma terms")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const RmsNormBackwardAttributes&,
                          const RmsNormBackwardAttributes&) = default;
};

/// Takes logits [n, s, v], or [n, 1, s, v], and targets [n, s]. The result [n, s, 1] is log(sum of
/// exp) - logit of the target.
struct CrossEntropyAttributes {
  static constexpr std::array kInputs{role::reals("logits"), role::tokens("targets")};
  static constexpr std::array kResults{role::reals("losses")};

  bool of_logarithms = false;  ///< The result is minus the operand at the target: an NLL.

  /// There is an op for logits and one for logarithms.
  static std::vector<CrossEntropyAttributes> all() { return {{false}, {true}}; }
  std::string_view name() const { return of_logarithms ? "nll_loss" : "cross_entropy"; }
  std::string_view ttnn() const {
    return of_logarithms ? "MorehNllLossStep2DeviceOperation"
                         : "CrossEntropyForwardDeviceOperation";
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const CrossEntropyAttributes&, const CrossEntropyAttributes&) = default;
};

/// Computes scale (softmax - one at the target) from logits and targets.
struct CrossEntropyBackwardAttributes {
  static constexpr std::array kInputs = CrossEntropyAttributes::kInputs;
  static constexpr std::array kResults{role::reals("dlogits")};

  float scale = 1;
  bool of_logarithms = false;  ///< The result is -scale at the target and 0 elsewhere.

  /// There is an op for logits and one for logarithms.
  static std::vector<CrossEntropyBackwardAttributes> all() { return {{1, false}, {1, true}}; }
  std::string_view name() const {
    return of_logarithms ? "nll_loss_backward" : "cross_entropy_backward";
  }
  std::string_view ttnn() const {
    return of_logarithms ? "MorehNllLossBackwardDeviceOperation"
                         : "CrossEntropyBackwardDeviceOperation";
  }
  static void fields(auto& self, auto&& visit) { visit({"scale", "scaler"}, self.scale); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const CrossEntropyBackwardAttributes&,
                          const CrossEntropyBackwardAttributes&) = default;
};

}  // namespace howard
