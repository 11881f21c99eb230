// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engines/language/text_reader.h"
#include "engines/mesh/communicator.h"

namespace howard::training {

/// Reads with a model that several ranks have in parts. All ranks call logits() with the same text,
/// and all get the same numbers.
class SharedReader final : public language::TextReader {
 public:
  /// `own` does a rank's part of the pass. It returns the logits on rank `last`, and nothing on the
  /// others. `ranks` must outlive the reader.
  SharedReader(mesh::Communicator& ranks, int last,
               std::function<std::vector<float>(std::span<const std::uint32_t> text)> own);

  std::vector<float> logits(std::span<const std::uint32_t> text) override;

 private:
  mesh::Communicator& ranks_;
  int last_;
  std::function<std::vector<float>(std::span<const std::uint32_t>)> own_;
};

}  // namespace howard::training
