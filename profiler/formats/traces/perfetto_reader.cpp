// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/perfetto_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "profiler/formats/traces/perfetto_fields.h"

namespace howard::profiler {
namespace {

using namespace perfetto;  // NOLINT(google-build-using-namespace): field numbers, nothing else
using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Returns the field and the wire type of the message's next value as one number, so that a value
/// of another type than the format says is skipped and not misread.
constexpr std::uint32_t number_of(std::uint32_t field) {
  return protozero::tag_and_type(field, pbf_wire_type::varint);
}
constexpr std::uint32_t bytes_of(std::uint32_t field) {
  return protozero::tag_and_type(field, pbf_wire_type::length_delimited);
}

std::string_view text_of(const protozero::data_view& view) { return {view.data(), view.size()}; }

/// Says where the next packet lies in `bytes`.
struct PacketPlace {
  std::size_t begin = 0, size = 0;
};

/// Returns the next packet's place; absent if `bytes` hold too little to tell. Throws protozero's
/// exceptions if it is not a packet.
std::optional<PacketPlace> next_packet(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  try {
    const std::uint64_t tag = protozero::decode_varint(&at, end);
    if (tag != bytes_of(trace::kPacket)) throw protozero::invalid_tag_exception{};
    const std::uint64_t size = protozero::decode_varint(&at, end);
    return PacketPlace{static_cast<std::size_t>(at - bytes.data()), size};
  } catch (const protozero::end_of_buffer_exception&) {
    return std::nullopt;
  }
}

/// Gives the packets of a trace, one after the other, without holding the file.
class Packets {
 public:
  explicit Packets(ByteSource& source) : source_(source) {}

  /// Returns the bytes of the next packet, valid until the next call; absent at the end of the file
  /// and where it breaks off.
  std::optional<std::string_view> next() {
    constexpr std::size_t kLongestHeader = 20;
    constexpr std::size_t kLongestPacket = std::size_t{64} << 20;
    fill(kLongestHeader);
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    if (rest.empty()) return std::nullopt;
    try {
      const std::optional<PacketPlace> place = next_packet(rest);
      if (!place) return break_off("a packet is cut off");
      if (place->size > kLongestPacket) return break_off("a packet is longer than 64 MB");
      fill(place->begin + place->size);
      if (buffer_.size() - at_ < place->begin + place->size) {
        return break_off("a packet is cut off");
      }
      const std::size_t begin = at_ + place->begin;
      at_ = begin + place->size;
      return std::string_view(buffer_).substr(begin, place->size);
    } catch (const protozero::exception&) {
      return break_off("something else than a packet follows");
    }
  }

  /// Returns why there are no more packets, if it is not the end of the file.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  std::optional<std::string_view> break_off(std::string reason) {
    failure_ = std::move(reason);
    buffer_.clear();
    at_ = 0;
    at_end_ = true;
    return std::nullopt;
  }

  /// Reads until `size` bytes are there, or all that are left.
  void fill(std::size_t size) {
    constexpr std::size_t kChunk = std::size_t{1} << 18;
    if (buffer_.size() - at_ >= size) return;
    buffer_.erase(0, at_);
    at_ = 0;
    while (!at_end_ && buffer_.size() < size) {
      const std::size_t old = buffer_.size();
      buffer_.resize(old + kChunk);
      const std::size_t more = source_.read({buffer_.data() + old, kChunk});
      buffer_.resize(old + more);
      at_end_ = more == 0;
    }
  }

  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool at_end_ = false;
  std::optional<std::string> failure_;
};

/// Puts the packets of a trace together.
class PacketReader {
 public:
  PacketReader(NameTable& names, DroppedRows& dropped) : names_(names), dropped_(dropped) {}

  const TraceSpans& found() const { return found_; }

  void take(std::string_view bytes) {
    ++number_;
    try {
      take_packet(pbf_reader(bytes.data(), bytes.size()));
    } catch (const protozero::exception&) {
      reject("a packet is damaged");
    }
  }

 private:
  /// Holds the names that one sequence of packets has sent, by kind and number.
  using Interned = std::unordered_map<std::uint64_t, NameId>;
  struct Sequence {
    Interned categories, names, annotations;
  };
  struct Event {
    std::uint64_t type = 0, track = 0;
    NameId name = 0, category = 0;
    std::uint64_t program = 0, trace = 0;
  };
  /// Holds what a packet may contain. It is read when all of its fields are known, because their
  /// order is free.
  struct Packet {
    std::uint64_t time = 0, sequence = 0, flags = 0;
    std::optional<protozero::data_view> event, interned, track;
  };

  void reject(std::string_view reason) {
    dropped_.add(reason, 0, fmt::format("packet {}", number_));
  }

  void take_packet(pbf_reader message) {
    Packet packet;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case number_of(packet::kTimestamp):
          packet.time = message.get_uint64();
          break;
        case number_of(packet::kSequence):
          packet.sequence = message.get_uint64();
          break;
        case number_of(packet::kSequenceFlags):
          packet.flags = message.get_uint64();
          break;
        case bytes_of(packet::kTrackEvent):
          packet.event = message.get_view();
          break;
        case bytes_of(packet::kInternedData):
          packet.interned = message.get_view();
          break;
        case bytes_of(packet::kTrackDescriptor):
          packet.track = message.get_view();
          break;
        default:
          message.skip();
      }
    }
    Sequence& sequence = sequences_[packet.sequence];
    if ((packet.flags & packet::kStateCleared) != 0) sequence = {};
    if (packet.interned) intern(pbf_reader(*packet.interned), sequence);
    if (packet.track) describe(pbf_reader(*packet.track));
    if (packet.event) take_event(event_of(pbf_reader(*packet.event), sequence), packet.time);
  }

  void intern(pbf_reader message, Sequence& sequence) {
    while (message.next()) {
      Interned* const kind =
          message.tag_and_type() == bytes_of(interned::kCategories)        ? &sequence.categories
          : message.tag_and_type() == bytes_of(interned::kNames)           ? &sequence.names
          : message.tag_and_type() == bytes_of(interned::kAnnotationNames) ? &sequence.annotations
                                                                           : nullptr;
      if (kind == nullptr) {
        message.skip();
        continue;
      }
      pbf_reader entry = message.get_message();
      std::uint64_t id = 0;
      NameId name = 0;
      while (entry.next()) {
        if (entry.tag_and_type() == number_of(interned::kId)) {
          id = entry.get_uint64();
        } else if (entry.tag_and_type() == bytes_of(interned::kName)) {
          name = names_.id(text_of(entry.get_view()));
        } else {
          entry.skip();
        }
      }
      (*kind)[id] = name;
    }
  }

  void describe(pbf_reader message) {
    std::uint64_t uuid = 0, parent = 0;
    std::string name;
    std::optional<protozero::data_view> process;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case number_of(descriptor::kUuid):
          uuid = message.get_uint64();
          break;
        case number_of(descriptor::kParent):
          parent = message.get_uint64();
          break;
        case bytes_of(descriptor::kName):
          name = text_of(message.get_view());
          break;
        case bytes_of(descriptor::kProcess):
          process = message.get_view();
          break;
        case bytes_of(descriptor::kCounter):
          return;
        default:
          message.skip();
      }
    }
    if (process) return describe_process(uuid, pbf_reader(*process));
    if (threads_.contains(uuid)) return;
    if (found_.threads.size() > std::numeric_limits<std::uint16_t>::max()) {
      return reject("more tracks than can be told apart");
    }
    threads_[uuid] = found_.threads.size();
    found_.threads.push_back({.process = process_index(parent), .name = std::move(name)});
  }

  void describe_process(std::uint64_t uuid, pbf_reader message) {
    const std::size_t process = process_index(uuid);
    while (message.next()) {
      if (message.tag_and_type() == bytes_of(process_descriptor::kName)) {
        found_.processes[process].name = text_of(message.get_view());
      } else if (message.tag_and_type() == bytes_of(process_descriptor::kLabels)) {
        found_.set_label(process, text_of(message.get_view()));
      } else {
        message.skip();
      }
    }
  }

  std::size_t process_index(std::uint64_t uuid) {
    const auto [found, added] = processes_.try_emplace(uuid, found_.processes.size());
    if (added) found_.processes.push_back({.name = fmt::format("process {}", uuid)});
    return found->second;
  }

  Event event_of(pbf_reader message, const Sequence& sequence) {
    const auto sent = [](const Interned& names, std::uint64_t id) {
      const auto found = names.find(id);
      return found != names.end() ? found->second : NameId{0};
    };
    Event event;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case number_of(event::kType):
          event.type = message.get_uint64();
          break;
        case number_of(event::kTrack):
          event.track = message.get_uint64();
          break;
        case number_of(event::kNameId):
          event.name = sent(sequence.names, message.get_uint64());
          break;
        case number_of(event::kCategoryId):
          event.category = sent(sequence.categories, message.get_uint64());
          break;
        case bytes_of(event::kName):
          event.name = names_.id(text_of(message.get_view()));
          break;
        case bytes_of(event::kCategory):
          event.category = names_.id(text_of(message.get_view()));
          break;
        case bytes_of(event::kAnnotation):
          take_annotation(message.get_message(), sequence, event);
          break;
        default:
          message.skip();
      }
    }
    return event;
  }

  /// Takes the two annotations that a timeline needs.
  void take_annotation(pbf_reader message, const Sequence& sequence, Event& event) const {
    std::string_view name;
    std::uint64_t value = 0;
    while (message.next()) {
      if (message.tag_and_type() == number_of(annotation::kNameId)) {
        const auto found = sequence.annotations.find(message.get_uint64());
        if (found != sequence.annotations.end()) name = names_.name(found->second);
      } else if (message.tag_and_type() == bytes_of(annotation::kName)) {
        name = text_of(message.get_view());
      } else if (message.tag_and_type() == number_of(annotation::kUnsigned)) {
        value = message.get_uint64();
      } else {
        message.skip();
      }
    }
    if (name == "program") event.program = value;
    if (name == "trace") event.trace = value;
  }

  void take_event(const Event& event, std::uint64_t nanoseconds) {
    constexpr std::uint64_t kPicosecondsPerNanosecond = 1'000;
    if (event.type != event::kBegin && event.type != event::kEnd) return;
    const auto track = threads_.find(event.track);
    if (track == threads_.end()) return reject("an event of a track that is not described");
    if (nanoseconds >=
        static_cast<std::uint64_t>(kLatestTraceTime.ps()) / kPicosecondsPerNanosecond) {
      return reject("a time is out of range");
    }
    const SimTime time =
        SimTime::picoseconds(static_cast<std::int64_t>(nanoseconds * kPicosecondsPerNanosecond));
    TraceSpans::Thread& thread = found_.threads[track->second];
    if (event.type == event::kBegin) {
      thread.open.push_back({.thread = static_cast<std::uint32_t>(track->second),
                             .name = event.name,
                             .category = event.category,
                             .start = time,
                             .program = event.program,
                             .trace = static_cast<std::uint32_t>(event.trace)});
      return;
    }
    const std::string_view reason = found_.end(thread, time, dropped_);
    if (!reason.empty()) reject(reason);
  }

  NameTable& names_;
  DroppedRows& dropped_;
  TraceSpans found_;
  std::map<std::uint64_t, Sequence> sequences_;
  std::unordered_map<std::uint64_t, std::size_t> processes_, threads_;  ///< Keys are uuids.
  std::uint64_t number_ = 0;
};

}  // namespace

bool is_perfetto_trace(std::string_view beginning) {
  const auto is_control = [](char c) {
    return (c >= '\0' && c < ' ' && c != '\t' && c != '\n' && c != '\r');
  };
  if (std::ranges::none_of(beginning, is_control)) return false;  // then it is a text
  try {
    while (!beginning.empty()) {
      const std::optional<PacketPlace> place = next_packet(beginning);
      if (!place) return true;
      pbf_reader packet(beginning.data() + place->begin,
                        std::min(place->size, beginning.size() - place->begin));
      if (!packet.next()) return false;
      if (place->size > beginning.size() - place->begin) return true;
      beginning.remove_prefix(place->begin + place->size);
    }
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

ReadTrace read_perfetto_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                               std::vector<std::string>& notes) {
  NameTable names;
  Packets packets(source);
  PacketReader reader(names, dropped);
  while (const auto packet = packets.next()) reader.take(*packet);
  if (reader.found().spans.empty()) {
    throw Error(
        {.attempted = fmt::format("read {} as a Perfetto trace", name),
         .value = packets.failure().value_or("it has no spans"),
         .accepted = "track events that begin and end, as --trace FILE.pftrace writes them"});
  }
  if (packets.failure()) notes.push_back("the trace breaks off: " + *packets.failure());
  return reader.found().assemble(std::move(names), dropped);
}

Log read_perfetto_trace(ByteSource& source, std::string_view name) {
  Log log;
  ReadTrace trace = read_perfetto_events(source, name, log.dropped, log.notes);
  return log_of(std::move(trace), std::move(log));
}

}  // namespace howard::profiler
