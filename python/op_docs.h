// SPDX-License-Identifier: Apache-2.0
//
// The docstrings of the ops: what each computes, for which shapes, and when it raises howard.Error.
// "Real" tensors are those of every data type but uint32.
#pragma once

namespace howard::python::docs {

inline constexpr const char* kMatmul =
    R"(a @ b, plus a row if there is a bias, in one program.

a [..., m, k], b [k, n] or [..., k, n], of one real data type; transposed factors are given as
[..., k, m] and [..., n, k]. bias [1, n] of the result's data type. Gives [..., m, n].

fidelity: "LoFi", "HiFi2", "HiFi3" or "HiFi4"; by default ttnn's own choice for the data type.
fp32_accumulation: whether sums are kept in float32.

Raises Error when inner dimensions, batches, data types or the bias do not fit, for an unknown
fidelity, and when the result does not fit into the device's memory.)";

inline constexpr const char* kBinary =
    R"( of two tensors, element by element, or of a tensor and a number.

a and b have one layout, one real data type (bfloat16 and float32 may meet, and give float32), and
dimensions that are equal or 1, as NumPy broadcasts them. Gives a tensor of the larger dimensions.

Raises Error when shapes, layouts or data types do not fit.)";

inline constexpr const char* kUnary =
    R"( of each element.

a is of any shape and real. Gives a tensor of the same shape, data type and layout.)";

inline constexpr const char* kCall =
    R"(Any op of the catalogue, by its name: call("silu", x), call("where", condition, a, b).

op: the name, its numbers after colons ("clamp:0:6"), and functions of one value that follow in the
same kernel after plus signs ("add+relu"). tensors: as many as the op takes; op_names() has all names.
Gives a tensor, or a list where the op has several results.

Raises Error for an unknown op, numbers or tensors that do not fit, and when a result does not fit
into the device's memory.)";

inline constexpr const char* kOpNames = R"(The names of the ops that call() takes, sorted.)";

inline constexpr const char* kFullLike =
    R"(A tensor with a's shape, data type and layout, every element `value`, filled on the device.

Raises Error when it does not fit into the device's memory.)";

inline constexpr const char* kCast =
    R"(a in another data type: "bfloat16", "float32", "bfloat8_b" or "bfloat4_b".

Any shape; the layout stays. Raises Error for indices (uint32) and for an unknown data type.)";

inline constexpr const char* kGeluBackward =
    R"(dx = dy times the derivative of the exact gelu at x.

x and dy have one shape, data type and layout, which dx has too. fused: by ttnn's one kernel for it.
Raises Error when x and dy differ in any of them.)";

inline constexpr const char* kReduce =
    R"( of the elements along `dimension`.

a is real. "columns" and "rows" shrink that dimension of [..., r, c] to 1: [..., r, 1] and
[..., 1, c]; "batch" gives [r, c], "all" one element, [1, 1]. Raises Error for another word and for
indices.)";

inline constexpr const char* kSoftmax =
    R"(exp(a) / sum of exp(a) along the columns.

a [..., r, c], real, in tile layout. Gives the same shape and data type.
Raises Error when a cannot be taken.)";

inline constexpr const char* kSoftmaxBackward =
    R"(dx = y (dy - sum of y dy along the columns), y being what softmax() gave.

y and dy have one shape and data type, which dx has too. Raises Error when they differ.)";

inline constexpr const char* kLayernormPlain =
    R"((x - mean) / sqrt(variance + epsilon), along the columns.

x [..., r, c], real. Gives the same shape and data type.)";

inline constexpr const char* kLayernorm =
    R"([out, mean, rstd]: out = (x - mean) rstd gamma + beta, with rstd = 1 / sqrt(variance + epsilon).

x [..., r, c]; gamma and beta [1, c] of x's data type. out has x's shape, mean and rstd are
[..., r, 1]. Raises Error when the shapes or data types do not fit.)";

inline constexpr const char* kLayernormBackward =
    R"([dx, dgamma, dbeta]: the gradient of x, and what is summed over the rows to those of gamma and beta.

x and dy [..., r, c]; gamma [1, c]; mean and rstd [..., r, 1] as layernorm() gave them. All three
results have x's shape and data type. Raises Error when the shapes or data types do not fit.)";

inline constexpr const char* kTranspose =
    R"(a with two dimensions swapped.

swap "rows_columns": [n, c, h, w] to [n, c, w, h]; "heads_rows": [n, c, h, w] to [n, h, c, w].
The data type stays. Raises Error for another word.)";

inline constexpr const char* kReshape =
    R"(The elements of a, row by row, under another shape of one to four dimensions.

Moves data only where the elements do not stay in their places. Raises Error when the number of
elements differs, or for a dimension below 1.)";

inline constexpr const char* kToLayout =
    R"(a in another layout: "tile" or "row_major".

Shape and data type stay. Raises Error for another word, and when a has that layout already.)";

inline constexpr const char* kSplitHeads =
    R"([q, k, v] of the columns of a linear layer's result, by heads.

qkv [n, 1, s, 3 heads d]. Gives three tensors [n, heads, s, d] of its data type. Raises Error when
the columns do not divide by 3 heads, or heads is below 1.)";

inline constexpr const char* kConcatHeads =
    R"(The heads of [n, heads, s, d] side by side: [n, 1, s, heads d].)";

inline constexpr const char* kEmbedding =
    R"(The rows of a table at `indices`, in tile layout.

indices [n, s] of uint32 and table [v, d], real, both in row_major layout. Gives [n, s, d]. Raises
Error when data types, layouts or shapes do not fit, and, on a device that holds values, for an index
outside of the table: when the op runs, so at the next finish() or read().)";

inline constexpr const char* kEmbeddingBackward =
    R"(The gradient of a table of `vocabulary` rows: for each index the sum of dy's rows, in tile layout.

indices [n, s] of uint32 in row_major layout; dy [n, s, d], real. Gives [vocabulary, d]. Raises Error
as embedding(), and for a vocabulary below 1.)";

inline constexpr const char* kCrossEntropy =
    R"(log(sum of exp(logits)) - the target's logit, at each position.

logits [n, s, v], real; targets [n, s] of uint32 in row_major layout. Gives [n, s, 1]. Raises Error
when data types, layouts or shapes do not fit, and, on a device that holds values, for a target
outside of the vocabulary: when the op runs, so at the next finish() or read().)";

inline constexpr const char* kCrossEntropyBackward =
    R"(scale (softmax(logits) - one at the target): the gradient of cross_entropy().

logits [n, s, v] and targets [n, s] as there. Gives [n, s, v]. Raises Error as there.)";

inline constexpr const char* kDropout =
    R"(a / (1 - probability), or 0 with that probability.

a of any shape, real; gives the same. The same seed drops the same elements, so that the same call on
the gradient is the backward pass. Raises Error unless 0 <= probability < 1.)";

inline constexpr const char* kAdamw =
    R"(One step of AdamW: updates the parameter and its moments in their places, and gives nothing.

All four have one shape and are real; the moments are zero before the first step, and step counts
from 1. Raises Error when the shapes differ, for indices, and for a step below 1.)";

}  // namespace howard::python::docs
