// SPDX-License-Identifier: Apache-2.0
#include "engines/device/memory_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"

namespace howard {
namespace {

/// Returns "12.5 MiB"; amounts below one MiB are in KiB: "91.5 KiB".
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
  const Entry& entry = entries_.add(buffer, {spec, size});
  used_ += size;
  peak_ = std::max(peak_, used_);
  if (!phases_.empty()) {
    MemoryPhase& phase = phases_[phase_];
    phase.allocated += size;
    phase.current = used_;
    phase.peak = std::max(phase.peak, used_);
  }
  if (sink_ != nullptr) report(MemoryAction::allocate, buffer, entry);
  return buffer;
}

void MemoryLedger::release(BufferId buffer) {
  const Entry& released = entry(buffer);
  const Bytes size = released.size;
  if (sink_ != nullptr) report(MemoryAction::release, buffer, released);
  used_ = used_ - size;
  entries_.remove(buffer);
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

void MemoryLedger::report_to(MemorySink* sink, MemoryKind kind, std::function<SimTime()> now) {
  sink_ = sink;
  kind_ = kind;
  now_ = std::move(now);
}

void MemoryLedger::report(MemoryAction action, BufferId buffer, const Entry& entry) const {
  sink_->record(
      {.time = now_(),
       .action = action,
       .kind = kind_,
       .buffer = static_cast<std::uint64_t>(buffer),
       .size = entry.size,
       .name = fmt::format("{} {}", entry.spec.shape.text(), name_of(entry.spec.dtype)),
       .phase = phases_.empty() ? std::string_view() : std::string_view(phases_[phase_].name)});
}

const TensorSpec& MemoryLedger::spec(BufferId buffer) const { return entry(buffer).spec; }

const MemoryLedger::Entry& MemoryLedger::entry(BufferId buffer) const {
  const Entry* found = entries_.find(buffer);
  if (found == nullptr) {
    throw Error({.attempted = "use a buffer of " + memory_,
                 .value = fmt::format("there is no buffer {}", static_cast<std::uint64_t>(buffer)),
                 .accepted = "a buffer that was allocated there and not released"});
  }
  return *found;
}

std::string MemoryLedger::largest_holders() const {
  constexpr std::size_t kNamed = 3;
  constexpr std::uint64_t kPlace = ~(std::uint64_t{1} << 63);  // The first bit says which memory.
  std::vector<std::pair<BufferId, Entry>> holders;
  entries_.for_each(
      [&](BufferId buffer, const Entry& entry) { holders.emplace_back(buffer, entry); });
  std::ranges::stable_sort(
      holders, [](const auto& a, const auto& b) { return a.second.size > b.second.size; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, holders.size()); ++i) {
    const auto& [buffer, held] = holders[i];
    text += fmt::format("{} buffer {} ({} {}) {}", i == 0 ? "; largest holders:" : ",",
                        static_cast<std::uint64_t>(buffer) & kPlace, held.spec.shape.text(),
                        name_of(held.spec.dtype), amount(held.size));
  }
  return text;
}

}  // namespace howard
