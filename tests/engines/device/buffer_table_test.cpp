// SPDX-License-Identifier: Apache-2.0
#include "engines/device/buffer_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>

namespace howard {
namespace {

using Entries = std::map<BufferId, int>;

Entries entries_of(const BufferTable<int>& table) {
  Entries entries;
  BufferId last{};
  table.for_each([&](BufferId buffer, int value) {
    EXPECT_GT(buffer, last) << "in rising order";
    last = buffer;
    entries.emplace(buffer, value);
  });
  return entries;
}

TEST(BufferTable, HoldsWhatAMapHolds) {
  BufferTable<int> table;
  Entries expected;
  std::mt19937 random(1);
  std::uint64_t next = 1;
  for (int i = 0; i < 2000; ++i) {
    const bool shrinks = random() % 3 < (i < 1000 ? 1U : 2U);
    if (shrinks) {
      const BufferId buffer{random() % next};
      table.remove(buffer);
      expected.erase(buffer);
    } else {
      next += 1 + random() % 2;
      EXPECT_EQ(table.add(BufferId{next}, i), i);
      expected.emplace(BufferId{next}, i);
    }
    const BufferId asked{random() % (next + 1)};
    const int* const found = table.find(asked);
    EXPECT_EQ(found == nullptr ? -1 : *found, expected.contains(asked) ? expected.at(asked) : -1);
  }
  EXPECT_EQ(entries_of(table), expected);
  while (!expected.empty()) {
    table.remove(expected.begin()->first);
    expected.erase(expected.begin());
  }
  EXPECT_EQ(entries_of(table), Entries());
}

TEST(BufferTable, LetsAValueGoWhenItIsRemoved) {
  BufferTable<std::shared_ptr<int>> table;
  const auto value = std::make_shared<int>(1);
  table.add(BufferId{1}, value);
  for (std::uint64_t i = 2; i < 10; ++i) table.add(BufferId{i}, nullptr);
  table.remove(BufferId{1});
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace howard
