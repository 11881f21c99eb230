// SPDX-License-Identifier: Apache-2.0
#include "engines/host/host_options.h"

#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include "base/error.h"

namespace howard::host {

int thread_count(const HostOptions& options) {
  const int most = tbb::info::default_concurrency();
  if (options.threads < 0 || options.threads > most) {
    throw Error(
        {.attempted = "open the host device",
         .value = fmt::format("{} threads", options.threads),
         .accepted = fmt::format("1 to {}, what this process may use, or 0 for all", most)});
  }
  return options.threads == 0 ? most : options.threads;
}

}  // namespace howard::host
