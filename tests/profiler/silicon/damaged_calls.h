// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/silicon/silicon_comparison.h"

namespace howard::profiler::testing {

/// The header of files that say what ops computed.
inline constexpr std::string_view kCallsHeader =
    "OP CODE,OP TYPE,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns],"
    "DEVICE KERNEL FIRST TO LAST START [ns],"
    "INPUT_0_W_PAD[LOGICAL],INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],"
    "INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"
    "INPUT_1_W_PAD[LOGICAL],INPUT_1_Z_PAD[LOGICAL],INPUT_1_Y_PAD[LOGICAL],INPUT_1_X_PAD[LOGICAL],"
    "INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,"
    "OUTPUT_0_W_PAD[LOGICAL],OUTPUT_0_Z_PAD[LOGICAL],OUTPUT_0_Y_PAD[LOGICAL],"
    "OUTPUT_0_X_PAD[LOGICAL],OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY\n";

/// Returns a tensor's cells; it has `rows` x `columns`.
std::string tensor(int rows, int columns, std::string_view memory = "DEV_0_DRAM_INTERLEAVED",
                   std::string_view dtype = "BFLOAT16");
inline const std::string kNoTensor = ",,,,,,";

struct Row {
  std::string code = "Matmul";
  std::string type = "tt_dnn_device";
  std::string architecture = "wormhole_b0";
  std::string attributes = "{}";
  std::string fidelity = "HiFi2";
  std::string worker_cores = "56";
  std::string kernel = "30000";
  std::string skew = "280";
  std::string input0 = tensor(512, 512);
  std::string input1 = tensor(512, 512);
  std::string output = tensor(512, 512);
  std::string cores = "56";

  std::string text() const;
};

/// Returns the log of these rows beside the emulator.
SiliconComparison compared(const std::vector<Row>& rows,
                           const chip::Profiles& profiles = chip::load_profiles());
/// Returns the only call of a row; one without a code if it is not emulated, with the reason as its
/// call.
ComparedCall call_of(const Row& row, const chip::Profiles& profiles = chip::load_profiles());

/// Returns why a row is not emulated; empty if it is.
std::string why_not_emulated(const Row& row);

/// Returns a row, as text, for each op that reads its attributes. The rows are to be damaged.
std::vector<std::string> whole_calls();

/// Compares `rows`, which follow the header of a file, with the emulator. Damaged rows may give
/// Errors; anything else that goes wrong ends the program. The fuzzer and the test use it.
void compare_rows(std::string_view rows);

}  // namespace howard::profiler::testing
