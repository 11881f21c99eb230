// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

/// Stops the program with a message when `condition` is false. That is a bug in Howard, never bad
/// input (bad input throws `Error`). The check runs in every build type. `message` is a string
/// literal that states the broken invariant.
#define HOWARD_CHECK(condition, message)                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", __FILE__, __LINE__, (message), \
                   #condition);                                                               \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
