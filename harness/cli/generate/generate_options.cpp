// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/generate/generate_options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "base/error.h"
#include "harness/cli/command_line.h"
#include "harness/cli/profile_options.h"
#include "harness/measurement.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, models::CacheCalls> kCacheCalls{
    {"kernels", models::CacheCalls::kernels}, {"ttml", models::CacheCalls::ttml}};
const std::map<std::string, models::DecodeEngine> kDecodeEngines{
    {"dynamic", models::DecodeEngine::dynamic},
    {"static", models::DecodeEngine::recorded},
    {"traced", models::DecodeEngine::traced}};
const std::map<std::string, DataType> kGenerateTypes{{"bfloat16", DataType::bfloat16},
                                                     {"float32", DataType::float32}};
const std::map<std::string, harness::Backend> kGenerateBackends{
    {"host", harness::Backend::host}, {"emulated", harness::Backend::emulated}};

void declare_generate(CLI::App& app, GenerateOptions& options) {
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("--weights,--safetensors", options.weights);
  app.add_option("--model", options.model);
  app.add_option("--tokenizer", options.tokenizer);
  app.add_option("--prompt", options.prompt);
  app.add_flag("--chat", options.chat);
  app.add_option("--messages", options.messages);
  app.add_option("--chat-template", options.chat_template);
  add_whole(app, "--max-tokens", options.count, 1, 1'000'000'000);
  add_whole(app, "--seed", options.sampling.seed, 0, 0xffffffff);
  add_number(app, "--temperature", options.sampling.temperature, 0, 1e6);
  add_whole(app, "--top-k", options.sampling.top_k, 0, 1'000'000'000);
  add_number(app, "--top-p", options.sampling.top_p, 0, 1);
  add_number(app, "--repetition-penalty", options.sampling.repetition_penalty, 0, 1e6);
  app.add_flag("!--ignore-end", options.stops);
  app.add_flag("--use-kv-cache,!--no-kv-cache", options.cache);
  add_whole(app, "--context", options.context, 1, 1 << 24);
  add_choice(app, "--calls", options.calls, kCacheCalls);
  add_choice(app, "--engine", options.engine, kDecodeEngines);
  add_choice(app, "--dtype", options.dtype, kGenerateTypes);
  add_choice(app, "--backend", options.backend, kGenerateBackends);
  add_whole(app, "--threads", options.threads, harness::kThreads);
  add_profile_options(app, options.profiles);
  app.add_option("--results", options.results);
}

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

GenerateOptions parse_generate_options(int argc, const char* const* argv) {
  CLI::App app;
  GenerateOptions options;
  declare_generate(app, options);
  parse_command_line(app, argc, argv);
  if (options.help) return options;
  if (options.weights.empty()) {
    throw UsageError("no weights; try --weights model.safetensors, or the folder of a model");
  }
  if (!fs::exists(options.weights)) {
    throw Error({.attempted = "read the weights " + options.weights.string(),
                 .value = "there is no such file or folder",
                 .accepted = "model.safetensors, or the folder of a model"});
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
  options.model = beside(options, options.model, "config.json");
  if (options.model.empty()) {
    throw Error({.attempted = "read the model of " + options.weights.string(),
                 .value = "there is no config.json beside the weights",
                 .accepted = "a config.json, or a model file of TTML",
                 .hint = "--model FILE"});
  }
  options.tokenizer = beside(options, options.tokenizer, "tokenizer.json");
  return options;
}

}  // namespace howard::cli
