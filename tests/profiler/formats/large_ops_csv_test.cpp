// SPDX-License-Identifier: Apache-2.0
//
// These tests read files of several blocks, which are read on all cores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

/// Returns the rows of a file as text: line, name, fidelity, cores, a first input's rows and data
/// type.
std::vector<std::string> rows(ByteSource& source, Tensors tensors, DroppedRows& dropped) {
  std::vector<std::string> texts;
  for_each_op_row(source, "ops.csv", tensors, dropped, [&](const OpRow& row) {
    texts.push_back(fmt::format("{} {} {} {}", row.line, row.name, row.fidelity, *row.cores));
    if (row.inputs.empty()) return;
    texts.back() += fmt::format(" {} {}", row.inputs[0].dimensions[2], row.inputs[0].datatype);
  });
  return texts;
}

std::vector<std::string> rows(std::string_view text, Tensors tensors) {
  TextBytes source(text);
  DroppedRows dropped;
  return rows(source, tensors, dropped);
}

TEST(OpsRows, CarryTensorsAndFidelity) {
  EXPECT_EQ(rows(kOpsCsv, Tensors::read),  // the first row contains a line break
            (std::vector<std::string>{"2 Matmul HiFi2 64 32[19] BFLOAT16", "4 Softmax  8",
                                      "5 Matmul HiFi4 64"}));
  EXPECT_EQ(rows(kOpsCsv, Tensors::skipped).front(), "2 Matmul HiFi2 64");
}

/// Gives rows without end, in the memory of one.
class EndlessRows final : public ByteSource {
 public:
  EndlessRows(std::string_view header, std::string_view row, std::size_t rows)
      : rest_(header), row_(row), rows_(rows) {}

  std::size_t read(std::span<char> buffer) override {
    std::size_t size = 0;
    while (size < buffer.size()) {
      if (rest_.empty() && rows_ > 0) {
        rest_ = row_;
        --rows_;
      }
      if (rest_.empty()) break;
      const std::size_t part = std::min(buffer.size() - size, rest_.size());
      std::ranges::copy(rest_.substr(0, part), buffer.begin() + static_cast<std::ptrdiff_t>(size));
      rest_.remove_prefix(part);
      size += part;
    }
    return size;
  }

 private:
  std::string_view rest_, row_;
  std::size_t rows_;
};

/// Hands out at most `step` bytes at a time, and fails after `limit` of them.
class PartialSource final : public ByteSource {
 public:
  PartialSource(std::string_view text, std::size_t step, std::size_t limit)
      : text_(text), step_(step), rest_(limit) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t size = text_.read(buffer.first(std::min(step_, buffer.size())));
    if (size > rest_) throw Error({.attempted = "read", .value = "no more"});
    rest_ -= size;
    return size;
  }

 private:
  TextBytes text_;
  std::size_t step_, rest_;
};

/// Returns the rows of the sample with `what` replaced in them.
std::string replaced(std::string_view what, std::string_view with) {
  return std::string(kOpsRows).replace(kOpsRows.find(what), what.size(), with);
}

/// Returns a file of some megabytes, with a defect of every kind in many places.
std::string large_damaged_csv() {
  const std::vector<std::string> damage = {"\"not closed,1\n",
                                           "\"closed\" twice,1\n",
                                           "Matmul,too,few\n",
                                           "\n",
                                           std::string(kOpsHeader),
                                           replaced("1010000", "x"),
                                           replaced("HiFi2", "\"Hi,\r\nFi\""),
                                           "\"" + std::string(400'000, 'a') + "\"\n"};
  std::mt19937 random(1);
  std::string text(kOpsHeader);
  while (text.size() < 3'000'000) {
    text += random() % 20 > 0 ? kOpsRows : damage[random() % damage.size()];
  }
  return text;
}

TEST(LargeOpsCsv, RowsAndDefectsAreTheSameHoweverMuchIsReadAtOnce) {
  constexpr std::size_t kAll = ~std::size_t{0};
  const std::string text = large_damaged_csv();
  const auto outcome = [&](std::size_t step) {
    PartialSource source(text, step, kAll);
    DroppedRows dropped;
    std::vector<std::string> found = rows(source, Tensors::read, dropped);
    for (const auto& reason : dropped.reasons()) found.push_back(describe(reason));
    return found;
  };
  const std::vector<std::string> expected = outcome(1 << 20);
  EXPECT_GT(expected.size(), 4'000U);
  const std::vector<std::size_t> steps = {70'000, 20'011, 9'001, 7'001, 5'003, 4'001, 3'001, 2'003};
  for (const std::size_t step : steps) {
    EXPECT_EQ(outcome(step), expected) << step;
  }
  // These are the first defects, whatever comes after them.
  const std::vector<std::string> first = rows(text.substr(0, 100'000), Tensors::read);
  ASSERT_GT(first.size(), 100U);
  EXPECT_TRUE(std::equal(first.begin(), first.end() - 1, expected.begin()));
}

TEST(LargeOpsCsv, RowsComeInTheOrderOfTheFileHoweverLongABlockTakes) {
  // The rows of the first block take some 10 ms, as each is dropped with a reason. Each block after
  // it holds one long row, which is read in a hundredth of that.
  std::string text = "OP CODE,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]\nfirst,1,2\n";
  while (text.size() < 250'000) text += "a,x,2\n";
  for (int i = 0; i < 10; ++i) text.append(250'000, 'a').append(",1,2\n");
  for (int i = 0; i < 10; ++i) {
    TextBytes source(text);
    DroppedRows dropped;
    std::vector<std::uint64_t> lines;
    for_each_op_row(source, "ops.csv", Tensors::skipped, dropped,
                    [&](const OpRow& row) { lines.push_back(row.line); });
    EXPECT_EQ(lines.size(), 11U);
    EXPECT_TRUE(std::ranges::is_sorted(lines));
  }
}

TEST(LargeOpsCsv, AFailureToReadEndsTheReading) {
  const std::string text = large_damaged_csv();
  PartialSource source(text, 1 << 16, 2'000'000);
  EXPECT_THROW(static_cast<void>(read_ops_csv(source, "ops.csv")), Error);
}

TEST(LargeOpsCsv, RowsBeyondWhatMemoryIsForAreCounted) {
  constexpr std::size_t kMore = 12'345;
  EndlessRows source("OP CODE,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]\n", "a,1,2\n",
                     kMostLoggedPrograms + kMore);
  const Log log = read_ops_csv(source, "large.csv");
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), kMostLoggedPrograms);
  EXPECT_EQ(log.dropped.count(), kMore);
  EXPECT_EQ(log.runs.at(0).timeline.losses, kMore);
}

}  // namespace
}  // namespace howard::profiler
