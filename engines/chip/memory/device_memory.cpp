// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/memory/device_memory.h"

namespace howard::chip {
namespace {

/// Buffers in L1 are numbered from this on.
constexpr std::uint64_t kFirstInL1 = std::uint64_t{1} << 63;

/// Returns the bytes on the core that gets most pages. A page is a tile, or a row of a row-major
/// tensor.
Bytes largest_part(const TensorSpec& spec, std::int64_t cores) {
  const Shape& shape = spec.shape;
  if (spec.sharding) {  // every shard is allocated full
    const std::int64_t elements = spec.sharding->rows * spec.sharding->columns;
    if (spec.layout == Layout::tile) {
      return elements / (kTileSide * kTileSide) * tile_bytes(spec.dtype);
    }
    return elements * Bytes(spec.host_bytes().value() / shape.elements());
  }
  if (spec.layout == Layout::tile) {
    return ceil_div(shape.tiles(), cores) * tile_bytes(spec.dtype);
  }
  const std::int64_t rows = shape.batch() * shape.rows();
  return ceil_div(rows, cores) * Bytes(ceil_div(spec.host_bytes().value(), rows));
}

}  // namespace

DeviceMemory::DeviceMemory(const ChipProfile& chip, Bytes trace_region, CoreGrid grid)
    : cores_(grid.cores()),
      dram_("DRAM of " + chip.name, chip.dram_capacity - trace_region),
      l1_("L1 of each core of " + chip.name, chip.l1_circular_buffers, kFirstInL1) {}

BufferId DeviceMemory::allocate(const TensorSpec& spec) {
  if (spec.storage == Storage::l1) return l1_.reserve(spec, largest_part(spec, cores_));
  // Every bank holds a whole shard.
  return dram_.reserve(
      spec, spec.sharding ? shards_of(spec) * largest_part(spec, cores_) : spec.padded_bytes());
}

void DeviceMemory::report_to(MemorySink* sink, const std::function<SimTime()>& now) {
  sink_ = sink;
  now_ = now;
  dram_.report_to(sink, MemoryKind::dram, now);
  l1_.report_to(sink, MemoryKind::l1_buffer, now);
}

void DeviceMemory::pass_circular_buffers(std::string_view program, Bytes size) {
  if (sink_ == nullptr) return;
  MemoryEvent event{.time = now_(),
                    .action = MemoryAction::allocate,
                    .kind = MemoryKind::l1_circular_buffer,
                    .buffer = ++programs_,
                    .size = size,
                    .name = program,
                    .phase = phase_};
  sink_->record(event);
  event.action = MemoryAction::release;
  sink_->record(event);
}

void DeviceMemory::begin_phase(std::string_view phase) {
  dram_.begin_phase(phase);
  l1_.begin_phase(phase);
  phase_ = phase;
}

bool DeviceMemory::is_in_l1(BufferId buffer) {
  return static_cast<std::uint64_t>(buffer) >= kFirstInL1;
}

void DeviceMemory::release(BufferId buffer) { (is_in_l1(buffer) ? l1_ : dram_).release(buffer); }

const TensorSpec& DeviceMemory::spec(BufferId buffer) const {
  return (is_in_l1(buffer) ? l1_ : dram_).spec(buffer);
}

}  // namespace howard::chip
