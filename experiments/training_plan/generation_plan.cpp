// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/generation_plan.h"

#include <fmt/format.h>

#include <vector>

#include "engines/autograd/calls.h"
#include "engines/chip/emulated_chip.h"
#include "engines/models/cached_llama.h"
#include "engines/ops/tensor.h"
#include "reports/tables/format.h"

namespace howard::experiments {
namespace {

/// Writes tokens on an emulated chip.
class EmulatedGeneration {
 public:
  EmulatedGeneration(const GenerationQuestion& question, const chip::Profiles& profiles)
      : question_(question),
        chip_(profiles),
        model_(chip_, question.model),
        cached_(chip_, model_,
                {.length = question.model.sequence,
                 .calls = models::CacheCalls::ttml,
                 .batch = question.completions}) {}

  /// Returns the time of the prompts and of the first tokens behind them.
  SimTime prefill(std::int64_t prompt) {
    const std::vector<std::uint32_t> tokens(static_cast<std::size_t>(prompt), 0);
    return timed(1, [&] {
      cached_.prefill(tokens);
      draw(prompt - 1);
    });
  }

  /// Returns the time of a token of each sequence behind `position` others.
  SimTime token(std::int64_t position) {
    constexpr int kTokens = 3;  // The host works ahead of the chip from one to the next.
    return timed(kTokens, [&] {
      cached_.skip_to(position);
      cached_.decode(0);
      draw(0);
    });
  }

  Bytes cache_bytes() const { return cached_.cache_bytes(); }

 private:
  /// Returns the mean time of a call, once its programs are known.
  template <class Call>
  SimTime timed(int calls, const Call& call) {
    CommandQueue& queue = chip_.command_queue(0);
    call();
    queue.finish();
    const SimTime start = chip_.now();
    for (int i = 0; i < calls; ++i) call();
    queue.finish();
    return SimTime::picoseconds((chip_.now() - start).ps() / calls);
  }

  /// Draws a token of each sequence from the logits of a row: the largest sum of them and noise.
  void draw(std::int64_t row) {
    const autograd::Calls calls(chip_);
    const ops::Tensor& all = cached_.step_logits();
    const TensorSpec spec{.shape = {question_.completions, 1, 1, all.spec().shape.columns()},
                          .dtype = all.spec().dtype};
    ops::Tensor logits = calls.make(spec);
    calls.run(make_program(SliceAttributes{.begins = {0, 0, row, 0}}, {all}, {logits}));
    if (question_.temperature > 0) {
      ops::Tensor noise = calls.fill(0.5F, spec);  // as long as the uniform numbers take
      for (int i = 0; i < 2; ++i) {
        noise = calls.eltwise(Eltwise::neg, calls.eltwise(Eltwise::log, noise));
      }
      logits = calls.add(calls.multiply(logits, 1 / question_.temperature), noise);
    }
    static_cast<void>(calls.call(ArgmaxAttributes{}, {calls.to_layout(logits, Layout::row_major)}));
  }

  GenerationQuestion question_;
  chip::EmulatedChip chip_;
  models::Llama model_;
  models::CachedLlama cached_;
};

}  // namespace

GenerationPlan plan_generation(const GenerationQuestion& question, const chip::Profiles& profiles) {
  GenerationPlan plan{.question = question};
  chip::Profiles endless = profiles;
  endless.chip.dram_capacity = Bytes(std::int64_t{1} << 56);  // more than any model takes
  EmulatedGeneration run(question, endless);
  plan.prefill = run.prefill(plan.prompt());
  plan.first = run.token(plan.prompt());
  plan.last = run.token(question.model.sequence - 1);
  plan.cache = run.cache_bytes();
  return plan;
}

std::string generation_text(const GenerationPlan& plan, std::int64_t times) {
  const std::int64_t tokens = plan.question.tokens;
  const std::string others =
      tokens == 1 ? ""
                  : fmt::format(", the second token of each {} and the last {}",
                                reports::format_time(plan.first), reports::format_time(plan.last));
  return fmt::format(
      "generate {}: {} completions of {} {} on each chip, {} times in the run; their prompts of {} "
      "tokens take {}{}; keys and values {:.2f} GiB\n",
      reports::format_time(plan.whole()), plan.question.completions, tokens,
      tokens == 1 ? "token" : "tokens", times, plan.prompt(), reports::format_time(plan.prefill),
      others, static_cast<double>(plan.cache.value()) / (1 << 30));
}

}  // namespace howard::experiments
