// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engines/autograd/static_step.h"
#include "engines/autograd/traced_step.h"
#include "engines/models/llama.h"

namespace howard::models {

/// With which calls a Llama reads tokens behind those that are in its cache.
enum class CacheCalls : std::uint8_t {
  /// TTML's: tokens are padded to 32 rows; new keys and values are cut, written into the cache, and
  /// taken from it again up to the last place; keys and values are repeated for their heads, as in
  /// training. The places are arguments of the calls, which differ from token to token.
  ttml,
  /// ttnn's kernels for decoding: one call writes a row into the cache, one looks up to it. The
  /// place lies on the device, so that the calls of all tokens are the same.
  kernels,
};

/// How the calls of a token are made.
enum class DecodeEngine : std::uint8_t {
  dynamic,   ///< Anew for each token.
  recorded,  ///< Once, into buffers of their own; with CacheCalls::kernels.
  traced,    ///< Replayed by the device; with CacheCalls::kernels.
};

struct CacheOptions {
  std::int64_t length = 0;  ///< Tokens that the cache has room for.
  CacheCalls calls = CacheCalls::kernels;
  DecodeEngine engine = DecodeEngine::dynamic;
};

/// Reads one sequence with a Llama, token after token: keys and values of what was read are kept in
/// a cache, [1, groups, length, d] for each block, so that a token costs one row and not the whole
/// sequence.
class CachedLlama {
 public:
  /// The model must be of one sequence per batch or more, without shards, and outlive this object;
  /// its parameters are used as they are. Throws Error for a length below 1 or beyond the model's
  /// sequence, an engine that the calls do not allow, and memory that is exhausted.
  CachedLlama(Device& device, Llama& model, const CacheOptions& options);
  ~CachedLlama();
  CachedLlama(const CachedLlama&) = delete;
  CachedLlama& operator=(const CachedLlama&) = delete;

  /// Forgets what was read and reads `prompt`. Throws Error for an empty one, and one that is
  /// longer than the cache.
  void prefill(std::span<const std::uint32_t> prompt);
  /// Reads one more token. Throws Error when the cache is full: it does not slide.
  void decode(std::uint32_t token);
  /// Makes decode() go on behind `position` tokens without having read them: for times alone.
  void skip_to(std::int64_t position);
  /// decode() in two parts, for who runs steps by itself: writes what a step is told, and the
  /// programs of that step, which return its logits.
  void write_decode(std::uint32_t token);
  autograd::StepFunction decode_function() {
    return [this](Device& device) { return read(device); };
  }

  /// The logits of what follows the last token that was read: waits for them.
  std::vector<float> logits();
  std::int64_t position() const { return position_; }
  std::int64_t length() const { return options_.length; }
  /// The bytes of all keys and values.
  Bytes cache_bytes() const;

 private:
  struct Block {
    ops::Tensor keys, values;
  };

  bool is_ttml() const { return options_.calls == CacheCalls::ttml; }
  /// Whether the step reads one row, at a place that lies on the device.
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
  /// Tables in rows, of which the kernels look up one: tokens, cosines and sines.
  std::optional<ops::Tensor> token_rows_, cosine_rows_, sine_rows_;
  ops::Tensor token_, place_;          ///< One uint32 each: what a decoding step is told.
  std::optional<ops::Tensor> tokens_;  ///< [1, rows]: what the step that is made reads.
  std::optional<ops::Tensor> mask_;    ///< TTML's, of that step.
  std::int64_t position_ = 0;
  std::int64_t new_ = 0;  ///< Tokens among those rows; the others are padding.
  std::optional<ops::Tensor> logits_;
  std::unique_ptr<autograd::StaticStep> static_;
  std::unique_ptr<autograd::TracedStep> traced_;
};

}  // namespace howard::models
