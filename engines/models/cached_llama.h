// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "engines/models/llama.h"

namespace howard::models {

/// Says with which calls a Llama reads tokens behind those that are in its cache.
enum class CacheCalls : std::uint8_t {
  /// As in TTML, tokens are padded to 32 rows. New keys and values are cut and written into the
  /// cache, and everything up to the last place is taken from it again. Keys and values are
  /// repeated for their heads, as in training. The places are arguments of the calls, which
  /// therefore differ from token to token.
  ttml,
  /// ttnn's kernels for decoding are used: one call writes a row into the cache, and one attends to
  /// all rows up to it. The place lies on the device, so that the calls of all tokens are the same.
  kernels,
};

/// Says how the calls of a token are made.
enum class DecodeEngine : std::uint8_t {
  dynamic,   ///< They are made anew for each token.
  recorded,  ///< They are made once, into their own buffers; needs CacheCalls::kernels.
  traced,    ///< The device replays them; needs CacheCalls::kernels.
};

struct CacheOptions {
  std::int64_t length = 0;  ///< The number of tokens that the cache has room for.
  CacheCalls calls = CacheCalls::kernels;
  DecodeEngine engine = DecodeEngine::dynamic;
  /// Sequences that are read together, with the same tokens: this is for measuring times. More than
  /// one need TTML's calls, and each has a mask of its own then, as those of other prompts have.
  std::int64_t batch = 1;
};

/// Reads one sequence with a Llama, token after token. The keys and values of what was read are
/// kept in a cache, [batch, groups, length, d] for each block, so that a token costs one row and
/// not the whole sequence.
class CachedLlama {
 public:
  /// The model must outlive this object; its batch does not matter, and its parameters are used as
  /// they are. Throws Error for a share or a stage of a model, for a length below 1 or beyond the
  /// model's sequence, for an engine that the calls do not allow, and when memory is exhausted.
  CachedLlama(Device& device, Llama& model, const CacheOptions& options);
  ~CachedLlama();
  CachedLlama(const CachedLlama&) = delete;
  CachedLlama& operator=(const CachedLlama&) = delete;

  /// Forgets what was read and reads `prompt`. Throws Error if it is empty or longer than the
  /// cache.
  void prefill(std::span<const std::uint32_t> prompt);
  /// Reads one more token. Throws Error when the cache is full: the cache does not slide.
  void decode(std::uint32_t token);
  /// Makes decode() go on behind `position` tokens without having read them. This is for measuring
  /// times only.
  void skip_to(std::int64_t position);
  /// Writes the inputs of a step. decode_function() makes the programs of that step, which return
  /// its logits. Callers that run steps themselves use these two in place of decode().
  void write_decode(std::uint32_t token);
  autograd::StepFunction decode_function() {
    return [this](Device& device) { return read(device); };
  }

  /// Returns the logits of what follows the last token that was read, and waits for them.
  std::vector<float> logits();
  /// Returns the logits of all rows that the last step read, [batch, 1, rows, vocabulary], without
  /// waiting.
  const ops::Tensor& step_logits() const { return *logits_; }
  std::int64_t position() const { return position_; }
  std::int64_t length() const { return options_.length; }
  /// Returns the bytes of all keys and values.
  Bytes cache_bytes() const;

 private:
  struct Block {
    ops::Tensor keys, values;
  };

  bool is_ttml() const { return options_.calls == CacheCalls::ttml; }
  /// Says whether the step reads one row, at a place that lies on the device.
  bool decodes() const { return !is_ttml() && tokens_->spec().shape.columns() == 1; }
  void make_tables();
  void require_room(std::int64_t tokens) const;
  void write_step(std::span<const std::uint32_t> tokens);
  void write_mask(std::int64_t rows);
  ops::Tensor read(Device& device);
  autograd::Value read_tokens(autograd::Tape& tape);
  autograd::RotaryTables tables_of_step(autograd::Tape& tape) const;
  autograd::Value block(autograd::Tape& tape, autograd::Value x,
                        const autograd::RotaryTables& tables, std::size_t index);
  autograd::Value attend(autograd::Tape& tape, autograd::Value q, autograd::Value k,
                         autograd::Value v, const Block& cache) const;
  void keep(autograd::Tape& tape, autograd::Value rows, const ops::Tensor& cache) const;
  ops::Tensor kept(autograd::Tape& tape, const ops::Tensor& cache) const;
  ops::Tensor last_row(autograd::Tape& tape, autograd::Value x) const;

  Device& device_;
  CommandQueue& queue_;
  Llama& model_;
  CacheOptions options_;
  std::vector<Block> blocks_;
  ops::Tensor cosines_, sines_;  ///< [length in tiles and one more, d].
  /// These are tables in rows, of which the kernels look up one: tokens, cosines and sines.
  std::optional<ops::Tensor> token_rows_, cosine_rows_, sine_rows_;
  ops::Tensor token_, place_;          ///< One uint32 each: the inputs of a decoding step.
  std::optional<ops::Tensor> tokens_;  ///< [1, rows]: the tokens that the present step reads.
  std::optional<ops::Tensor> mask_;    ///< TTML's mask for that step.
  std::int64_t position_ = 0;
  std::int64_t new_ = 0;  ///< Tokens among those rows; the others are padding.
  std::optional<ops::Tensor> logits_;
  std::unique_ptr<autograd::StaticStep> static_;
  std::unique_ptr<autograd::TracedStep> traced_;
};

}  // namespace howard::models
