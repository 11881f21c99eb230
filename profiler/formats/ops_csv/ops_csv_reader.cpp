// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/ops_csv_reader.h"

#include <oneapi/tbb/parallel_pipeline.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "profiler/formats/ops_csv/ops_timeline.h"

namespace howard::profiler {
namespace {

/// Holds some rows of a file while they pass through its readers.
struct OpsBlock {
  CsvBlock csv;
  CsvFields fields;
  std::vector<OpsRecord> records;  ///< Those beyond `size` are stale.
  std::size_t size = 0;
};

/// Reads the names of the columns from the first record that is not an empty line.
OpsColumns read_header(CsvBlockReader& reader, std::string_view name) {
  CsvBlock block;
  CsvFields fields;
  while (reader.next(block, 1)) {
    const CsvRecord& record = block.records.front();
    if (record.defect) return {{}, record.line, name};
    fields.read(block, record);
    if (fields.is_empty_line()) continue;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < fields.size(); ++i) names.push_back(fields[i]);
    return {names, record.line, name};
  }
  return {{}, std::nullopt, name};
}

void read_records(const OpsColumns& columns, Tensors tensors, OpsBlock& block) {
  block.records.resize(std::max(block.records.size(), block.csv.records.size()));
  block.size = 0;
  for (const CsvRecord& record : block.csv.records) {
    if (!record.defect) block.fields.read(block.csv, record);
    if (!record.defect && block.fields.is_empty_line()) continue;
    columns.read(record, block.fields, tensors, block.records[block.size++]);
  }
}

}  // namespace

bool for_each_op_row(ByteSource& source, std::string_view name, Tensors tensors,
                     DroppedRows& dropped, const std::function<void(const OpRow&)>& take,
                     const std::function<void(const OpsFileKnows&)>& begin, const ToldCalls* told) {
  CsvBlockReader reader(source);
  const OpsColumns columns = read_header(reader, name);
  begin(columns.knows());
  bool starts_file = false;
  bool cut_off = false;
  const auto take_block = [&](OpsBlock& block) {
    for (OpsRecord& record : std::span(block.records).first(block.size)) {
      switch (record.kind) {
        case OpsRecord::Kind::row:
          record.row.starts_file = starts_file;
          starts_file = false;
          if (told != nullptr) told->tell(tensors, record.row);
          take(record.row);
          break;
        case OpsRecord::Kind::header:
          starts_file = true;
          break;
        case OpsRecord::Kind::dropped:
          dropped.add_of(record.row.name, record.reason, record.row.line, record.example);
          cut_off = record.cut_off;
          break;
      }
    }
  };
  // Blocks come out in the order in which they went in. So when a block goes in, the one that went
  // in `blocks.size()` before it is gone.
  std::array<OpsBlock, 6> blocks;
  for (OpsBlock& block : blocks) block.fields = CsvFields(columns.wanted(tensors));
  std::size_t next = 0;
  using tbb::filter_mode;
  tbb::parallel_pipeline(
      blocks.size(),
      tbb::make_filter<void, OpsBlock*>(filter_mode::serial_in_order,
                                        [&](tbb::flow_control& control) -> OpsBlock* {
                                          OpsBlock& block = blocks[next++ % blocks.size()];
                                          if (!reader.next(block.csv)) control.stop();
                                          return &block;
                                        }) &
          tbb::make_filter<OpsBlock*, OpsBlock*>(filter_mode::parallel,
                                                 [&](OpsBlock* block) {
                                                   read_records(columns, tensors, *block);
                                                   return block;
                                                 }) &
          tbb::make_filter<OpsBlock*, void>(filter_mode::serial_in_order,
                                            [&](OpsBlock* block) { take_block(*block); }));
  return cut_off;
}

Log read_ops_csv(ByteSource& source, std::string_view name, const ReadOptions& options) {
  Log log;
  std::optional<OpsTimelineBuilder> builder;
  const bool cut_off = for_each_op_row(
      source, name, options.tensors, log.dropped, [&](const OpRow& row) { builder->add(row); },
      [&](const OpsFileKnows& knows) { builder.emplace(log, knows, options); }, options.told);
  builder->end_run();
  builder->end_log();
  if (cut_off) log.notes.emplace_back("the file ends within a row");
  return log;
}

}  // namespace howard::profiler
