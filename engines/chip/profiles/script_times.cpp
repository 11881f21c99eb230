// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/script_times.h"

namespace howard::chip {

ScriptTimes script_times(const ProfileConstants& constants) {
  Constants software = constants.software;
  return {.ttnn_call = software.time("host.ttnn_call"),
          .program_miss = software.time("host.program_miss"),
          .kernel_compile = software.time("host.kernel_compile")};
}

}  // namespace howard::chip
