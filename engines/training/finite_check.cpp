// SPDX-License-Identifier: Apache-2.0
#include "engines/training/finite_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace howard::training {
namespace {

/// Returns whether all bits of the exponent are ones, as for infinity and NaN. The upper half of a
/// float32 is a bfloat16.
bool has_full_exponent(std::uint16_t upper_half) { return (upper_half & 0x7f80U) == 0x7f80U; }

}  // namespace

bool FiniteCheck::is_finite(const Operand& operand) {
  if (operand.spec.is_whole()) return true;
  std::vector<std::byte> bytes(static_cast<std::size_t>(operand.spec.host_bytes().value()));
  queue_behind().read_buffer(operand.buffer, bytes);
  const std::size_t width = operand.spec.dtype == DataType::float32 ? 4 : 2;
  for (std::size_t at = width - 2; at < bytes.size(); at += width) {
    std::uint16_t upper_half = 0;
    std::memcpy(&upper_half, bytes.data() + at, sizeof(upper_half));
    if (has_full_exponent(upper_half)) return false;
  }
  return true;
}

void FiniteCheck::enqueue(const Program& program) {
  queue_behind().enqueue(program);
  ++program_;
  if (found_) return;
  const bool finite = std::ranges::all_of(
      program.outputs, [this](const Operand& output) { return is_finite(output); });
  if (finite) return;
  found_ =
      fmt::format("{}, program {} of the step, in its phase {}", program.name, program_, phase_);
}

void FiniteCheck::before(std::string_view what) {
  throw Error({.attempted = std::string(what),
               .value = "while a step is checked op by op",
               .accepted = "programs, reads and writes on one queue"});
}

}  // namespace howard::training
