// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engines/workload/workload.h"

namespace howard::workload {

/// What a module of the TTNN dialect has that no workload says.
struct ModuleNotes {
  std::int64_t ops = 0;       ///< Ops of the dialect in functions that run.
  std::int64_t launched = 0;  ///< Those that became calls.
  std::int64_t free = 0;      ///< Those that take no time of the chip: deallocate, get_device ...
  /// The others by name, with how often they come: no kernel is known for them, or theirs does not
  /// take such operands.
  std::map<std::string, std::int64_t> left_out;
};

/// Returns what a module of tt-mlir's TTNN dialect, in its generic textual form, asks of a device:
/// its functions in their order, but those that are evaluated at compile time. Tensors lie as their
/// layouts say. An op that is not known is left out and named in `notes`; nothing is guessed.
/// Throws Error for a text that has no op of the dialect, or none that runs on a chip, and for one
/// that ends within an op or a function.
Workload workload_of_module(std::string_view text, const std::string& name, ModuleNotes& notes);

}  // namespace howard::workload
