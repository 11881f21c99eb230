// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/events/timeline_event.h"
#include "profiler/event_recorder.h"

namespace howard::profiler {

/// Records events and also keeps what the programs are. It serves one thread's devices only: unlike
/// events, descriptions are not taken from several threads at once.
class ProgramRecorder final : public EventSink {
 public:
  void record(const TimelineEvent& event) override { recorder_.record(event); }
  bool wants_facts() const override { return true; }
  void describe(std::uint64_t program, const ProgramFacts& facts) override {
    programs_[program] = &*different_.insert(facts).first;
  }

  const EventRecorder& recorder() const { return recorder_; }
  /// Returns null if the device did not say.
  const ProgramFacts* facts(std::uint64_t program) const {
    const auto found = programs_.find(program);
    return found != programs_.end() ? found->second : nullptr;
  }

 private:
  EventRecorder recorder_;
  std::set<ProgramFacts> different_;  ///< There are few, because a run repeats its programs.
  std::map<std::uint64_t, const ProgramFacts*> programs_;
};

}  // namespace howard::profiler
