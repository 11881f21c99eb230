// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "engines/host/kernels/kernel.h"
#include "engines/program/attributes.h"

namespace howard::host {

template <class Kind, class... Kinds>
inline constexpr bool kIsOneOf = (std::is_same_v<Kind, Kinds> || ...);

/// The ops whose results may lie where operands of the same size do.
template <class Kind>
inline constexpr bool kInPlace =
    kIsOneOf<Kind, EltwiseAttributes, GeluBackwardAttributes, SwigluBackwardAttributes,
             CumsumAttributes, SoftmaxAttributes, SoftmaxBackwardAttributes, LayernormAttributes,
             TtmlLayernormAttributes, LayernormBackwardAttributes, RmsNormAttributes,
             TtmlRmsNormAttributes, RmsNormBackwardAttributes, RotaryEmbeddingAttributes,
             WriteRowsAttributes, UpdateCacheAttributes, CrossEntropyBackwardAttributes,
             DropoutAttributes, AdamWAttributes, SgdAttributes, PlusOneAttributes>;

/// The ops whose kernels take bfloat16 and float32 at once; others want one type of real numbers.
template <class Kind>
inline constexpr bool kMixesTypes =
    kIsOneOf<Kind, MatmulAttributes, MinimalMatmulAttributes, EltwiseAttributes, ReduceAttributes,
             AdamWAttributes, SgdAttributes>;

// One function for each op except those with whole products of matrices (matmul/). Each throws
// Error when the host has no kernel for the operands. Results are the same for any number of
// threads.

Kernel make_kernel(const SparseMatmulAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const EltwiseAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ReduceAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const TransposeAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ReshapeAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const RepeatAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const LayoutAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const MemoryMoveAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ConcatAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SplitHeadsAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SplitGroupsAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ConcatHeadsAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const CumsumAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SoftmaxAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SoftmaxBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const LayernormAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const TtmlLayernormAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const LayernormBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const GeluBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SwigluBackwardAttributes&, const Call&, const KernelContext&);
/// Running the kernel throws Error for an index outside the table.
Kernel make_kernel(const EmbeddingAttributes&, const Call&, const KernelContext&);
/// Running this kernel throws Error for an index outside the table, too.
Kernel make_kernel(const EmbeddingBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SliceAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const WriteRowsAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const UpdateCacheAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const PadAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const PermuteAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const AttentionAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const DecodeAttentionAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const TtmlAttentionAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const AttentionBackwardQAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const AttentionBackwardKvAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const RmsNormAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const TtmlRmsNormAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const RmsNormBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const RotaryEmbeddingAttributes&, const Call&, const KernelContext&);
/// Running the kernel throws Error for a target outside the vocabulary.
Kernel make_kernel(const CrossEntropyAttributes&, const Call&, const KernelContext&);
/// Running this kernel throws Error for such a target, too.
Kernel make_kernel(const CrossEntropyBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ArgmaxAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const TopkAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SortAttributes&, const Call&, const KernelContext&);
/// Running the kernel throws Error for a place outside the row.
Kernel make_kernel(const ScatterAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const PlusOneAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const Conv2dAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const HaloAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const Pool2dAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const UpsampleAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const FoldAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const GroupNormAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const BatchNormAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const DropoutAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const AdamWAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SgdAttributes&, const Call&, const KernelContext&);

}  // namespace howard::host
