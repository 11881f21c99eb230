// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/silicon/log_advice.h"
#include "reports/findings/log_advice_report.h"

namespace howard::profiler::testing {

/// The header of the files that Op::text() is a row of.
inline constexpr std::string_view kOpsHeader =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,HOST START TS,HOST DURATION [ns],DEVICE FW START CYCLE,"
    "DEVICE FW END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],PM IDEAL [ns],"
    "INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"
    "INPUT_1_W,INPUT_1_Z,INPUT_1_Y,INPUT_1_X,INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,"
    "OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,OUTPUT_0_X,OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,"
    "OUTPUT_0_MEMORY\n";

/// A program of a log, one after the other.
struct Op {
  std::string code = "Matmul";
  int call = 1;
  int cores = 64;
  std::int64_t host = 0, start = 0, kernel = 0;  ///< Nanoseconds and cycles, which are the same.
  std::string attributes = "{}";
  std::string in0 = "1,1,512,512", in1 = "1,1,512,512", out = "1,1,512,512";
  std::string fidelity = "HiFi4";
  std::string memory = "DEV_0_DRAM_INTERLEAVED";
  int device = 0;
  std::string in1_memory = {};  ///< Of the second operand; "": as the others.
  std::string in1_type = "BFLOAT16";

  std::string text() const {
    const auto tensor = [&](const std::string& shape) {
      return shape.empty() ? ",,,,,," : shape + ",TILE,BFLOAT16," + memory;
    };
    const auto second = [&] {
      return in1_memory.empty() ? tensor(in1) : in1 + ",TILE," + in1_type + "," + in1_memory;
    };
    return fmt::format(
        "{},tt_dnn_device,{},{},wormhole_b0,{},{},{},64,{},1000,{},{},{},{},5000,{},{},{}\n", code,
        call, device, attributes, fidelity, cores, host, start, start + kernel + 500, kernel + 500,
        kernel, tensor(in0), second(), tensor(out));
  }
};

inline Log read(const std::vector<Op>& ops) {
  std::string text(kOpsHeader);
  for (const Op& op : ops) text += op.text();
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv", {.tensors = Tensors::read});
}

inline const chip::Profiles& profiles() {
  static const chip::Profiles loaded = chip::load_profiles();
  return loaded;
}

/// Of the only run.
inline reports::LogAdvice advice(const Log& log) {
  CallEmulator emulator(profiles());
  return reports::advice_of(log, &emulator).at(0);
}

inline const LogFinding* find(const reports::LogAdvice& advice, std::string_view what) {
  const auto found = std::ranges::find_if(advice.findings, [&](const LogFinding& finding) {
    return finding.what.find(what) != std::string::npos;
  });
  return found != advice.findings.end() ? &*found : nullptr;
}

/// `count` runs of `op`, launched well ahead of the device.
inline std::vector<Op> back_to_back(Op op, int count) {
  std::vector<Op> ops;
  for (int i = 0; i < count; ++i) {
    op.call = i + 1;
    op.host = i * 2'000;
    op.start = 1'000'000 + i * (op.kernel + 1'000);
    ops.push_back(op);
  }
  return ops;
}

}  // namespace howard::profiler::testing
