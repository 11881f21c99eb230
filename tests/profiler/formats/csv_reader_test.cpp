// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/csv_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/csv_writer.h"
#include "profiler/formats/csv/csv_fields.h"

namespace howard::profiler {
namespace {

using Records = std::vector<std::vector<std::string>>;

/// Hands out a few bytes at a time, so that every boundary falls everywhere.
class SlowSource final : public ByteSource {
 public:
  SlowSource(std::string_view text, std::size_t step) : text_(text), step_(step) {}
  std::size_t read(std::span<char> buffer) override {
    return text_.read(buffer.first(std::min(step_, buffer.size())));
  }

 private:
  TextBytes text_;
  std::size_t step_;
};

/// Returns the good records, and bad ones as {"!", reason}.
Records read(ByteSource& source) {
  CsvReader csv(source);
  Records records;
  while (csv.next()) {
    if (csv.defect()) {
      records.push_back({"!", std::string(*csv.defect())});
    } else {
      records.emplace_back(csv.fields().begin(), csv.fields().end());
    }
  }
  return records;
}

Records read(std::string_view text) {
  TextBytes source(text);
  return read(source);
}

TEST(CsvReader, FieldsAreSeparatedByCommasAndRecordsByLineBreaks) {
  EXPECT_EQ(read("a,b\nc,,d\n"), (Records{{"a", "b"}, {"c", "", "d"}}));
  EXPECT_EQ(read("a,\n,b"), (Records{{"a", ""}, {"", "b"}}));
}

TEST(CsvReader, LinesEndWithLfOrCrLfAndTheLastOneNeedsNoEnd) {
  EXPECT_EQ(read("a,b\r\nc\r\n\"d\"\r\ne"), (Records{{"a", "b"}, {"c"}, {"d"}, {"e"}}));
}

TEST(CsvReader, QuotedFieldsHoldCommasQuotesAndLineBreaks) {
  EXPECT_EQ(read("\"a,\"\"b\"\"\",\"c\r\nd\"\ne\n"), (Records{{"a,\"b\"", "c\r\nd"}, {"e"}}));
  EXPECT_EQ(read("\"\",\"\"\"\"\n"), (Records{{"", "\""}}));
}

TEST(CsvReader, AQuoteWithinAnUnquotedFieldIsText) {
  EXPECT_EQ(read("a\"b,c\"\n"), (Records{{"a\"b", "c\""}}));
}

TEST(CsvReader, AByteOrderMarkAndEmptyLinesAreSkipped) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a\n\n\r\nb\n"),
            (Records{{"a"}, {"b"}}));
  EXPECT_EQ(read(""), Records());
  EXPECT_EQ(read("\n\n"), Records());
}

TEST(CsvReader, ABadRecordCostsItsLineOnly) {
  EXPECT_EQ(read("a\n\"b\"c,d\ne\n"), (Records{{"a"}, {"!", "text after a closing quote"}, {"e"}}));
  EXPECT_EQ(read("a\n\"b,c\nd\ne"),
            (Records{{"a"}, {"!", "a quote that is not closed"}, {"d"}, {"e"}}));
}

TEST(CsvReader, ARecordKnowsTheLineItBeginsIn) {
  TextBytes source("a\n\"b\nc\"\n\nd\n\"e\nf\n");
  CsvReader csv(source);
  std::vector<std::uint64_t> lines;
  while (csv.next()) lines.push_back(csv.line());
  EXPECT_EQ(lines, (std::vector<std::uint64_t>{1, 2, 5, 6, 7}));
}

TEST(CsvReader, OnlyARecordThatTheFileEndsInIsCutOff) {
  TextBytes source("a\nb");
  CsvReader csv(source);
  ASSERT_TRUE(csv.next());
  EXPECT_FALSE(csv.is_cut_off());
  ASSERT_TRUE(csv.next());
  EXPECT_TRUE(csv.is_cut_off());
}

TEST(CsvReader, ALineLongerThanTheBufferIsBadAndTheNextIsRead) {
  const std::string text = "a\n" + std::string(3 * CsvBlockReader::kLongestRecord, 'x') + "\nb\n";
  EXPECT_EQ(read(text), (Records{{"a"}, {"!", "a line of over 1 MiB"}, {"b"}}));
}

TEST(CsvReader, AQuoteThatIsNotClosedWithinTheBufferIsBadAndTheNextLineIsRead) {
  std::string text = "\"a\n";
  while (text.size() < 2 * CsvBlockReader::kLongestRecord) text += "b,c\n";
  TextBytes source(text);
  const Records records = read(source);
  ASSERT_EQ(records.size(), static_cast<std::size_t>(std::ranges::count(text, '\n')));
  EXPECT_EQ(records[0], (std::vector<std::string>{"!", "a quote that is not closed in 1 MiB"}));
  EXPECT_EQ(records[1], (std::vector<std::string>{"b", "c"}));
}

Records random_records(std::mt19937& random) {
  const std::vector<std::string> pieces = {"a", "1.5", ",", "\"", "\n", "\r\n", " ", "[x; y]", "é"};
  Records records(1 + random() % 6);
  for (auto& record : records) {
    record.resize(2 + random() % 4);
    for (std::string& field : record) {
      for (auto i = random() % 4; i > 0; --i) field += pieces[random() % pieces.size()];
    }
  }
  return records;
}

TEST(CsvReader, WhateverIsWrittenReadsBackAtEveryChunkSize) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const Records records = random_records(random);
    CsvWriter writer;
    for (const auto& record : records) {
      for (const std::string& field : record) writer.add(std::string_view(field));
      writer.end_record();
    }
    const std::string text = writer.take();
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, text.size()}) {
      SlowSource source(text, step);
      ASSERT_EQ(read(source), records) << text;
    }
  }
}

TEST(CsvFields, ThoseThatAreWantedAreTheSameAsWhenAllAre) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    CsvWriter writer;
    const std::size_t width = 1 + random() % 300;
    for (std::size_t field = 0; field < width; ++field) {
      writer.add(std::string(random() % 9, random() % 50 > 0 ? 'a' : '"'));
    }
    writer.end_record();
    const std::string text = "x\n" + writer.take();
    std::vector<std::size_t> wanted(random() % 6);
    for (std::size_t& field : wanted) field = random() % (width + 10);
    const auto read_fields = [&](CsvFields& fields, CsvBlock& block) {
      TextBytes source(text);
      ASSERT_TRUE(CsvBlockReader(source).next(block));
      fields.read(block, block.records.at(1));
    };
    CsvBlock block, other;
    CsvFields all, some(wanted);
    read_fields(all, block);
    read_fields(some, other);
    ASSERT_EQ(all.size(), width);
    ASSERT_EQ(some.size(), width);
    for (const std::size_t field : wanted) {
      if (field >= width) continue;
      ASSERT_EQ(some[field], all[field]) << field;
    }
  }
}

}  // namespace
}  // namespace howard::profiler
