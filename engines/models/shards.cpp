// SPDX-License-Identifier: Apache-2.0
#include "engines/models/shards.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace howard::models {
namespace {

using Along = Split::Along;

/// Says how a parameter is divided, by the end of its name; any other parameter is on each device.
constexpr std::array<std::pair<std::string_view, Split>, 14> kSplits{{
    {"attention/q_linear/weight", {Along::rows}},
    {"attention/kv_linear/weight", {Along::rows, 2}},
    {"attention/out_linear/weight", {Along::columns}},
    {"mlp/w1/weight", {Along::rows}},
    {"mlp/w3/weight", {Along::rows}},
    {"mlp/w2/weight", {Along::columns}},
    {"llama/fc/weight", {Along::rows}},
    {".query_key_value.weight", {Along::rows, 3}},
    {".query_key_value.bias", {Along::columns, 3}},
    {".output.weight", {Along::columns}},
    {".expand.weight", {Along::rows}},
    {".expand.bias", {Along::columns}},
    {".contract.weight", {Along::columns}},
    {"head.weight", {Along::rows}},
}};

/// Calls visit(place in the whole, place in the share, count) for each run of values.
template <class Visit>
void for_each_run(std::int64_t rows, std::int64_t columns, const Split& split, int devices,
                  int place, Visit&& visit) {
  if (split.along == Along::nothing) return visit(std::int64_t{0}, std::int64_t{0}, rows * columns);
  // If split by rows, a section is one run; if by columns, each row has a run of each section.
  const bool by_rows = split.along == Along::rows;
  const std::int64_t outer = by_rows ? 1 : rows;
  const std::int64_t line = by_rows ? rows * columns : columns;
  const std::int64_t section = line / split.sections;
  const std::int64_t run = section / devices;
  HOWARD_CHECK(run * devices * split.sections == line, "devices divide what they share");
  for (std::int64_t i = 0; i < outer * split.sections; ++i) {
    visit(i * section + place * run, i * run, run);
  }
}

}  // namespace

Split split_of(std::string_view parameter, bool divided_table) {
  if (divided_table && parameter == "llama/tok_emb/weight") return {Along::columns};
  const auto found = std::ranges::find_if(
      kSplits, [&](const auto& split) { return parameter.ends_with(split.first); });
  return found == kSplits.end() ? Split{} : found->second;
}

std::vector<float> share_of(std::span<const float> whole, std::int64_t rows, std::int64_t columns,
                            const Split& split, int devices, int place) {
  const auto shares = split.along == Along::nothing ? 1 : devices;
  std::vector<float> share(static_cast<std::size_t>(rows * columns / shares));
  for_each_run(rows, columns, split, devices, place,
               [&](std::int64_t from, std::int64_t to, std::int64_t count) {
                 std::copy_n(whole.begin() + from, count, share.begin() + to);
               });
  return share;
}

void join_share(std::span<const float> share, std::int64_t rows, std::int64_t columns,
                const Split& split, int devices, int place, std::span<float> whole) {
  for_each_run(rows, columns, split, devices, place,
               [&](std::int64_t to, std::int64_t from, std::int64_t count) {
                 std::copy_n(share.begin() + from, count, whole.begin() + to);
               });
}

}  // namespace howard::models
