// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::chip {

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

}  // namespace howard::chip
