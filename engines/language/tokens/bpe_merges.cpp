// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/bpe_merges.h"

#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace howard::language {
namespace {

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
  return std::uint64_t{left} << 32U | right;
}

/// A pair that may be merged. It is out of date when one of its tokens has become another.
struct Candidate {
  std::uint32_t rank = 0;
  std::size_t place = 0;  ///< The place of the left token.
  std::uint32_t left = 0, right = 0, merged = 0;

  friend bool operator>(const Candidate& a, const Candidate& b) {
    return std::tie(a.rank, a.place) > std::tie(b.rank, b.place);
  }
};

constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool BpeMerges::add(std::uint32_t left, std::uint32_t right, std::uint32_t merged) {
  const auto rank = static_cast<std::uint32_t>(merges_.size());
  return merges_.try_emplace(pair_key(left, right), Merge{rank, merged}).second;
}

std::optional<BpeMerges::Merge> BpeMerges::find(std::uint32_t left, std::uint32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint32_t> BpeMerges::merged(std::vector<std::uint32_t> tokens) const {
  const std::size_t count = tokens.size();
  if (count < 2) return tokens;
  // Holds the neighbours that are left; a token that was merged into another is kGone.
  std::vector<std::size_t> next(count);
  std::vector<std::size_t> before(count);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::size_t place) {
    if (place >= count || next[place] >= count) return;
    const std::uint32_t left = tokens[place];
    const std::uint32_t right = tokens[next[place]];
    if (const auto merge = find(left, right)) {
      queue.push({merge->rank, place, left, right, merge->merged});
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    before[i] = i == 0 ? count : i - 1;
  }
  for (std::size_t i = 0; i + 1 < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const std::size_t right = next[best.place];
    if (tokens[best.place] != best.left || right >= count || tokens[right] != best.right) continue;
    tokens[best.place] = best.merged;
    tokens[right] = kGone;
    next[best.place] = next[right];
    if (next[right] < count) before[next[right]] = best.place;
    offer(before[best.place]);
    offer(best.place);
  }
  std::erase(tokens, kGone);
  return tokens;
}

}  // namespace howard::language
