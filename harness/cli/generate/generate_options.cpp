// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/generate/generate_options.h"

#include "base/error.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/train/model_options.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

/// Returns a file that stands beside the weights unless it is named; empty when there is none.
fs::path beside(const GenerateOptions& options, const fs::path& named, const char* name) {
  if (!named.empty()) return named;
  const fs::path folder = folder_of_weights(options);
  return fs::exists(folder / name) ? folder / name : fs::path();
}

}  // namespace

fs::path folder_of_weights(const GenerateOptions& options) {
  return fs::is_directory(options.weights) ? options.weights : options.weights.parent_path();
}

OptionList generate_options(GenerateOptions& options) {
  return joined(
      {{renamed("--safetensors",
                {"--weights", "PATH", "Reads a file of safetensors, or a folder with them",
                 to(options.weights)}),
        {"--model", "FILE",
         "Reads the model from a config.json (default: the one beside the weights), or from a file "
         "of TTML with a transformer_config",
         to(options.model)},
        {"--tokenizer", "FILE",
         "Reads a tokenizer.json (default: the one beside the weights). Without one, the prompt "
         "and the text are numbers of tokens, as in TTML's llama_inference",
         to(options.tokenizer)},
        {"--prompt", "TEXT", "Begins the text with TEXT", to(options.prompt)},
        {"--chat", "", "Takes the prompt for a user's message, and writes the answer",
         to(options.chat)},
        {"--messages", "FILE",
         "Reads the conversation so far, [{\"role\": \"user\", \"content\": \"Hi\"}, ...]; a "
         "--prompt is the message behind it. It implies --chat",
         to(options.messages)},
        {"--chat-template", "FILE",
         "Reads the template from a tokenizer_config.json or a text of Jinja in the place of the "
         "one beside the weights. It implies --chat",
         to(options.chat_template)},
        {"--max-tokens", "N", "Writes N tokens at most (default 50)",
         whole(options.count, 1, 1'000'000'000)},
        renamed("--ignore-end",
                {"--no-end", "",
                 "Goes on behind a token that ends a text (eos_token_id of config.json)",
                 to(options.stops, false)}),
        {"--no-kv-cache", "", "Reads the whole text for each token", to(options.cache, false)},
        {"--context", "N",
         "Gives the cache room for N tokens (default: prompt and new tokens). It does not slide "
         "when it is full",
         whole(options.context, 1, 1 << 24)},
        renamed("--calls", {"--cache", "NAME",
                            "Chooses kernels (default): ttnn's for decoding, which are told the "
                            "place by the device; or ttml: the calls of TTML's llama_inference, "
                            "which cut, write and read the cache in parts",
                            choice(options.calls, {{"kernels", models::CacheCalls::kernels},
                                                   {"ttml", models::CacheCalls::ttml}})}),
        {"--engine", "NAME",
         "Chooses dynamic (default), static or traced: calls are made anew for each token, once, "
         "or replayed by the device. The last two need --cache kernels",
         choice(options.engine, {{"dynamic", models::DecodeEngine::dynamic},
                                 {"static", models::DecodeEngine::recorded},
                                 {"traced", models::DecodeEngine::traced}})},
        {"--dtype", "TYPE", "Chooses bfloat16 (default) or float32",
         choice(options.dtype, {{"bfloat16", DataType::bfloat16}, {"float32", DataType::float32}})},
        backend_option(options.backend),
        threads_option(options.threads,
                       "Uses N threads of the host (default: all that the process may use)"),
        {"--seed", "N", "Seeds what is drawn (default 5489)",
         whole(options.sampling.seed, 0, 0xffffffff)}},
       output_options(options.outputs, "Writes the times to DIR, in a file of each form"),
       sampling_options(options.sampling,
                        "Divides the logits by T (default 0: always the most likely token)"),
       chip_options(options.profiles)});
}

void complete(GenerateOptions& options) {
  if (options.weights.empty()) {
    throw UsageError("no weights; try --weights model.safetensors, or the folder of a model");
  }
  options.chat = options.chat || !options.messages.empty() || !options.chat_template.empty();
  if (options.prompt.empty() && options.messages.empty()) {
    throw UsageError("no prompt; try --prompt 'Once upon a time'");
  }
  require_chip(!options.profiles.is_default(), options.backend == harness::Backend::emulated);
  if (options.calls == models::CacheCalls::ttml &&
      options.engine != models::DecodeEngine::dynamic) {
    throw UsageError("TTML's calls differ from token to token; try --engine dynamic");
  }
  try {
    language::require_valid(options.sampling);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  if (!fs::exists(options.weights)) {
    throw Error({.attempted = "read the weights " + options.weights.string(),
                 .value = "there is no such file or folder",
                 .accepted = "model.safetensors, or the folder of a model, as Hugging Face has it",
                 .hint = "huggingface-cli download TinyLlama/TinyLlama-1.1B-Chat-v1.0 --local-dir "
                         "FOLDER"});
  }
  options.model = beside(options, options.model, "config.json");
  if (options.model.empty()) {
    throw Error({.attempted = "read the model of " + options.weights.string(),
                 .value = "there is no config.json beside the weights",
                 .accepted = "a config.json, or a model file of TTML",
                 .hint = "--model FILE"});
  }
  options.tokenizer = beside(options, options.tokenizer, "tokenizer.json");
}

}  // namespace howard::cli
