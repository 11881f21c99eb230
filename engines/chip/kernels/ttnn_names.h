// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engines/program/program.h"

namespace howard::chip {

/// The names of ttnn's device operations in its profiler's logs. They come from the test data of
/// tt-perf-report 1.2, and, where they are not in it, from the classes of ttnn and TTML.
namespace operation {
inline constexpr std::string_view kMatmul = "Matmul";
inline constexpr std::string_view kConv2d = "Conv2dDeviceOperation";
inline constexpr std::string_view kBinary = "BinaryNgDeviceOperation";
inline constexpr std::string_view kUnary = "UnaryDeviceOperation";
inline constexpr std::string_view kReduce = "Reduce";
inline constexpr std::string_view kReduceBatch = "FastReduceNCDeviceOperation";
inline constexpr std::string_view kMorehSum = "MorehSumOperation";
inline constexpr std::string_view kMorehMean = "MorehMeanOperation";
inline constexpr std::string_view kTranspose = "TransposeDeviceOperation";
inline constexpr std::string_view kTilize = "TilizeDeviceOperation";
inline constexpr std::string_view kUntilize = "UntilizeDeviceOperation";
inline constexpr std::string_view kAllGather = "AllGatherAsyncDeviceOperation";
inline constexpr std::string_view kReduceScatter = "ReduceScatterMinimalAsyncDeviceOperation";
inline constexpr std::string_view kConcat = "ConcatDeviceOperation";
inline constexpr std::string_view kSplitHeads = "NlpCreateHeadsDeviceOperation";
inline constexpr std::string_view kRepeat = "RepeatDeviceOperation";
inline constexpr std::string_view kSoftmax = "SoftmaxDeviceOperation";
inline constexpr std::string_view kSoftmaxBackward = "MorehSoftmaxBackwardOperation";
inline constexpr std::string_view kLayernorm = "LayerNormDeviceOperation";
inline constexpr std::string_view kTtmlRmsNorm = "RMSNormForwardDeviceOperation";
inline constexpr std::string_view kRotaryPairs = "RotaryEmbeddingLlamaDeviceOperation";
inline constexpr std::string_view kRotaryHalves = "RotaryEmbeddingDeviceOperation";
inline constexpr std::string_view kSlice = "SliceDeviceOperation";
inline constexpr std::string_view kSliceWrite = "SliceWriteDeviceOperation";
inline constexpr std::string_view kUpdateCache = "PagedUpdateCacheDeviceOperation";
inline constexpr std::string_view kDecodeAttention = "SdpaDecodeDeviceOperation";
inline constexpr std::string_view kPad = "PadDeviceOperation";
inline constexpr std::string_view kPermute = "PermuteDeviceOperation";
inline constexpr std::string_view kAttention = "SDPAOperation";
inline constexpr std::string_view kTtmlAttention = "SDPAForwardDeviceOperation";
inline constexpr std::string_view kAttentionBackwardQ = "SDPABackwardQDeviceOperation";
inline constexpr std::string_view kAttentionBackwardKv = "SDPABackwardKVDeviceOperation";
inline constexpr std::string_view kMinimalMatmul = "MinimalMatmulOp";
inline constexpr std::string_view kTernary = "TernaryDeviceOperation";
inline constexpr std::string_view kSiluBackward = "SiLUBackwardDeviceOperation";
inline constexpr std::string_view kTtmlLayernorm = "LayerNormForwardDeviceOperation";
inline constexpr std::string_view kGeluBackward = "GeluBackwardDeviceOperation";
inline constexpr std::string_view kCrossEntropy = "CrossEntropyForwardDeviceOperation";
inline constexpr std::string_view kCrossEntropyBackward = "CrossEntropyBackwardDeviceOperation";
inline constexpr std::string_view kNllLoss = "MorehNllLossStep2DeviceOperation";
inline constexpr std::string_view kNllLossBackward = "MorehNllLossBackwardDeviceOperation";
inline constexpr std::string_view kDropout = "DropoutDeviceOperation";
inline constexpr std::string_view kAdamW = "MorehAdamWDeviceOperation";
inline constexpr std::string_view kSgd = "SGDFusedDeviceOperation";
}  // namespace operation

/// Returns what stays the same of an operation's name over the versions of ttnn: of
/// "SoftmaxDeviceOperation" of 2025 and "Softmax" of 2024 it is "Softmax". What was renamed has its
/// newest name: of "BinaryDeviceOperation" it is "BinaryNg".
std::string_view stem_of(std::string_view operation);

// These know an operation by words of its name, because logs have names of several versions of
// ttnn.

/// Returns whether an operation computes nothing: it puts the same elements elsewhere.
bool moves_elements(std::string_view operation);
/// Returns whether it reads as much of a long operand as its result holds.
bool picks_elements(std::string_view operation);
/// Returns whether it writes its second operand into a part of the first one: a cache.
bool updates_a_part(std::string_view operation);
/// Returns whether it reads a part of a cache that its operands do not tell.
bool reads_a_part(std::string_view operation);
/// Returns whether it is a product of two matrices.
bool is_product(std::string_view operation);
/// Returns whether it is a convolution, whose second operand is the matrix of its weights.
bool is_convolution(std::string_view operation);
/// Returns whether it is the attention of queries to all keys of its second operand.
bool is_attention(std::string_view operation);

/// Returns functions of one value, applied one after the other, as ttnn prints a unary chain.
std::string ttnn_chain(std::span<const EltwiseStep> steps);

/// Returns "(x=8;y=7)", as ttnn prints a size in cores, or "std::nullopt" for none.
std::string ttnn_text(const std::optional<CoreGrid>& grid);

/// Returns "{[(x=0;y=0) - (x=7;y=6)]}", as ttnn prints a set of cores: those of the grid, from the
/// first one on.
std::string ttnn_range_text(CoreGrid grid);

}  // namespace howard::chip
