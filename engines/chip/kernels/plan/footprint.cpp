// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/footprint.h"

#include <algorithm>

namespace howard::chip {
namespace {

// The sizes of tt-metal's configuration messages: a circular buffer takes four words, a semaphore
// is padded to the L1 alignment, and an argument takes a word.
constexpr Bytes kCircularBuffer{16};
constexpr Bytes kSemaphore{16};
constexpr Bytes kArgument{4};

Bytes unique_bytes(const Footprint& f) { return kArgument * f.unique_arguments; }

/// Returns the bytes of circular buffers, semaphores and arguments that are sent.
Bytes data_bytes(const Footprint& f) {
  return kCircularBuffer * f.circular_buffers * f.circular_buffer_groups +
         kSemaphore * f.semaphores + unique_bytes(f) * f.cores +
         kArgument * (static_cast<std::int64_t>(f.common_arguments) * f.kernel_groups);
}

bool has_configuration(const Footprint& f) {
  return f.circular_buffers > 0 || f.semaphores > 0 || f.unique_arguments > 0 ||
         f.common_arguments > 0;
}

}  // namespace

SimTime dispatch_time(const Footprint& f, DispatchCoreType type, const SoftwareProfile& software) {
  const DispatchCosts& cost = software.dispatch;
  const SimTime binaries = cost.binary * f.binaries;
  const Bytes apart = cost.arguments_overlap ? unique_bytes(f) * f.cores : Bytes();
  SimTime time =
      cost.program + binaries + transfer_time(f.binary_bytes + data_bytes(f) - apart, cost.write);
  const std::int64_t more_groups = f.kernel_groups - 1;
  time += more_groups * std::max(cost.group_least,
                                 cost.group + binaries + transfer_time(f.binary_bytes, cost.write));
  if (has_configuration(f)) time += cost.configuration;
  if (f.unique_arguments > 0) {
    const SimTime sent =
        cost.arguments_overlap ? transfer_time(unique_bytes(f), cost.write) : SimTime();
    time += std::max(cost.core_arguments, sent) * f.cores + cost.configuration * more_groups;
  }
  if (f.circular_buffers > 0) {
    time += cost.circular_buffer_group * (f.circular_buffer_groups - 1);
  }
  if (type == DispatchCoreType::eth) time += cost.from_eth;
  return time;
}

SimTime go_time(const Footprint& f, const SoftwareProfile& software, DispatchCoreType type) {
  const DispatchCosts& cost = software.dispatch;
  const SimTime from_eth = type == DispatchCoreType::eth ? cost.from_eth : SimTime();
  return cost.go + cost.go_core * f.cores + cost.go_binary * (f.binaries - 1) + from_eth;
}

Bytes trace_bytes(const Footprint& f, const SoftwareProfile& software) {
  const std::int64_t page = software.trace_page.value();
  return Bytes(std::max<std::int64_t>(1, ceil_div(data_bytes(f).value(), page)) * page);
}

Footprint without_binaries(Footprint footprint) {
  footprint.binaries = 0;
  footprint.binary_bytes = Bytes();
  return footprint;
}

Bytes configuration_bytes(const Footprint& f) {
  return f.binary_bytes + kCircularBuffer * f.circular_buffers + kSemaphore * f.semaphores +
         kArgument * f.unique_arguments;
}

}  // namespace howard::chip
