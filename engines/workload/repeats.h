// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_node.h"

namespace howard::workload {

/// A list with repeats has no more rows than this, however often they come.
inline constexpr std::int64_t kMostRepeatedRows = 10'000'000;

/// Writes a list of rows, each a JSON list of words and whole numbers from 0. Rows that come three
/// times or more, with numbers that move on evenly, are said once:
/// {"repeat":12,"of":[["make","40+22"]]} makes 40, 62, 84 and so on. A repeat has a line of its
/// own.
std::string rows_text(const std::vector<std::string>& rows);

/// Reads such lists. A list without repeats is one, too.
class RowReader {
 public:
  /// Calls `read` with the node of each row, as often as the row comes. Fails for too many of
  /// them.
  template <class Read>
  void each(const JsonNode& list, const Read& read) {
    std::int64_t rows = 0;
    for (const JsonNode& item : list.items()) {
      const bool repeats = item.has("repeat");
      const std::vector<JsonNode> of =
          repeats ? item.member("of").items() : std::vector<JsonNode>{item};
      const std::int64_t times = repeats ? item.member("repeat").integer(1, kMostRepeatedRows) : 1;
      rows += times * static_cast<std::int64_t>(of.size());
      if (repeats && rows > kMostRepeatedRows) item.fail("10 million rows at most: it is too long");
      for (turn_ = 0; turn_ < times; ++turn_) {
        for (const JsonNode& row : of) read(row);
      }
    }
    turn_ = 0;
  }

  /// Returns a number of the row that is read, from 0 to `most`.
  std::int64_t number(const JsonNode& node, std::int64_t most) const;

 private:
  std::int64_t turn_ = 0;
};

}  // namespace howard::workload
