// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "base/csv_writer.h"
#include "profiler/formats/tt_metal_logs.h"

namespace howard::profiler {
namespace {

/// These are the columns of version 2.1 of the file (source: the test data of tt-perf-report 1.2).
/// Between them are those of as many tensors as the op with most of them has.
constexpr std::array<std::string_view, 34> kColumns = {
    "OP CODE",
    "OP TYPE",
    "GLOBAL CALL COUNT",
    "DEVICE ID",
    "DEVICE ARCH",
    "ATTRIBUTES",
    "MATH FIDELITY",
    "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT",
    "PARALLELIZATION STRATEGY",
    "HOST START TS",
    "HOST END TS",
    "HOST DURATION [ns]",
    "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE",
    "OP TO OP LATENCY [ns]",
    "OP TO OP LATENCY BR/NRISC START [ns]",
    "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]",
    "DEVICE KERNEL DURATION DM START [ns]",
    "DEVICE KERNEL DURATION PER CORE MIN [ns]",
    "DEVICE KERNEL DURATION PER CORE MAX [ns]",
    "DEVICE KERNEL DURATION PER CORE AVG [ns]",
    "DEVICE KERNEL FIRST TO LAST START [ns]",
    "DEVICE BRISC KERNEL DURATION [ns]",
    "DEVICE NCRISC KERNEL DURATION [ns]",
    "DEVICE TRISC0 KERNEL DURATION [ns]",
    "DEVICE TRISC1 KERNEL DURATION [ns]",
    "DEVICE TRISC2 KERNEL DURATION [ns]",
    "DEVICE ERISC KERNEL DURATION [ns]",
    "DEVICE COMPUTE CB WAIT FRONT [ns]",
    "DEVICE COMPUTE CB RESERVE BACK [ns]",
    "DISPATCH TOTAL CQ CMD OP TIME [ns]",
    "DISPATCH GO SEND WAIT TIME [ns]",
};
constexpr std::array<std::string_view, 7> kTensorColumns = {
    "W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]",
    "LAYOUT",         "DATATYPE",       "MEMORY"};
constexpr std::array<std::string_view, 36> kColumnsBehind = {
    "METAL TRACE ID",
    "METAL TRACE REPLAY SESSION ID",
    "COMPUTE KERNEL SOURCE",
    "COMPUTE KERNEL HASH",
    "DATA MOVEMENT KERNEL SOURCE",
    "DATA MOVEMENT KERNEL HASH",
    "TENSIX DM 0 MAX KERNEL SIZE [B]",
    "TENSIX DM 1 MAX KERNEL SIZE [B]",
    "TENSIX COMPUTE 0 MAX KERNEL SIZE [B]",
    "TENSIX COMPUTE 1 MAX KERNEL SIZE [B]",
    "TENSIX COMPUTE 2 MAX KERNEL SIZE [B]",
    "ACTIVE ETH DM 0 MAX KERNEL SIZE [B]",
    "ACTIVE ETH DM 1 MAX KERNEL SIZE [B]",
    "IDLE ETH DM 0 MAX KERNEL SIZE [B]",
    "IDLE ETH DM 1 MAX KERNEL SIZE [B]",
    "PM IDEAL [ns]",
    "PM COMPUTE [ns]",
    "PM BANDWIDTH [ns]",
    "PM REQ I BW",
    "PM REQ O BW",
    "PM FPU UTIL (%)",
    "NOC UTIL (%)",
    "DRAM BW UTIL (%)",
    "NPE CONG IMPACT (%)",
    "SFPU Util Min (%)",
    "SFPU Util Median (%)",
    "SFPU Util Max (%)",
    "Avg SFPU util on full grid (%)",
    "FPU Util Min (%)",
    "FPU Util Median (%)",
    "FPU Util Max (%)",
    "Avg FPU util on full grid (%)",
    "MATH Util Min (%)",
    "MATH Util Median (%)",
    "MATH Util Max (%)",
    "Avg Math util on full grid (%)",
};
/// These columns come after the trace's two: kernel sources and hashes, and sizes.
constexpr std::size_t kKernelColumns = 13;
/// The last columns are what the counters of the matrix and vector units found.
constexpr std::size_t kCounterColumns = 13;

std::int64_t nanoseconds(std::int64_t cycles, Frequency clock) {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  return (2 * cycles * (kNanosecondsPerSecond / 1'000) + clock.value() / 1'000) /
         (2 * (clock.value() / 1'000));
}

std::int64_t whole_nanoseconds(SimTime time) { return (time.ps() + 500) / 1'000; }

/// Returns "bfloat16" as ttnn prints it: "BFLOAT16".
std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return upper;
}

/// Dimensions are "padded[logical]". In tiles, rows and columns are padded to whole tiles.
void write_tensor(CsvWriter& csv, const TensorFacts& tensor, std::uint16_t device) {
  constexpr std::int64_t kTile = 32;
  for (std::size_t i = 0; i < tensor.dimensions.size(); ++i) {
    const std::int64_t logical = tensor.dimensions[i];
    const bool in_tiles = i >= 2 && tensor.layout == "tile";
    const std::int64_t padded = in_tiles ? (logical + kTile - 1) / kTile * kTile : logical;
    csv.add(fmt::format("{}[{}]", padded, logical));
  }
  csv.add(upper_case(tensor.layout));
  csv.add(upper_case(tensor.dtype));
  csv.add(fmt::format("DEV_{}_{}", device, tensor.memory));
}

/// Returns "{'transpose_a': 'false'; 'transpose_b': 'true'}".
std::string attributes_text(const ProgramFacts& facts) {
  std::string text;
  for (const auto& [name, value] : facts.attributes) {
    text += fmt::format("{}'{}': '{}'", text.empty() ? "" : "; ", name, value);
  }
  return "{" + text + "}";
}

/// How many operands and results the file has columns for.
struct TensorCounts {
  std::size_t inputs = 3, outputs = 1;
};

TensorCounts count_tensors(std::span<const OpRecord> records) {
  TensorCounts most;
  for (const OpRecord& record : records) {
    most.inputs = std::max(most.inputs, record.facts.inputs.size());
    most.outputs = std::max(most.outputs, record.facts.outputs.size());
  }
  return most;
}

void write_header(CsvWriter& csv, TensorCounts tensors) {
  for (const std::string_view column : kColumns) csv.add(column);
  const auto add = [&](std::string_view role, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::string_view cell : kTensorColumns) {
        csv.add(fmt::format("{}_{}_{}", role, i, cell));
      }
    }
  };
  add("INPUT", tensors.inputs);
  add("OUTPUT", tensors.outputs);
  for (const std::string_view column : kColumnsBehind) csv.add(column);
  csv.end_record();
}

void write_tensors(CsvWriter& csv, const std::vector<TensorFacts>& tensors, std::size_t columns,
                   std::uint16_t device) {
  for (std::size_t i = 0; i < columns; ++i) {
    if (i < tensors.size()) {
      write_tensor(csv, tensors[i], device);
    } else {
      csv.skip(kTensorColumns.size());
    }
  }
}

/// Holds a kernel's cycles, as a whole and by core and RISC.
class KernelCycles {
 public:
  KernelCycles(const OpRecord& record, Frequency clock)
      : record_(record),
        clock_(clock),
        start_(cycles_of(record.run.kernel.start, clock)),
        end_(cycles_of(record.run.kernel.end, clock)) {}

  std::int64_t start() const { return start_; }
  std::int64_t end() const { return end_; }
  std::int64_t time() const { return nanoseconds(end_ - start_, clock_); }

  void write_core_times(CsvWriter& csv) const {
    if (record_.cores.empty()) return csv.skip(4);
    std::int64_t least = end_ - start_;
    std::int64_t most = 0;
    std::int64_t sum = 0;
    for (const CoreRecord& core : record_.cores) {
      const std::int64_t cycles =
          until(std::max({core.reader_end, core.compute_end, core.writer_end}));
      least = std::min(least, cycles);
      most = std::max(most, cycles);
      sum += cycles;
    }
    const auto count = static_cast<std::int64_t>(record_.cores.size());
    csv.add(nanoseconds(least, clock_));
    csv.add(nanoseconds(most, clock_));
    csv.add(nanoseconds(sum / count, clock_));
    csv.add(0);  // all cores start together
  }

  void write_risc_times(CsvWriter& csv) const {
    if (record_.cores.empty()) return csv.skip(5);
    const std::int64_t reader = longest(&CoreRecord::reader_end);
    const std::int64_t compute = longest(&CoreRecord::compute_end);
    csv.add(longest(&CoreRecord::writer_end));  // BRISC
    csv.add(reader);                            // NCRISC
    for (int i = 0; i < 3; ++i) csv.add(compute);
  }

 private:
  std::int64_t until(SimTime end) const { return cycles_of(end, clock_) - start_; }
  std::int64_t longest(SimTime CoreRecord::*end) const {
    const auto last = std::ranges::max_element(record_.cores, {}, end);
    return nanoseconds(until((*last).*end), clock_);
  }

  const OpRecord& record_;
  Frequency clock_;
  std::int64_t start_, end_;
};

/// Writes a span of the host or the dispatcher. The cells are empty if there is none.
void write_host(CsvWriter& csv, const std::optional<Span>& call) {
  if (!call) return csv.skip(3);
  csv.add(whole_nanoseconds(call->start));
  csv.add(whole_nanoseconds(call->end));
  csv.add(whole_nanoseconds(call->duration()));
}

/// Returns a share in percent, as Python writes a rounded number.
std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.2f}", 100 * part / whole) : std::string();
}

/// Writes the performance model: what the arithmetic and the DRAM take at their peaks, in
/// nanoseconds (1 where a program has none, as tt-metal writes it), and what part of the kernel's
/// that is.
void write_model(CsvWriter& csv, const ProgramWork& work, std::int64_t kernel) {
  const bool known = work.peak_flops > 0 && work.peak_bandwidth > 0 &&
                     (work.flops > Flops() || work.dram > Bytes());
  if (!known) return csv.skip(8);
  const double compute = 1e9 * static_cast<double>(work.flops.value()) / work.peak_flops;
  const double bandwidth = 1e9 * static_cast<double>(work.dram.value()) / work.peak_bandwidth;
  const auto whole = [](double time) { return std::max<std::int64_t>(1, std::llround(time)); };
  csv.add(whole(std::max(compute, bandwidth)));
  csv.add(whole(compute));
  csv.add(whole(bandwidth));
  csv.add("[]");  // PM REQ I BW, PM REQ O BW: reads and writes are not told apart
  csv.add("[]");
  csv.add(percent(compute, static_cast<double>(kernel)));
  csv.skip();  // NOC UTIL (%)
  csv.add(percent(bandwidth, static_cast<double>(kernel)));
}

void write_record(CsvWriter& csv, const OpRecord& record, const DeviceFacts& device,
                  TensorCounts tensors, std::int64_t op_to_op) {
  const KernelCycles kernel(record, device.clock);
  const ProgramFacts& facts = record.facts;
  csv.add(facts.operation.empty() ? std::string_view(record.name) : facts.operation);
  csv.add("tt_dnn_device");
  csv.add(run_host_id(record.run.number));
  csv.add(int{record.run.device});
  csv.add(device.architecture);
  csv.add(attributes_text(facts));
  csv.add(facts.fidelity);
  if (record.cores.empty()) {
    csv.skip();
  } else {
    csv.add(std::uint64_t{record.cores.size()});
  }
  csv.add(facts.worker_cores > 0 ? facts.worker_cores : device.worker_cores);
  csv.skip();  // PARALLELIZATION STRATEGY
  write_host(csv, record.run.host_call);
  csv.add(kernel.start());
  csv.add(kernel.end());
  csv.add(op_to_op);
  csv.add(op_to_op);
  for (int i = 0; i < 3; ++i) csv.add(kernel.time());  // firmware, kernel, from data movement on
  kernel.write_core_times(csv);
  kernel.write_risc_times(csv);
  csv.skip(3);  // ERISC, and the two waits for circular buffers
  if (record.run.dispatch) {
    csv.add(whole_nanoseconds(record.run.dispatch->duration()));
  } else {
    csv.skip();
  }
  csv.skip();  // DISPATCH GO SEND WAIT TIME
  write_tensors(csv, facts.inputs, tensors.inputs, record.run.device);
  write_tensors(csv, facts.outputs, tensors.outputs, record.run.device);
  if (record.run.replay > 0) {
    csv.add(std::uint64_t{record.run.trace});
    csv.add(std::uint64_t{record.run.replay});
  } else {
    csv.skip(2);
  }
  csv.skip(kKernelColumns);
  write_model(csv, facts.work, kernel.time());
  csv.skip(kCounterColumns);
  csv.end_record();
}

}  // namespace

std::string ops_csv(std::span<const OpRecord> records, const DeviceFacts& device) {
  CsvWriter csv;
  const TensorCounts tensors = count_tensors(records);
  write_header(csv, tensors);
  // This is the latest end of each device, in cycles, so that the latency agrees to the cycle with
  // the cells beside it.
  std::map<std::uint16_t, std::int64_t> last_ends;
  for (const OpRecord& record : records) {
    const std::int64_t start = cycles_of(record.run.kernel.start, device.clock);
    const auto [last, first] = last_ends.try_emplace(record.run.device, start);
    const std::int64_t latency = start - last->second;
    write_record(
        csv, record, device, tensors,
        latency < 0 ? -nanoseconds(-latency, device.clock) : nanoseconds(latency, device.clock));
    last->second = cycles_of(record.run.kernel.end, device.clock);
  }
  return csv.take();
}

}  // namespace howard::profiler
