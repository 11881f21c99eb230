// SPDX-License-Identifier: Apache-2.0
#include "engines/device/memory_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"

namespace howard {
namespace {

/// "12.5 MiB", below one "91.5 KiB".
std::string amount(Bytes size) {
  const double kibibytes = static_cast<double>(size.value()) / 1024;
  return kibibytes < 1024 ? fmt::format("{:.1f} KiB", kibibytes)
                          : fmt::format("{:.1f} MiB", kibibytes / 1024);
}

}  // namespace

MemoryLedger::MemoryLedger(std::string memory, Bytes capacity, std::uint64_t first)
    : memory_(std::move(memory)), capacity_(capacity), next_(first) {}

BufferId MemoryLedger::reserve(const TensorSpec& spec, Bytes size) {
  if (size > capacity_ - used_) {
    throw Error({.attempted =
                     fmt::format("allocate a tensor {} {}", spec.shape.text(), name_of(spec.dtype)),
                 .value = fmt::format("it needs {}, and {} of the {} are free{}", amount(size),
                                      amount(capacity_ - used_), memory_, largest_holders()),
                 .accepted = fmt::format("{} in all", amount(capacity_)),
                 .hint = "smaller shapes or a smaller data type"});
  }
  const BufferId buffer{next_++};
  entries_.emplace(buffer, Entry{spec, size});
  used_ += size;
  peak_ = std::max(peak_, used_);
  if (!phases_.empty()) {
    MemoryPhase& phase = phases_[phase_];
    phase.allocated += size;
    phase.current = used_;
    phase.peak = std::max(phase.peak, used_);
  }
  return buffer;
}

void MemoryLedger::release(BufferId buffer) {
  const Bytes size = entry(buffer).size;
  used_ = used_ - size;
  entries_.erase(buffer);
  if (phases_.empty()) return;
  phases_[phase_].released += size;
  phases_[phase_].current = used_;
}

void MemoryLedger::begin_phase(std::string_view phase) {
  const auto found = std::ranges::find(phases_, phase, &MemoryPhase::name);
  phase_ = static_cast<std::size_t>(found - phases_.begin());
  if (found == phases_.end()) phases_.push_back({.name = std::string(phase)});
  phases_[phase_].current = used_;
  phases_[phase_].peak = std::max(phases_[phase_].peak, used_);
}

const TensorSpec& MemoryLedger::spec(BufferId buffer) const { return entry(buffer).spec; }

const MemoryLedger::Entry& MemoryLedger::entry(BufferId buffer) const {
  const auto found = entries_.find(buffer);
  if (found == entries_.end()) {
    throw Error({.attempted = "use a buffer of " + memory_,
                 .value = fmt::format("there is no buffer {}", static_cast<std::uint64_t>(buffer)),
                 .accepted = "a buffer that was allocated there and not released",
                 .hint = ""});
  }
  return found->second;
}

std::string MemoryLedger::largest_holders() const {
  constexpr std::size_t kNamed = 3;
  std::vector<std::pair<BufferId, Entry>> holders(entries_.begin(), entries_.end());
  std::ranges::stable_sort(
      holders, [](const auto& a, const auto& b) { return a.second.size > b.second.size; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, holders.size()); ++i) {
    const auto& [buffer, held] = holders[i];
    text += fmt::format("{} buffer {} ({} {}) {}", i == 0 ? "; largest holders:" : ",",
                        static_cast<std::uint64_t>(buffer), held.spec.shape.text(),
                        name_of(held.spec.dtype), amount(held.size));
  }
  return text;
}

}  // namespace howard
