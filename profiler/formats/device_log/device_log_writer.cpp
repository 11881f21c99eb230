// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "profiler/formats/logged_chip.h"
#include "profiler/formats/tt_metal_logs.h"

namespace howard::profiler {
namespace {

constexpr std::string_view kHeader =
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
    "run host ID, trace id, trace id counter, zone name, type, source line, source file, "
    "meta data\n";

/// Returns the place of a logical column or row. Which of a chip were harvested is not known; the
/// last ones are left free.
int noc_coordinate(std::span<const int> places, int logical) {
  return places[static_cast<std::size_t>(logical) % places.size()];
}

struct Risc {
  std::string_view name;  ///< The name in the column.
  std::string_view zone;  ///< The beginning of the names of its zones.
  std::string_view file;
  SimTime CoreRecord::*end;
};
constexpr std::array<Risc, 5> kRiscs = {{
    {"BRISC", "BRISC", "brisc.cc", &CoreRecord::writer_end},
    {"NCRISC", "NCRISC", "ncrisc.cc", &CoreRecord::reader_end},
    {"TRISC_0", "TRISC", "trisc.cc", &CoreRecord::compute_end},
    {"TRISC_1", "TRISC", "trisc.cc", &CoreRecord::compute_end},
    {"TRISC_2", "TRISC", "trisc.cc", &CoreRecord::compute_end},
}};

/// Returns the device profiler's number of a zone: 16 bits of a hash of its name, below the
/// packet's type.
std::uint32_t timer_id(std::string_view zone, bool ends) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : zone) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash & 0xffffU) | (ends ? 0x10000U : 0U);
}

void write_zone(std::string& text, const OpRecord& record, const CoreRecord& core, const Risc& risc,
                const TensixPlaces& places, std::pair<std::int64_t, std::int64_t> cycles) {
  const std::string kernel = fmt::format("{}-KERNEL", risc.zone);
  const std::string firmware = fmt::format("{}-FW", risc.zone);
  const ProgramRun& run = record.run;
  const std::string trace = run.replay > 0 ? fmt::format("{},{}", run.trace, run.replay) : ",";
  const auto row = [&](std::string_view zone, bool ends) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},0,{},{},{},{},0,{},\n", run.device,
                   noc_coordinate(places.columns, core.x), noc_coordinate(places.rows, core.y),
                   risc.name, timer_id(zone, ends), ends ? cycles.second : cycles.first,
                   run_host_id(run.number), trace, zone, ends ? "ZONE_END" : "ZONE_START",
                   risc.file);
  };
  row(firmware, false);
  row(kernel, false);
  row(kernel, true);
  row(firmware, true);
}

}  // namespace

std::string device_log_csv(std::span<const OpRecord> records, const DeviceFacts& device) {
  constexpr std::int64_t kHertzPerMegahertz = 1'000'000;
  std::string text =
      fmt::format("ARCH: {}, CHIP_FREQ[MHz]: {}, Max Compute Cores: {}\n", device.architecture,
                  device.clock.value() / kHertzPerMegahertz, device.worker_cores);
  text += kHeader;
  const TensixPlaces places = tensix_places(device.architecture);
  for (const OpRecord& record : records.first(std::min(records.size(), kMostDeviceLogPrograms))) {
    const Span& kernel = record.run.kernel;
    const CoreRecord whole{
        .reader_end = kernel.end, .compute_end = kernel.end, .writer_end = kernel.end};
    const bool known = !record.cores.empty();
    for (const CoreRecord& core : known ? std::span(record.cores) : std::span(&whole, 1)) {
      for (const Risc& risc : kRiscs) {
        write_zone(
            text, record, core, risc, places,
            {cycles_of(kernel.start, device.clock), cycles_of(core.*risc.end, device.clock)});
      }
    }
  }
  return text;
}

}  // namespace howard::profiler
