// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/csv_reader.h"

namespace howard::profiler {

bool CsvReader::next() {
  while (true) {
    if (next_ == block_.records.size()) {
      next_ = 0;
      if (!blocks_.next(block_)) return false;
    }
    record_ = block_.records[next_++];
    fields_.clear();
    if (record_.defect) return true;
    split_.read(block_, record_);
    if (split_.is_empty_line()) continue;
    for (std::size_t i = 0; i < split_.size(); ++i) fields_.push_back(split_[i]);
    return true;
  }
}

}  // namespace howard::profiler
