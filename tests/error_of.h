// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.h"

namespace howard {

/// Returns the parts of the Error that `action` throws; all are empty if it throws none.
template <class Action>
ErrorText error_parts_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.text();
  }
  return {};
}

/// Returns what the Error that `action` throws says; "" if it throws none.
template <class Action>
std::string error_of(const Action& action) {
  const ErrorText parts = error_parts_of(action);
  return parts.attempted.empty() ? "" : Error(parts).what();
}

}  // namespace howard
