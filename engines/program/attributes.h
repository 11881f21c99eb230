// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "engines/program/kinds/attention.h"
#include "engines/program/kinds/choice.h"
#include "engines/program/kinds/collective.h"
#include "engines/program/kinds/convolution.h"
#include "engines/program/kinds/data_movement.h"
#include "engines/program/kinds/decode.h"
#include "engines/program/kinds/elementwise.h"
#include "engines/program/kinds/matmul.h"
#include "engines/program/kinds/rows.h"
#include "engines/program/kinds/training.h"

namespace howard {

/// All ops: each kind is one op, with its arguments besides the operands. A kind has
///   kName, or name() and all() where one kind has several names;
///   kShown or shown(), what timelines and tables call it, if that is not its name;
///   kTtnn, or ttnn(), its operation in ttnn's logs, if ttnn has it; kTold or told(), the word that
///   tells it from others of that operation;
///   kMeaning, if lists of ops have it;
///   kInputs and kResults, the roles of its operands and its results;
///   fields(), if it has arguments: their names, places and limits;
///   results(), which checks the operands and gives the results' specs, or check() where results do
///   not follow from the operands;
///   kLeeway, if a result may differ from what follows;
///   flops(), if it has products of matrices.
using AnyAttributes = std::variant<
    MatmulAttributes, MinimalMatmulAttributes, SparseMatmulAttributes, SwigluAttributes,
    EltwiseAttributes, GeluBackwardAttributes, SwigluBackwardAttributes, DropoutAttributes,
    ReduceAttributes, CumsumAttributes, SoftmaxAttributes, SoftmaxBackwardAttributes,
    LayernormAttributes, TtmlLayernormAttributes, LayernormBackwardAttributes, RmsNormAttributes,
    TtmlRmsNormAttributes, RmsNormBackwardAttributes, AttentionAttributes,
    DecodeAttentionAttributes, SplitHeadsDecodeAttributes, ConcatHeadsDecodeAttributes,
    PagedUpdateCacheAttributes, PagedFillCacheAttributes, TtmlAttentionAttributes,
    AttentionBackwardQAttributes, AttentionBackwardKvAttributes, RotaryEmbeddingAttributes,
    TransposeAttributes, ReshapeAttributes, RepeatAttributes, LayoutAttributes,
    MemoryMoveAttributes, MoveTilesAttributes, ConcatAttributes, SplitHeadsAttributes,
    SplitGroupsAttributes, ConcatHeadsAttributes, SliceAttributes, WriteRowsAttributes,
    UpdateCacheAttributes, PadAttributes, PermuteAttributes, EmbeddingAttributes,
    EmbeddingBackwardAttributes, CrossEntropyAttributes, CrossEntropyBackwardAttributes,
    AdamWAttributes, SgdAttributes, AllGatherAttributes, ReduceScatterAttributes,
    AllGatherMatmulAttributes, MatmulReduceScatterAttributes, AllToAllDispatchAttributes,
    AllToAllCombineAttributes, SendAttributes, ReceiveAttributes, Conv2dAttributes, HaloAttributes,
    Pool2dAttributes, UpsampleAttributes, FoldAttributes, GroupNormAttributes, BatchNormAttributes,
    ArgmaxAttributes, TopkAttributes, SortAttributes, ScatterAttributes, SamplingAttributes,
    PlusOneAttributes>;

namespace attributes_detail {

template <class Kind, class Variant>
inline constexpr bool kHolds = false;
template <class Kind, class... Kinds>
inline constexpr bool kHolds<Kind, std::variant<Kinds...>> = (std::is_same_v<Kind, Kinds> || ...);

}  // namespace attributes_detail

/// Is one of the kinds above.
template <class Kind>
concept OpKind = attributes_detail::kHolds<Kind, AnyAttributes>;

/// Holds one op with its arguments. It is copied, moved and destroyed in attributes.cpp: a variant
/// has a function for each kind and each of these, and compiling them took every file that holds a
/// program three seconds.
class Attributes : public AnyAttributes {
 public:
  Attributes();
  // A kind is an op, as it is for a variant.
  template <OpKind Kind>
  Attributes(Kind op)  // NOLINT(google-explicit-constructor)
      : AnyAttributes(std::in_place_type<Kind>, std::move(op)) {}
  Attributes(const Attributes& other);
  Attributes(Attributes&& other) noexcept;
  Attributes& operator=(const Attributes& other);
  Attributes& operator=(Attributes&& other) noexcept;
  ~Attributes();

  /// What std::visit is given: that of GCC 11 takes a variant, and no class that is one.
  AnyAttributes& variant() { return *this; }
  const AnyAttributes& variant() const { return *this; }
};

bool operator==(const Attributes& a, const Attributes& b);

/// Returns the op's name: "matmul", "silu", "sum". No two ops have the same.
std::string_view name_of(const Attributes& attributes);

/// Returns what timelines and tables call a call of the op with such operands: mostly its name; a
/// product with a bias is a "linear", and kernels of TTML are called as what they compute.
std::string_view shown_name_of(const Attributes& attributes, Specs in);

/// Returns the specs of the results. Throws Error when the operands do not fit, and for an op whose
/// results do not follow from its operands.
SpecList results_of(const Attributes& attributes, Specs in);

/// Throws Error, naming the op, the operand and what it takes, unless operands and results fit.
void check(const Attributes& attributes, Specs in, Specs out);

/// Returns the arithmetic of the products of matrices in the op; of other ops it is not counted.
Flops flops_of(const Attributes& attributes, Specs in, Specs out);

/// Returns every op that a file or a text can ask for, as often as it has names.
std::span<const Attributes> all_ops();

/// Returns the op of that name with its defaults. Throws Error when there is none.
Attributes op_named(std::string_view name);

/// Returns what the op computes of tensors like the first one, or nothing if lists do not have it.
std::string_view meaning_of(const Attributes& attributes);

/// Returns the name that ttnn's profiler gives the op, or nothing if it depends on the operands.
std::string_view ttnn_name_of(const Attributes& attributes);

/// Returns whether the devices of a group run the op together.
bool is_collective(const Attributes& attributes);

/// Returns the roles of the op's operands and of its results.
std::span<const OperandRole> input_roles(const Attributes& attributes);
std::span<const OperandRole> result_roles(const Attributes& attributes);

}  // namespace howard
