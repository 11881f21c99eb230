// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/perfetto_trace.h"

#include <fmt/format.h>

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/formats/traces/perfetto_fields.h"

namespace howard::profiler {
namespace {

using namespace perfetto;  // NOLINT(google-build-using-namespace): field numbers, nothing else

constexpr std::uint64_t kOnlySequence = 1;

/// A message of whole numbers, texts and other messages.
class Message {
 public:
  void number(std::uint32_t field, std::uint64_t value) { writer().add_uint64(field, value); }
  void text(std::uint32_t field, std::string_view value) {
    writer().add_string(field, value.data(), value.size());
  }
  void message(std::uint32_t field, const Message& value) { text(field, value.bytes_); }

  void clear() { bytes_.clear(); }
  bool empty() const { return bytes_.empty(); }
  std::string take() && { return std::move(bytes_); }

 private:
  protozero::pbf_writer writer() { return protozero::pbf_writer(bytes_); }

  std::string bytes_;
};

/// Writes the packets of one sequence. A name is sent once, and then only its number.
class PacketWriter {
 public:
  void describe_process(std::uint64_t uuid, std::uint64_t pid, const TraceProcess& process) {
    Message about;
    about.number(process_descriptor::kPid, pid);
    about.text(process_descriptor::kName, process.name);
    if (process.losses > 0) {
      about.text(process_descriptor::kLabels, fmt::format("{} events lost", process.losses));
    }
    Message track;
    track.number(descriptor::kUuid, uuid);
    track.message(descriptor::kProcess, about);
    track.number(descriptor::kChildOrdering, descriptor::kExplicitOrder);
    describe(track);
  }

  void describe_track(std::uint64_t uuid, std::uint64_t parent, std::uint64_t rank,
                      std::string_view name) {
    describe(child(uuid, parent, rank, name));
  }

  void describe_counter(std::uint64_t uuid, std::uint64_t parent, std::uint64_t rank,
                        std::string_view name) {
    Message counter;
    counter.number(counter_descriptor::kUnit, counter_descriptor::kCount);
    Message track = child(uuid, parent, rank, name);
    track.message(descriptor::kCounter, counter);
    describe(track);
  }

  void count(std::uint64_t track, const QueueLevel& level) {
    event_.clear();
    event_.number(event::kType, event::kCounter);
    event_.number(event::kTrack, track);
    event_.number(event::kCounterValue, static_cast<std::uint64_t>(level.waiting));
    send(level.time);
  }

  /// `start` is the span's start in the time of the trace.
  void begin(std::uint64_t track, const TimelineEvent& span, SimTime start,
             const std::vector<SpanNote>& notes) {
    event_.clear();
    event_.number(event::kType, event::kBegin);
    event_.number(event::kTrack, track);
    event_.number(event::kCategoryId, intern(categories_, interned::kCategories, span.category));
    event_.number(event::kNameId, intern(names_, interned::kNames, span.name));
    if (span.program != 0) annotate({"program", span.program});
    if (span.trace != 0) annotate({"trace", std::uint64_t{span.trace}});
    for (const SpanNote& note : notes) annotate(note);
    send(start);
  }

  void end(std::uint64_t track, SimTime time) {
    event_.clear();
    event_.number(event::kType, event::kEnd);
    event_.number(event::kTrack, track);
    send(time);
  }

  std::string take() && { return std::move(trace_).take(); }

 private:
  using Names = std::unordered_map<std::string_view, std::uint64_t>;

  static Message child(std::uint64_t uuid, std::uint64_t parent, std::uint64_t rank,
                       std::string_view name) {
    Message track;
    track.number(descriptor::kUuid, uuid);
    track.number(descriptor::kParent, parent);
    track.text(descriptor::kName, name);
    track.number(descriptor::kSiblingRank, rank);
    return track;
  }

  void annotate(const SpanNote& note) {
    note_.clear();
    note_.number(annotation::kNameId,
                 intern(annotation_names_, interned::kAnnotationNames, note.name));
    if (const auto* const number = std::get_if<std::uint64_t>(&note.value)) {
      note_.number(annotation::kUnsigned, *number);
    } else {
      note_.text(annotation::kText, std::get<std::string>(note.value));
    }
    event_.message(event::kAnnotation, note_);
  }

  std::uint64_t intern(Names& names, std::uint32_t kind, std::string_view text) {
    const auto [found, added] = names.try_emplace(text, names.size() + 1);
    if (added) {
      Message name;
      name.number(interned::kId, found->second);
      name.text(interned::kName, text);
      new_names_.message(kind, name);
    }
    return found->second;
  }

  void describe(const Message& track) {
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
    if (!new_names_.empty()) packet_.message(packet::kInternedData, new_names_);
    new_names_.clear();
    append_packet();
  }

  void append_packet() {
    packet_.number(packet::kSequence, kOnlySequence);
    packet_.number(packet::kSequenceFlags, std::exchange(flags_, packet::kNeedsState));
    trace_.message(trace::kPacket, packet_);
  }

  Message trace_, packet_, event_, note_, new_names_;
  Names categories_, names_, annotation_names_;
  std::uint64_t flags_ = packet::kStateCleared | packet::kNeedsState;
};

/// Writes begins and ends in the order in which a viewer opens and closes them.
void write_spans(PacketWriter& packets, std::uint64_t track, const TraceView& view,
                 const TrackEvents& events) {
  std::vector<SimTime> open;
  const auto close_until = [&](SimTime time) {
    while (!open.empty() && open.back() <= time) {
      packets.end(track, view.since_start(open.back()));
      open.pop_back();
    }
  };
  for (const TimelineEvent* const span : events) {
    close_until(span->start);
    packets.begin(track, *span, view.since_start(span->start), view.notes_of(*span));
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
    const TraceView view(processes[i]);
    for (const auto& [queue, levels] : view.queues()) {
      packets.describe_counter(++uuid, process, ++rank, name_of_level(queue));
      for (const QueueLevel& level : levels) packets.count(uuid, level);
    }
    for (const auto& [track, events] : view.tracks()) {
      packets.describe_track(++uuid, process, ++rank, name_of(track));
      write_spans(packets, uuid, view, events);
    }
  }
  return std::move(packets).take();
}

}  // namespace howard::profiler
