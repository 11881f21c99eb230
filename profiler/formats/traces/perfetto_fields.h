// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// These are field numbers of perfetto/protos/perfetto/trace/perfetto_trace.proto, which never
/// change.
namespace howard::profiler::perfetto {

namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // of kSequenceFlags
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8,
                        kChildOrdering = 11, kSiblingRank = 12;
constexpr std::uint64_t kExplicitOrder = 3;
}  // namespace descriptor
namespace counter_descriptor {
constexpr std::uint32_t kUnit = 3;
constexpr std::uint64_t kCount = 2;
}  // namespace counter_descriptor
namespace process_descriptor {
constexpr std::uint32_t kPid = 1, kName = 6, kLabels = 8;
}
namespace event {
constexpr std::uint32_t kCategoryId = 3, kAnnotation = 4, kType = 9, kNameId = 10, kTrack = 11,
                        kCategory = 22, kName = 23, kCounterValue = 30;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounter = 4;
}  // namespace event
namespace annotation {
constexpr std::uint32_t kNameId = 1, kUnsigned = 3, kText = 6, kName = 10;
}
namespace interned {
constexpr std::uint32_t kCategories = 1, kNames = 2, kAnnotationNames = 3;
constexpr std::uint32_t kId = 1, kName = 2;
}  // namespace interned

}  // namespace howard::profiler::perfetto
