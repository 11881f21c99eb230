// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/program/attributes.h"
#include "engines/program/op_attributes.h"

namespace howard {

// ttnn's profiler says of a call which operation it is and prints its arguments. The kinds have
// what their fields are called there; this writes and reads them.

/// What a log says of a call besides its operands.
struct TtnnWords {
  std::string_view operation;  ///< "SoftmaxDeviceOperation".
  /// The arguments as ttnn names and prints them: {"transpose_b", "true"}.
  std::vector<std::pair<std::string_view, std::string>> attributes;
};

/// Returns the words of a call. Their names have static storage.
TtnnWords ttnn_words(const Attributes& attributes, Specs in, Specs out);

/// Reads the fields from the words of a call; `fidelity` is its MATH FIDELITY, or "". What the
/// words do not tell keeps its value. Throws Error for a value that a field cannot have, and when
/// one without which the call is not known is missing.
void read_ttnn(Attributes& attributes, const OpAttributes& words, std::string_view fidelity);

/// Returns the argument that tells the op from others of one operation of ttnn; none where there
/// is one.
TtnnWord ttnn_word_of(const Attributes& attributes);
/// Says whether the words of a call of the operation tell of this op.
bool is_told(const Attributes& attributes, const OpAttributes& words);

/// Returns functions of one value, applied one after the other, as ttnn prints a unary chain.
std::string ttnn_chain(std::span<const EltwiseStep> steps);

/// Returns the functions of one value that ttnn prints as a chain, one after the other:
/// "BasicUnaryWithParam<float>(op_type=UnaryOpType::CLAMP_TSS;param={0;6})". The result is empty
/// where there is none. Throws Error for a function that the emulator does not have, and for a
/// fast, less exact variant.
std::vector<EltwiseStep> parse_ttnn_chain(std::string_view text);

/// Returns "{[(x=0;y=0) - (x=7;y=6)]}", as ttnn prints a set of cores: those of the grid, from the
/// first one on.
std::string ttnn_range_text(CoreGrid grid);

}  // namespace howard
