// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/contradictions.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace howard::chip {
namespace {

/// The Tensix cores of a chip before any is harvested (Tenstorrent ISA documentation).
struct Die {
  std::string_view architecture;
  CoreGrid cores;
};
constexpr std::array kDies{Die{"wormhole_b0", {8, 10}}, Die{"blackhole", {14, 10}}};

class Contradictions {
 public:
  explicit Contradictions(const ProfileConstants& constants) : constants_(constants) {}

  /// Refuses these constants unless `holds`, and says what they would have to be.
  void require(bool holds, std::initializer_list<std::string_view> names,
               std::string accepted) const {
    if (holds) return;
    std::vector<std::string> values;
    for (const std::string_view name : names) values.push_back(text_of(name));
    throw Contradiction(
        {.attempted = "read the constants of " + constants_.chip.name(),
         .value = join(values, " and ") + (values.size() > 1 ? " contradict each other" : ""),
         .accepted = std::move(accepted),
         .hint = fmt::format("another {}", fmt::join(names, " or "))});
  }

 private:
  /// Returns a constant with its value in the notation of the user: "dram.mixed=300GB/s".
  std::string text_of(std::string_view name) const {
    const bool of_chip = constants_.chip.contains(name);
    const Constant& constant = (of_chip ? constants_.chip : constants_.software).at(name);
    return fmt::format("{}={}{}", name, constant.value, constant.unit);
  }

  const ProfileConstants& constants_;
};

}  // namespace

void require_no_contradiction(const ProfileConstants& constants, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  const SoftwareProfile& software = profiles.software;
  const Contradictions check(constants);
  const std::pair<std::string_view, Bandwidth> rates[] = {
      {"dram.read.noc0", chip.dram_read_noc0},
      {"dram.read.noc1", chip.dram_read_noc1},
      {"dram.spread", chip.dram_spread},
      {"dram.write.noc0", chip.dram_write_noc0},
      {"dram.write.noc1", chip.dram_write_noc1}};
  for (const auto& [name, rate] : rates) {
    check.require(rate <= chip.dram_bandwidth, {name, "dram.bandwidth"},
                  "a rate that is no higher than the best of the DRAM");
  }
  for (const Die& die : kDies) {
    if (die.architecture != chip.architecture) continue;
    const std::string most =
        fmt::format("no more than the {}x{} cores of the die", die.cores.columns, die.cores.rows);
    check.require(chip.tensix.columns <= die.cores.columns, {"tensix.columns"}, most);
    check.require(chip.tensix.rows <= die.cores.rows, {"tensix.rows"}, most);
  }
  // The last row or column dispatches under WORKER.
  check.require(chip.worker_grid.rows > 0, {"tensix.rows"},
                "at least 2 rows: one dispatches, the others compute");
  check.require(chip.worker_grid.columns > 0, {"tensix.columns"},
                "at least 2 columns: one dispatches, the others compute");
  check.require(chip.eth_grid.rows <= chip.tensix.rows, {"grid.eth.rows", "tensix.rows"},
                "no more rows that compute than the chip has");
  check.require(chip.l1_circular_buffers > Bytes(),
                {"l1.firmware", "dispatch.configuration_ring", "l1.capacity"},
                "firmware and ring that leave some of the L1 to circular buffers");
  check.require(software.ttnn_binary_bytes <= software.dispatch.configuration_ring,
                {"ttnn.binary_bytes", "dispatch.configuration_ring"},
                "a ring that holds the binaries of a program");
  check.require(software.ttnn_matmul_binary_bytes <= software.dispatch.configuration_ring,
                {"ttnn.matmul_binary_bytes", "dispatch.configuration_ring"},
                "a ring that holds the binaries of a matrix product");
  check.require(software.trace_region < chip.dram_capacity, {"trace.region", "dram.capacity"},
                "a region for traces that leaves DRAM to tensors");
}

}  // namespace howard::chip
