// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/ttnn_module.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/file.h"
#include "engines/workload/ttnn_module.h"
#include "engines/workload/workload_json.h"
#include "reports/tables/format.h"

namespace howard::cli {

void record_ttnn_module(const std::filesystem::path& module,
                        const std::filesystem::path& workload) {
  workload::ModuleNotes notes;
  const workload::Workload made =
      workload::workload_of_module(read_file(module), module.filename().string(), notes);
  write_file(workload, workload::to_json(made));
  fmt::print(stderr, "{}: {}, of which {} run on the chip and {} take no time\n", module.string(),
             reports::counted(static_cast<std::size_t>(notes.ops), "op"), notes.launched,
             notes.free);
  if (notes.left_out.empty()) return;
  std::string names;
  std::int64_t count = 0;
  for (const auto& [name, times] : notes.left_out) {
    names += fmt::format("{}{} x {}", names.empty() ? "" : ", ", name, times);
    count += times;
  }
  fmt::print(stderr, "left out, {:.0f} % of the ops: {}\n",
             100.0 * static_cast<double>(count) / static_cast<double>(notes.ops), names);
}

}  // namespace howard::cli
