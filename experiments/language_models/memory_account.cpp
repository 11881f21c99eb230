// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/memory_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace howard::experiments {
namespace {

Bytes matrix_bytes(std::int64_t rows, std::int64_t columns, DataType dtype) {
  return ceil_div(rows, kTileSide) * ceil_div(columns, kTileSide) * tile_bytes(dtype);
}

Bytes attention_bytes(const Serving& serving, const LayerRun& run) {
  const LanguageModel& model = serving.model;
  const DataType dtype = run.formats.qkv.dtype;
  if (model.is_latent()) {
    const LatentSizes& latent = model.latent;
    const std::int64_t heads = serving.share(model.heads), mine = serving.share(model.hidden);
    return matrix_bytes(mine, latent.query_rank + latent.cached(), dtype) +
           matrix_bytes(latent.query_rank, heads * (latent.plain + latent.rotary), dtype) +
           matrix_bytes(latent.rank, heads * (latent.plain + latent.value), dtype) +
           matrix_bytes(model.heads * latent.value, mine, dtype);
  }
  return matrix_bytes(model.hidden, serving.qkv_share(run.heads), dtype) +
         matrix_bytes(serving.share(run.heads.query_columns()), model.hidden,
                      run.formats.output.dtype);
}

Bytes layer_bytes(const Serving& serving, const LayerRun& run) {
  const LanguageModel& model = serving.model;
  const Bytes norms(2 * model.hidden * 2);  // bfloat16, on each chip
  const auto feed_forward = [&](std::int64_t wide) {
    return (model.is_gated ? 2 : 1) * matrix_bytes(model.hidden, wide, run.formats.gate_up.dtype) +
           matrix_bytes(wide, model.hidden, run.formats.down.dtype);
  };
  const Bytes parts = run.has_experts
                          ? serving.my_experts() * feed_forward(serving.expert_columns()) +
                                feed_forward(serving.column_share(model.shared_width)) +
                                matrix_bytes(model.hidden, model.experts, DataType::bfloat16)
                          : feed_forward(serving.wide());
  return attention_bytes(serving, run) + parts + norms;
}

Bytes weight_bytes(const Serving& serving) {
  const LanguageModel& model = serving.model;
  Bytes all = matrix_bytes(model.hidden, serving.share(model.vocabulary), DataType::bfloat8_b);
  const std::vector<LayerRun> runs = layer_runs(model, serving.mode);
  for (const LayerRun& run : runs) all += run.times * layer_bytes(serving, run);
  return all + model.image_layers * layer_bytes(serving, runs.front());
}

Bytes block_bytes(const Serving& serving) {
  const LanguageModel& model = serving.model;
  const std::vector<LayerRun> runs = layer_runs(model, serving.mode);
  if (model.is_latent()) {  // Chips of a group have the latent rows of different users.
    return serving.share(model.layers) *
           matrix_bytes(kBlockTokens, model.latent.cached(), runs.front().formats.cache);
  }
  const auto of_heads = [&](std::int64_t heads, const LayerRun& run) {
    return 2 * heads * matrix_bytes(kBlockTokens, run.heads.width, run.formats.cache);
  };
  // A Galaxy has more chips than heads, and its columns divide the users.
  if (serving.is_on_all_chips()) {
    return of_heads(serving.share(model.layers * model.groups), runs.front());
  }
  Bytes all;
  for (const LayerRun& run : runs) {
    all += of_heads(run.times * serving.share(run.heads.groups), run);
  }
  return all;
}

/// Returns of how many users the cache has blocks. A contiguous one always has those of 32.
std::int64_t cached_users(const Serving& serving) {
  return serving.cache == CacheKind::paged ? serving.batch : kTileSide;
}

Bytes activation_bytes(const Serving& serving) {
  const LanguageModel& model = serving.model;
  const std::int64_t rows = std::min(padded_prompt(serving.prompt), prefill_chunk(serving));
  const std::int64_t columns = 3 * model.hidden + 3 * serving.wide();
  return matrix_bytes(rows, columns, DataType::bfloat16);
}

/// Returns the same service with another value of something, if that fits.
void add_if_fits(const Serving& serving, Bytes capacity, std::string words,
                 std::vector<std::string>& fitting) {
  if (memory_account(serving, capacity).fits()) fitting.push_back(std::move(words));
}

/// Adds the room of the cache that fits, or the context if that is longer than the room.
void add_tokens_that_fit(const Serving& serving, Bytes capacity,
                         std::vector<std::string>& fitting) {
  constexpr std::int64_t kUnit = 1024;  // in which room is given
  const std::int64_t most =
      memory_account(serving, capacity).most_blocks() / cached_users(serving) * kBlockTokens;
  Serving other = serving;
  other.room = most > kUnit ? most / kUnit * kUnit : most;
  if (other.room < kBlockTokens || other.room >= serving.room) return;
  const bool has_room = std::max(serving.context + 1, serving.prompt) <= other.room;
  other.prompt = std::min(other.prompt, other.room);
  add_if_fits(other, capacity,
              has_room ? fmt::format("-a room={}", other.room)
                       : fmt::format("-a context={}", other.room - 1),
              fitting);
}

std::vector<std::string> what_fits(const Serving& serving, Bytes capacity, Bytes region) {
  std::vector<std::string> fitting;
  Serving other = serving;
  if (serving.mode == PrecisionMode::accuracy) {
    other.mode = PrecisionMode::performance;
    add_if_fits(other, capacity, "-a mode=performance", fitting);
    other = serving;
  }
  if (serving.cache == CacheKind::contiguous) {
    other.cache = CacheKind::paged;
    add_if_fits(other, capacity, "-a cache=paged", fitting);
    other = serving;
  }
  while (other.batch > 1 && !memory_account(other, capacity).fits()) --other.batch;
  if (other.batch < serving.batch) {
    add_if_fits(other, capacity, fmt::format("-a batch={}", other.batch), fitting);
  }
  add_tokens_that_fit(serving, capacity, fitting);
  const Bytes needed = memory_account(serving, capacity).needed();
  if (needed <= capacity + region) {
    constexpr std::int64_t kMega = 1'000'000;
    fitting.push_back(
        fmt::format("--set trace.region={}MB", (capacity + region - needed).value() / kMega));
  }
  other = serving;
  if (serving.data_parallel > 1) {
    other.tensor_parallel = serving.machine.chips;
    other.data_parallel = 1;
    if (!undivided(other)) add_if_fits(other, capacity, "-a dp=1", fitting);
  }
  int most_chips = serving.tensor_parallel;  // of machines of one size the first stands for all
  for (const Machine& machine : machines()) {
    if (machine.chip_of != serving.machine.chip_of) continue;
    // More groups hold more only if they share experts.
    const bool holds_more = machine.group > most_chips ||
                            (serving.model.has_experts() && machine.chips > serving.machine.chips);
    if (!holds_more) continue;
    if (serving.model.heads % machine.group != 0 || serving.model.groups % machine.group != 0) {
      continue;
    }
    other = serving;
    other.machine = machine;
    other.tensor_parallel = most_chips = machine.group;
    other.data_parallel = machine.chips / machine.group;
    add_if_fits(other, capacity, fmt::format("-a machine={}", machine.word), fitting);
  }
  return fitting;
}

double gigabytes(Bytes bytes) { return static_cast<double>(bytes.value()) / 1e9; }

}  // namespace

MemoryAccount memory_account(const Serving& serving, Bytes capacity) {
  const LanguageModel& model = serving.model;
  constexpr std::int64_t kBfloat16 = 2;
  constexpr std::int64_t kRotaryTables = 2;
  return {
      .weights = weight_bytes(serving),
      .embedding = Bytes(
          kBfloat16 *
          (model.vocabulary * (model.is_gpt_oss() ? model.hidden : serving.share(model.hidden)) +
           kRotaryTables * std::min(serving.room, model.context) * model.head_width)),
      .cache = cached_users(serving) * ceil_div(serving.room, kBlockTokens) * block_bytes(serving),
      .activations = activation_bytes(serving),
      .block = block_bytes(serving),
      .capacity = capacity};
}

std::string fit_text(const Serving& serving, Bytes capacity, Bytes region) {
  const MemoryAccount account = memory_account(serving, capacity);
  if (account.fits()) return "yes";
  std::string text = fmt::format(
      "no: a chip needs {:.2f} GB (weights {:.2f}, tables {:.2f}, cache {:.2f}, activations "
      "{:.2f}) "
      "and has {:.2f}",
      gigabytes(account.needed()), gigabytes(account.weights), gigabytes(account.embedding),
      gigabytes(account.cache), gigabytes(account.activations), gigabytes(capacity));
  const std::vector<std::string> fitting = what_fits(serving, capacity, region);
  if (fitting.empty()) return text + "; no machine here has enough";
  text += "; it fits with " + fitting.front();
  for (std::size_t i = 1; i < fitting.size(); ++i) text += " or " + fitting[i];
  return text;
}

}  // namespace howard::experiments
