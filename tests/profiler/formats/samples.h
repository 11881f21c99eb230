// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/events/timeline_event.h"

namespace howard::profiler {

/// These are small files as the tools write them, made for these tests.

inline constexpr std::string_view kOpsHeader =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,"
    "HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],"
    "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],INPUT_0_W_PAD[LOGICAL],"
    "INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],INPUT_0_LAYOUT,"
    "INPUT_0_DATATYPE,INPUT_0_MEMORY,METAL TRACE ID,METAL TRACE REPLAY SESSION ID\n";

/// There are three ops on one device at 1 GHz: kernels of 9, 4 and 9 us, 2 and 3 us after each
/// other.
inline const std::string kOpsRows =
    "Matmul,tt_dnn_device,1024,0,wormhole_b0,\"{'a': 'b, \"\"c\"\"';\n 'd': 1}\",HiFi2,64,5000,"
    "1000000,1010000,0,10000,9000,1[1],1[1],32[19],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED,,\n"
    "Softmax,tt_dnn_device,2048,0,wormhole_b0,{},,8,6000,1011400,1016400,2000,5000,4000,,,,,,,,,\n"
    "Matmul,tt_dnn_device,3072,0,wormhole_b0,{},HiFi4,64,5000,1018500,1028500,3000,10000,9000,,,,,,"
    ",,,\n";

inline const std::string kOpsCsv = std::string(kOpsHeader) + kOpsRows;

inline constexpr std::string_view kDeviceLogFirst =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n";
inline constexpr std::string_view kDeviceLogHeader15 =
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
    "run host ID, trace id, trace id counter,  zone name, type, source line, source file, "
    "meta data\n";
inline constexpr std::string_view kDeviceLogHeader13 =
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
    "run host ID,  zone name, type, source line, source file, meta data\n";

/// There are two programs on two cores: 100 to 180 and 300 to 450 cycles.
inline const std::string kDeviceLogRows =
    "0,1,1,BRISC,7,90,0,1024,,,BRISC-FW,ZONE_START,10,brisc.cc,\n"
    "0,1,1,BRISC,7,100,0,1024,,,BRISC-KERNEL,ZONE_START,10,brisc.cc,\n"
    "0,1,1,BRISC,7,150,0,1024,,,BRISC-KERNEL,ZONE_END,10,brisc.cc,\n"
    "0,1,1,BRISC,7,160,0,1024,,,BRISC-FW,ZONE_END,10,brisc.cc,\n"
    "0,2,1,TRISC_0,7,110,0,1024,,,TRISC-KERNEL,ZONE_START,10,trisc.cc,\n"
    "0,2,1,TRISC_0,7,120,33,1024,,,CB-COMPUTE-WAIT-FRONT,ZONE_TOTAL,10,trisc.cc,\n"
    "0,2,1,TRISC_0,7,180,0,1024,,,TRISC-KERNEL,ZONE_END,10,trisc.cc,{'a': 1, 'b': 2}\n"
    "0,1,1,BRISC,7,300,0,2048,,,BRISC-KERNEL,ZONE_START,10,brisc.cc,\n"
    "0,1,1,BRISC,7,450,0,2048,,,BRISC-KERNEL,ZONE_END,10,brisc.cc,\n";

inline const std::string kDeviceLog =
    std::string(kDeviceLogFirst) + std::string(kDeviceLogHeader15) + kDeviceLogRows;

/// This is a trace as another program writes it: string ids, an integer time, a pair, nested spans.
inline const std::string kForeignTrace = R"([
{"ph":"M","pid":"p","tid":1,"name":"process_name","args":{"name":"python"}},
{"ph":"X","pid":"p","tid":1,"name":"outer","cat":"cpu","ts":10,"dur":100.5,"args":{"x":[1,{"ph":"X"}]}},
{"ph":"X","pid":"p","tid":1,"name":"inner","cat":"cpu","ts":20,"dur":5},
{"ph":"B","pid":"p","tid":2,"name":"pair","ts":0.000001},
{"ph":"C","pid":"p","tid":2,"name":"counter","ts":3,"args":{"value":3}},
{"ph":"E","pid":"p","tid":2,"ts":2.5}
])";

/// Returns a small recorded run: three programs over two queues and sub-devices, with cores and
/// host.
inline std::vector<TimelineEvent> sample_events() {
  std::vector<TimelineEvent> events;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto queue = static_cast<std::uint16_t>(i % 2);
    const SimTime call = SimTime::microseconds(static_cast<std::int64_t>(i) * 30);
    const auto span = [&](Track track, std::string_view name, std::string_view category,
                          std::int64_t start, std::int64_t end) {
      events.push_back({.track = track,
                        .name = name,
                        .category = category,
                        .start = call + SimTime::picoseconds(start),
                        .end = call + SimTime::picoseconds(end),
                        .program = i});
    };
    const std::string_view name = i == 2 ? "soft\"max\n" : "matmul";
    span({TrackKind::host_thread, howard::Lane::none, 0}, name, "host", 0, 5'000'001);
    span({TrackKind::dispatcher, howard::Lane::none, queue}, name, "dispatch", 6'000'000,
         7'000'000);
    span({TrackKind::sub_device, howard::Lane::none, queue}, name, "kernel", 8'000'003, 20'000'007);
    for (int core = 0; core < 2; ++core) {
      const std::uint16_t place = core_index(core, 1);
      span({TrackKind::core, howard::Lane::reader, place}, name, "read", 8'000'003, 15'000'000);
      span({TrackKind::core, howard::Lane::compute, place}, name, "math", 9'000'000, 17'000'000);
      span({TrackKind::core, howard::Lane::writer, place}, name, "write", 10'000'000, 20'000'007);
    }
  }
  return events;
}

}  // namespace howard::profiler
