// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/ops_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::profiler {
namespace {

/// This bit is set in the section of an op that is a mark; the rest is the number of what it says.
constexpr NameId kMarker = NameId{1} << 31;

/// Returns what TTML's mark of the end of a phase says; empty for any other row.
std::string_view marker_of(const OpRow& row) {
  if (row.name != "ProfilerNoopOperation") return {};
  constexpr std::string_view kKey = "'identifier': '";
  const std::size_t at = row.attributes.find(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = row.attributes.substr(at + kKey.size());
  return rest.substr(0, rest.find('\''));
}

/// Returns the phase that a mark ends: forward_pass for "forward_pass_done", iteration for
/// "iteration_12".
std::string phase_of(std::string_view marker) {
  constexpr std::string_view kDone = "_done";
  if (marker.ends_with(kDone)) marker.remove_suffix(kDone.size());
  const std::size_t digits = marker.find_last_not_of("0123456789");
  const bool numbered = digits != std::string_view::npos && digits + 1 < marker.size() &&
                        marker[digits] == '_' && digits > 0;
  return std::string(numbered ? marker.substr(0, digits) : marker);
}

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Says whether a name speaks of runs that only prepare those that count.
bool is_warmup(std::string_view lower) {
  constexpr std::array<std::string_view, 2> kWords{"warm", "compil"};
  return has_any(lower, kWords);
}

/// Says whether it speaks of their end, so that what follows counts.
bool ends_it(std::string_view lower) {
  constexpr std::array<std::string_view, 6> kWords{"end",      "done", "finish",
                                                   "complete", "stop", "after"};
  return has_any(lower, kWords);
}

/// Returns a text without the first of some endings that it has; absent if it has none.
std::optional<std::string> without_ending(std::string_view text,
                                          std::span<const std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    while (text.ends_with('_') || text.ends_with('-') || text.ends_with(' ')) text.remove_suffix(1);
    return std::string(text);
  }
  return std::nullopt;
}

/// Returns of what a signpost is the end: "decode" of "decode_end", "" of "stop".
std::optional<std::string> ended_by(std::string_view lower) {
  constexpr std::array<std::string_view, 2> kEnds{"end", "stop"};
  return without_ending(lower, kEnds);
}

/// Returns of what a signpost is the beginning: "decode" of "decode" and "decode_start", "" of
/// "start".
std::string begun_by(std::string_view lower) {
  constexpr std::array<std::string_view, 2> kBegins{"start", "begin"};
  return without_ending(lower, kBegins).value_or(std::string(lower));
}

}  // namespace

OpsSections::OpsSections(const LogRange& range)
    : range_(range), from_call_(parse_integer(range.from)), to_call_(parse_integer(range.to)) {}

void OpsSections::add_signpost(const OpRow& row) {
  sections_.push_back({std::string(row.name), row.host_start.value_or(LoggedOp::kNoHost)});
}

bool OpsSections::is_before(const OpRow& row) const {
  return from_call_ && row.call && *row.call < *from_call_;
}

bool OpsSections::wants(const OpRow& row) {
  if (!from_call_ && !to_call_) return true;
  if (!row.call) return false;
  least_call_ = std::min(*row.call, least_call_.value_or(*row.call));
  most_call_ = std::max(*row.call, most_call_.value_or(*row.call));
  const bool wanted =
      (!from_call_ || *row.call >= *from_call_) && (!to_call_ || *row.call < *to_call_);
  any_call_ = any_call_ || wanted;
  return wanted;
}

NameId OpsSections::section_of(const OpRow& row) {
  const std::string_view marker = marker_of(row);
  if (marker.empty()) return static_cast<NameId>(sections_.size());
  const std::string phase = phase_of(marker);
  auto found = std::ranges::find(markers_, phase);
  if (found == markers_.end()) found = markers_.insert(markers_.end(), phase);
  return kMarker | static_cast<NameId>(found - markers_.begin());
}

/// Finds sections by when the host made the signposts and the calls; returns false when not all
/// tell.
bool OpsSections::find_by_time(std::span<LoggedOps* const> devices) {
  const auto has_time = [](const auto& one) { return one.host_start != LoggedOp::kNoHost; };
  if (!std::ranges::all_of(sections_, has_time)) return false;
  for (const LoggedOps* const ops : devices) {
    for (const std::vector<LoggedOp>& piece : *ops) {
      if (!std::ranges::all_of(piece, has_time)) return false;
    }
  }
  std::ranges::stable_sort(sections_, {}, &Section::host_start);
  for (LoggedOps* const ops : devices) {
    for (std::vector<LoggedOp>& piece : *ops) {
      for (LoggedOp& op : piece) {
        const auto next =
            std::ranges::upper_bound(sections_, op.host_start, {}, &Section::host_start);
        op.section = static_cast<NameId>(next - sections_.begin());
      }
    }
  }
  return true;
}

/// Finds sections by marks, which end a phase: each op is of the phase that the next mark of its
/// device names.
void OpsSections::find_by_markers(LoggedOps& ops) {
  constexpr NameId kNone = ~NameId{0};
  std::vector<NameId> phases;  // one for each op, the last op first
  NameId phase = kNone;
  for (auto piece = ops.rbegin(); piece != ops.rend(); ++piece) {
    for (auto op = piece->rbegin(); op != piece->rend(); ++op) {
      if ((op->section & kMarker) != 0) phase = op->section & ~kMarker;
      phases.push_back(phase);
    }
  }
  auto of_op = phases.rbegin();
  NameId last = kNone - 1;
  for (std::vector<LoggedOp>& piece : ops) {
    for (LoggedOp& op : piece) {
      if (*of_op != last) {
        last = *of_op;
        sections_.push_back(
            {last == kNone ? "(after the last mark)" : markers_[last], LoggedOp::kNoHost});
      }
      ++of_op;
      op.section = static_cast<NameId>(sections_.size());
    }
  }
}

bool OpsSections::Kept::is_all() const {
  return std::ranges::find(sections, false) == sections.end();
}

/// Leaves out what is up to the last section that says it is warm-up, or before the one that says
/// it is over.
OpsSections::Kept OpsSections::without_warmup() const {
  Kept kept{std::vector<bool>(sections_.size() + 1, true), ""};
  for (NameId i = 1; i <= sections_.size(); ++i) {
    const std::string& name = sections_[i - 1].name;
    const std::string lower = lower_case(name);
    if (!is_warmup(lower)) continue;
    const bool over = !by_markers_ && ends_it(lower);
    std::fill_n(kept.sections.begin(), over ? i : i + 1, false);
    kept.reason = fmt::format("as warm-up, {} '{}'",
                              over ? "before signpost" : "up to the end of section", name);
  }
  return kept;
}

/// Keeps what lies between signposts that begin and end one thing, if there are any.
OpsSections::Kept OpsSections::measured() const {
  Kept kept{std::vector<bool>(sections_.size() + 1, false), ""};
  for (NameId end = 1; !by_markers_ && end <= sections_.size(); ++end) {
    const std::optional<std::string> thing = ended_by(lower_case(sections_[end - 1].name));
    if (!thing || is_warmup(*thing)) continue;
    for (NameId begin = end - 1; begin >= 1; --begin) {
      if (begun_by(lower_case(sections_[begin - 1].name)) != *thing) continue;
      std::fill(kept.sections.begin() + begin, kept.sections.begin() + end, true);
      kept.reason += fmt::format("{} '{}' to '{}'", kept.reason.empty() ? "outside of" : ",",
                                 sections_[begin - 1].name, sections_[end - 1].name);
      break;
    }
  }
  return kept;
}

OpsSections::Kept OpsSections::kept_by_names() const {
  Kept kept = without_warmup();
  const Kept inside = measured();
  if (inside.reason.empty()) return kept;
  for (std::size_t i = 0; i < kept.sections.size(); ++i) {
    kept.sections[i] = kept.sections[i] && inside.sections[i];
  }
  kept.reason = inside.reason;
  return kept;
}

std::optional<OpsSections::Kept> OpsSections::kept() {
  if (range_.is_whole() && !range_.with_warmup) return kept_by_names();
  const std::size_t count = sections_.size();
  std::size_t first = 0, last = count;
  const auto find = [&](const std::string& name, std::size_t from) {
    for (std::size_t i = from; i <= count; ++i) {
      if (sections_[i - 1].name == name) return i;
    }
    return std::size_t{0};
  };
  if (!range_.from.empty() && !from_call_) {
    first = find(range_.from, 1);
    if (first == 0) return std::nullopt;
    found_from_ = true;
  }
  if (!range_.to.empty() && !to_call_) {
    const std::size_t end = find(range_.to, first + 1);
    if (end == 0) return std::nullopt;
    found_to_ = true;
    last = end - 1;
  }
  Kept kept{std::vector<bool>(count + 1, false), ""};
  for (std::size_t i = first; i <= last; ++i) kept.sections[i] = true;
  return kept;
}

void OpsSections::assign(std::span<LoggedOps* const> devices, bool as_in_file,
                         std::vector<std::string>& notes) {
  by_markers_ = !markers_.empty();
  if (by_markers_) {
    sections_.clear();
    for (LoggedOps* const ops : devices) find_by_markers(*ops);
  } else if (!as_in_file && !sections_.empty() && !find_by_time(devices)) {
    notes.emplace_back(
        "rows are not in the order in which they ran, and not all have a HOST START TS: which "
        "section an op belongs to is not known");
    sections_.clear();
    for (LoggedOps* const ops : devices) {
      for (std::vector<LoggedOp>& piece : *ops) {
        for (LoggedOp& op : piece) op.section = 0;
      }
    }
  }
  constexpr std::size_t kMostSeen = 20;
  for (const Section& section : sections_) {
    const bool seen = std::ranges::find(seen_, section.name) != seen_.end();
    if (!seen && seen_.size() < kMostSeen) seen_.push_back(section.name);
  }
  const std::optional<Kept> keep = kept();
  if (keep && keep->is_all()) return;
  std::size_t total = 0, removed = 0;
  const auto is_out = [&](const LoggedOp& op) { return !keep || !keep->sections[op.section]; };
  for (const LoggedOps* const ops : devices) {
    for (const std::vector<LoggedOp>& piece : *ops) {
      total += piece.size();
      removed += static_cast<std::size_t>(std::ranges::count_if(piece, is_out));
    }
  }
  const bool by_names = keep && !keep->reason.empty();
  if (removed == 0 || (by_names && removed == total)) return;
  for (LoggedOps* const ops : devices) {
    std::set<std::pair<std::uint32_t, NameId>> seen;
    for (std::vector<LoggedOp>& piece : *ops) {
      for (LoggedOp& op : piece) {
        if (is_out(op)) {
          seen.emplace(op.call, op.name);
        } else {
          op.ran_before = op.ran_before || seen.contains({op.call, op.name});
        }
      }
      std::erase_if(piece, is_out);
    }
  }
  if (!keep) notes.emplace_back("a run without the signposts of --from and --to is left out");
  if (by_names) {
    notes.push_back(fmt::format("left out {} of {} programs {}; --all takes them too", removed,
                                total, keep->reason));
  }
}

std::string_view OpsSections::name(NameId section) const {
  return section == 0 || section > sections_.size() ? std::string_view{}
                                                    : std::string_view(sections_[section - 1].name);
}

void OpsSections::begin_run() {
  sections_.clear();
  markers_.clear();
}

void OpsSections::require_range() const {
  if ((from_call_ || to_call_) && !any_call_) {
    throw Error({.attempted = fmt::format("take the part of the log{}{}",
                                          from_call_ ? " from call " + range_.from : "",
                                          to_call_ ? " up to call " + range_.to : ""),
                 .value = "no program's GLOBAL CALL COUNT lies there",
                 .accepted = least_call_
                                 ? fmt::format("the log has {} to {}", *least_call_, *most_call_)
                                 : "the log has no GLOBAL CALL COUNT; signposts"});
  }
  const bool lacks_from = !range_.from.empty() && !from_call_ && !found_from_;
  const bool lacks_to = !range_.to.empty() && !to_call_ && !found_to_;
  if (!lacks_from && !lacks_to) return;
  const std::string& name = lacks_from ? range_.from : range_.to;
  throw Error({.attempted = fmt::format("take the part of the log {} '{}'",
                                        lacks_from ? "from" : "up to", name),
               .value = lacks_from || range_.from.empty()
                            ? "no signpost or section has that name"
                            : fmt::format("none of that name follows '{}'", range_.from),
               .accepted = seen_.empty() ? "a GLOBAL CALL COUNT, as the log has no signposts"
                                         : join(seen_, ", ") + ", or a GLOBAL CALL COUNT",
               .hint = closest(name, seen_).value_or("")});
}

}  // namespace howard::profiler
