// SPDX-License-Identifier: Apache-2.0
#include "engines/host/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/large_pages.h"

namespace howard::host {
namespace {

constexpr std::align_val_t kAlignment{64};

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr auto kLargePageSize = static_cast<std::int64_t>(kLargePage);

/// Returns the distance to the next large page.
std::size_t before_large_page(const std::byte* bytes) {
  return (kLargePage - reinterpret_cast<std::uintptr_t>(bytes) % kLargePage) % kLargePage;
}

/// Reads the line "MemAvailable: 12345 kB" of /proc/meminfo. If it is missing (not Linux), no limit
/// is known.
Bytes system_available() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word) {
    std::int64_t kibibytes = 0;
    if (word == "MemAvailable:" && meminfo >> kibibytes) return Bytes(kibibytes * 1024);
  }
  return Bytes(std::numeric_limits<std::int64_t>::max());
}

/// Returns the limit of the process's control group (version 2), which is what a container may use.
/// "max" or a missing file means no limit.
Bytes control_group_limit() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::")) continue;
    std::ifstream limit("/sys/fs/cgroup" + line.substr(3) + "/memory.max");
    std::int64_t bytes = 0;
    if (limit >> bytes) return Bytes(bytes);
  }
  return Bytes(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

void AlignedDelete::operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }

AlignedBytes allocate_aligned(Bytes size) {
  const auto bytes = static_cast<std::size_t>(size.value());
  auto* memory = static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
  if (memory != nullptr) prefer_large_pages(memory, bytes);
  return AlignedBytes(memory);
}

LargePages::LargePages(Bytes size)
    : bytes_(
          allocate_aligned(Bytes((ceil_div(size.value(), kLargePageSize) + 1) * kLargePageSize))) {
  if (bytes_ != nullptr) begin_ = bytes_.get() + before_large_page(bytes_.get());
}

Bytes available_memory() { return std::min(system_available(), control_group_limit()); }

HostMemory::HostMemory() : ledger_("memory of the host", available_memory()) {}

BufferId HostMemory::allocate(const TensorSpec& spec) {
  if (spec.dtype == DataType::bfloat8_b || spec.dtype == DataType::bfloat4_b) {
    throw Error({.attempted = "allocate a tensor on the host",
                 .value = fmt::format("data type {}", name_of(spec.dtype)),
                 .accepted = "bfloat16 and float32, in which the host computes, and whole numbers",
                 .hint = "the emulated device for block formats"});
  }
  const BufferId buffer = ledger_.reserve(spec, spec.host_bytes());
  std::shared_ptr<std::byte[]> values = find_values(spec.host_bytes());
  if (values == nullptr) {
    ledger_.release(buffer);
    throw Error({.attempted = fmt::format("allocate a tensor {} {} on the host", spec.shape.text(),
                                          name_of(spec.dtype)),
                 .value = fmt::format("the system refuses {} bytes{}", spec.host_bytes().value(),
                                      ledger_.largest_holders()),
                 .accepted = "what the system and the limits of the process (ulimit -v) leave",
                 .hint = "smaller shapes"});
  }
  buffers_.add(buffer, {.spec = spec, .values = std::move(values)});
  return buffer;
}

/// Returns kept memory or new memory, or null when the system has no memory left.
std::shared_ptr<std::byte[]> HostMemory::find_values(Bytes size) {
  const auto kept = kept_.find(size);
  if (kept != kept_.end() && !kept->second.empty()) {
    std::shared_ptr<std::byte[]> values = std::move(kept->second.back());
    kept->second.pop_back();
    kept_bytes_ = kept_bytes_ - size;
    return values;
  }
  keep_at_most(ledger_.peak() - ledger_.used());
  AlignedBytes values = allocate_aligned(size);
  if (values == nullptr) {
    keep_at_most(Bytes(0));
    values = allocate_aligned(size);
  }
  return values;
}

/// Releases the largest pieces first, which needs the fewest system calls.
void HostMemory::keep_at_most(Bytes limit) {
  while (kept_bytes_ > limit) {
    const auto largest = std::prev(kept_.end());
    if (largest->second.empty()) {
      kept_.erase(largest);
    } else {
      largest->second.pop_back();
      kept_bytes_ = kept_bytes_ - largest->first;
    }
  }
}

void HostMemory::release(BufferId buffer) {
  ledger_.release(buffer);
  Buffer released = std::move(*buffers_.find(buffer));
  buffers_.remove(buffer);
  if (released.is_recorded) return;
  const Bytes size = released.spec.host_bytes();
  kept_[size].push_back(std::move(released.values));
  kept_bytes_ += size;
}

const HostMemory::Buffer& HostMemory::find(BufferId buffer) const {
  const Buffer* found = buffers_.find(buffer);
  if (found == nullptr) static_cast<void>(ledger_.spec(buffer));  // Throws.
  return *found;
}

void HostMemory::mark_recorded(BufferId buffer) {
  static_cast<void>(ledger_.spec(buffer));
  buffers_.find(buffer)->is_recorded = true;
}

}  // namespace howard::host
