// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/perfetto_trace.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/formats/protobuf_writer.h"
#include "profiler/tracks.h"

namespace howard::profiler {
namespace {

/// Field numbers of perfetto/protos/perfetto/trace/perfetto_trace.proto, which never change.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
}
namespace descriptor {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kChildOrdering = 11,
                        kSiblingRank = 12;
constexpr std::uint64_t kExplicitOrder = 3;
}  // namespace descriptor
namespace process_descriptor {
constexpr std::uint32_t kPid = 1, kName = 6, kLabels = 8;
}
namespace event {
constexpr std::uint32_t kCategoryId = 3, kAnnotation = 4, kType = 9, kNameId = 10, kTrack = 11;
constexpr std::uint64_t kBegin = 1, kEnd = 2;
}  // namespace event
namespace annotation {
constexpr std::uint32_t kNameId = 1, kUnsigned = 3;
}
namespace interned {
constexpr std::uint32_t kCategories = 1, kNames = 2, kAnnotationNames = 3;
constexpr std::uint32_t kId = 1, kName = 2;
}  // namespace interned

constexpr std::uint64_t kOnlySequence = 1;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;

/// Writes the packets of one sequence: names are sent once and meant by number from then on.
class PacketWriter {
 public:
  PacketWriter() {
    for (const auto& [id, text] :
         {std::pair(kProgramAnnotation, "program"), std::pair(kTraceAnnotation, "trace")}) {
      ProtobufWriter name;
      name.number(interned::kId, id);
      name.text(interned::kName, text);
      new_names_.message(interned::kAnnotationNames, name);
    }
  }

  void describe_process(std::uint64_t uuid, std::uint64_t pid, const TraceProcess& process) {
    ProtobufWriter about;
    about.number(process_descriptor::kPid, pid);
    about.text(process_descriptor::kName, process.name);
    if (process.losses > 0) {
      about.text(process_descriptor::kLabels, fmt::format("{} events lost", process.losses));
    }
    ProtobufWriter track;
    track.number(descriptor::kUuid, uuid);
    track.message(descriptor::kProcess, about);
    track.number(descriptor::kChildOrdering, descriptor::kExplicitOrder);
    describe(track);
  }

  void describe_track(std::uint64_t uuid, std::uint64_t parent, std::uint64_t rank,
                      std::string_view name) {
    ProtobufWriter track;
    track.number(descriptor::kUuid, uuid);
    track.number(descriptor::kParent, parent);
    track.text(descriptor::kName, name);
    track.number(descriptor::kSiblingRank, rank);
    describe(track);
  }

  void begin(std::uint64_t track, const TraceEvent& span) {
    event_.clear();
    event_.number(event::kType, event::kBegin);
    event_.number(event::kTrack, track);
    event_.number(event::kCategoryId, intern(categories_, interned::kCategories, span.category));
    event_.number(event::kNameId, intern(names_, interned::kNames, span.name));
    annotate(kProgramAnnotation, span.program);
    annotate(kTraceAnnotation, span.trace);
    send(span.start);
  }

  void end(std::uint64_t track, SimTime time) {
    event_.clear();
    event_.number(event::kType, event::kEnd);
    event_.number(event::kTrack, track);
    send(time);
  }

  std::string take() && { return std::move(trace_); }

 private:
  using Names = std::unordered_map<std::string_view, std::uint64_t>;
  static constexpr std::uint64_t kProgramAnnotation = 1;
  static constexpr std::uint64_t kTraceAnnotation = 2;

  /// Nothing for 0.
  void annotate(std::uint64_t name, std::uint64_t value) {
    if (value == 0) return;
    ProtobufWriter note;
    note.number(annotation::kNameId, name);
    note.number(annotation::kUnsigned, value);
    event_.message(event::kAnnotation, note);
  }

  std::uint64_t intern(Names& names, std::uint32_t kind, std::string_view text) {
    const auto [found, added] = names.try_emplace(text, names.size() + 1);
    if (added) {
      ProtobufWriter name;
      name.number(interned::kId, found->second);
      name.text(interned::kName, text);
      new_names_.message(kind, name);
    }
    return found->second;
  }

  void describe(const ProtobufWriter& track) {
    packet_.clear();
    packet_.message(packet::kTrackDescriptor, track);
    append_packet();
  }

  void send(SimTime time) {
    constexpr std::int64_t kPicosecondsPerNanosecond = 1'000;
    packet_.clear();
    packet_.number(packet::kTimestamp,
                   static_cast<std::uint64_t>(time.ps() / kPicosecondsPerNanosecond));
    packet_.message(packet::kTrackEvent, event_);
    if (!new_names_.bytes().empty()) packet_.message(packet::kInternedData, new_names_);
    new_names_.clear();
    append_packet();
  }

  void append_packet() {
    packet_.number(packet::kSequence, kOnlySequence);
    packet_.number(packet::kSequenceFlags, std::exchange(flags_, kNeedsState));
    ProtobufWriter field;
    field.message(trace::kPacket, packet_);
    trace_ += field.bytes();
  }

  std::string trace_;
  ProtobufWriter packet_, event_, new_names_;
  Names categories_, names_;
  std::uint64_t flags_ = kStateCleared | kNeedsState;
};

/// Begins and ends in the order in which a viewer opens and closes them.
void write_spans(PacketWriter& packets, std::uint64_t track, const TrackEvents& events) {
  std::vector<SimTime> open;
  const auto close_until = [&](SimTime time) {
    while (!open.empty() && open.back() <= time) {
      packets.end(track, open.back());
      open.pop_back();
    }
  };
  for (const TraceEvent* const span : events) {
    close_until(span->start);
    packets.begin(track, *span);
    open.push_back(span->end);
  }
  while (!open.empty()) close_until(open.front());
}

}  // namespace

std::string perfetto_trace(std::span<const TraceProcess> processes) {
  PacketWriter packets;
  std::uint64_t uuid = 0;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::uint64_t process = ++uuid;
    packets.describe_process(process, i + 1, processes[i]);
    std::uint64_t rank = 0;
    for (const auto& [track, events] : by_track(processes[i].events)) {
      packets.describe_track(++uuid, process, ++rank, name_of(track));
      write_spans(packets, uuid, events);
    }
  }
  return std::move(packets).take();
}

}  // namespace howard::profiler
