// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <variant>

#include "engines/chip/emulated_chip.h"
#include "engines/program/program.h"

namespace howard::models {

/// Returns "matmul.a" (transposed), "scale" (multiply by a number), "add", ...
inline std::string name_of(const Program& program) {
  std::string name(program.name);
  if (const auto* product = std::get_if<MatmulAttributes>(&program.attributes)) {
    name += product->transpose_a ? ".a" : product->transpose_b ? ".b" : ".none";
  }
  const auto* eltwise = std::get_if<EltwiseAttributes>(&program.attributes);
  const bool scales =
      eltwise != nullptr && eltwise->function == Eltwise::multiply && program.inputs.size() == 1;
  return scales ? "scale" : name;
}

/// Returns the names of all, each followed by a blank.
inline std::string names_of(std::span<const Program> programs) {
  std::string names;
  for (const Program& program : programs) names += name_of(program) + " ";
  return names;
}

/// Returns the software before its matrix product kernels transposed operands themselves, which the
/// report calls "era A".
inline chip::Profiles older_profiles() {
  return chip::load_profiles({.settings = {"matmul.fuses_transposes=0count"}});
}

/// Returns how many launches the emulated chip makes of them.
inline int launches_of(chip::EmulatedChip& device, std::span<const Program> programs) {
  std::size_t launches = 0;
  for (const Program& program : programs) launches += device.launches(program).size();
  return static_cast<int>(launches);
}

}  // namespace howard::models
