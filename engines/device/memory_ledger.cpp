// SPDX-License-Identifier: Apache-2.0
#include "engines/device/memory_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"

namespace howard {
namespace {

std::string mebibytes(Bytes size) {
  return fmt::format("{:.1f} MiB", static_cast<double>(size.value()) / 1048576.0);
}

}  // namespace

MemoryLedger::MemoryLedger(std::string memory, Bytes capacity)
    : memory_(std::move(memory)), capacity_(capacity) {}

BufferId MemoryLedger::reserve(const TensorSpec& spec, Bytes size) {
  if (size > capacity_ - used_) {
    throw Error({.attempted =
                     fmt::format("allocate a tensor {} {}", spec.shape.text(), name_of(spec.dtype)),
                 .value = fmt::format("it needs {}, and {} of the {} are free{}", mebibytes(size),
                                      mebibytes(capacity_ - used_), memory_, largest_holders()),
                 .accepted = fmt::format("{} in all", mebibytes(capacity_)),
                 .hint = "smaller shapes or a smaller data type"});
  }
  const BufferId buffer{next_++};
  entries_.emplace(buffer, Entry{spec, size});
  used_ += size;
  return buffer;
}

void MemoryLedger::release(BufferId buffer) {
  used_ = used_ - entry(buffer).size;
  entries_.erase(buffer);
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
                        name_of(held.spec.dtype), mebibytes(held.size));
  }
  return text;
}

}  // namespace howard
