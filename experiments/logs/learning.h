// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engines/chip/calibration/card_fit.h"
#include "engines/chip/profiles/card.h"
#include "engines/chip/profiles/profile.h"
#include "reports/tables/table.h"

namespace howard::experiments {

/// What logs of a card taught.
struct Learnt {
  chip::Card card;
  std::vector<calibration::UnseenKind> unseen;  ///< What it does for calls that it has not seen.
  /// Programs of the logs that the card does not hold, by why: the emulator does not have them,
  /// another op stands for them, or their time alone tells their position.
  std::map<std::string, std::uint64_t> left;
  std::vector<std::string> notes;  ///< Of the logs: "a.csv: the file ends within a row".
};

/// Learns from ops_perf_results logs of one card, and from cards of former logs (files of kind
/// "card"), which stay part of it. `choice` says the chip and the software; without a chip it is
/// the logs' own. Throws Error for files that are no such logs, for those of unlike chips, for a
/// log that a given card already has, and when no call was learnt.
Learnt learn(const std::vector<std::string>& files, chip::ProfileChoice choice);

/// Returns the card by kind: calls, runs, time, how far the emulator was from calls that it had not
/// seen without the card and with it, and what the card says of such calls.
reports::Table learnt_table(const Learnt& learnt);

/// Returns what was gained in a few lines: of calls that ran, and of others of their kinds.
std::vector<std::string> learnt_lines(const Learnt& learnt);

}  // namespace howard::experiments
