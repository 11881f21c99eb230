// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/link_variants.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/text.h"
#include "profiler/silicon/op_attributes.h"

namespace howard::profiler {

std::vector<LinkVariant> link_variants(std::string_view attributes) {
  constexpr std::int64_t kMostLinks = 8;  // of which there can be twice as many
  std::vector<LinkVariant> variants;
  const OpAttributes log(attributes);
  const auto told = log.find("num_links");
  const auto any = told ? told : log.anywhere("num_links");
  const std::int64_t links = any ? parse_integer(*any).value_or(0) : 1;
  if (links >= 1 && links <= kMostLinks && attributes.starts_with('{')) {
    std::string changed(attributes);
    const std::string more = fmt::format("'num_links': '{}'", 2 * links);
    const std::string old = told ? fmt::format("'num_links': '{}'", *told) : "";
    if (told) {
      changed.replace(changed.find(old), old.size(), more);
    } else {
      changed.insert(1, more + "; ");
    }
    variants.push_back({fmt::format("{} links instead of {}", 2 * links, links), changed});
  }
  constexpr std::string_view kLine = "Topology::Linear";
  if (const std::size_t at = attributes.find(kLine); at != std::string_view::npos) {
    std::string changed(attributes);
    changed.replace(at, kLine.size(), "Topology::Ring");
    variants.push_back({"a ring in place of a line, where the devices are wired so", changed});
  }
  return variants;
}

}  // namespace howard::profiler
