// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace howard::reports {

/// Appends a line of a CSV: the fields, in quotes if RFC 4180 needs them, and LF.
void append_csv_row(std::string& text, const std::vector<std::string>& fields);

}  // namespace howard::reports
