// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/input_file.h"
#include "engines/autograd/host_values.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/language/tokens/bpe_tokenizer.h"
#include "engines/language/tokens/token_ids.h"
#include "engines/language/weights/hugging_face_config.h"
#include "engines/language/weights/model_weights.h"
#include "engines/models/language_model.h"
#include "engines/training/config/ttml_files.h"
#include "engines/training/config/ttml_recipe.h"
#include "experiments/laboratory/chip_context.h"
#include "experiments/laboratory/presentations.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/generate/chat_prompt.h"
#include "harness/cli/generate/generate_options.h"
#include "harness/cli/outputs/outputs.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/environment.h"
#include "harness/statistics.h"

namespace howard::cli {

namespace {

using language::HuggingFaceModel;

/// Reads the model file, which may be of either kind.
HuggingFaceModel model_of(const GenerateOptions& options) {
  HuggingFaceModel model;
  if (options.model.extension() == ".json") {
    model = language::parse_hugging_face_config(read_settings_file(options.model),
                                                options.model.string());
  } else {
    training::TtmlFiles files;
    files.model = options.model;
    const training::TtmlSettings settings = training::read_ttml_files(files);
    model.options = training::recipe_of(settings).model;
    model.vocabulary = settings.config.transformer.vocab_size.value_or(0);
  }
  model.options.batch = 1;
  model.options.dropout = 0;
  model.options.compute = model.options.parameters = options.dtype;
  return model;
}

/// Returns the length of the part of `text` that ends with a whole character, which can be printed.
std::size_t whole_characters(std::string_view text) {
  std::size_t start = text.size();
  while (start > 0 && text.size() - start < 4 &&
         (static_cast<unsigned char>(text[start - 1]) & 0xc0U) == 0x80U) {
    --start;
  }
  if (start == 0) return text.size();
  const auto lead = static_cast<unsigned char>(text[start - 1]);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return text.size() - (start - 1) < length ? start - 1 : text.size();
}

class GenerateRun {
 public:
  explicit GenerateRun(GenerateOptions options)
      : options_(std::move(options)),
        described_(model_of(options_)),
        tokenizer_(make_tokenizer()),
        chat_(options_.chat ? std::optional(chat_prompt(options_)) : std::nullopt),
        text_(prompt()),
        host_({.threads = options_.threads}) {
    options_.outputs.files.require_apart();
    Outputs(options_.outputs).require_writable();
    if (options_.backend == harness::Backend::emulated) {
      profiles_ = read_settings(options_.profiles, chip::load_profiles);
      chip_ =
          std::make_unique<chip::EmulatedChip>(*profiles_, chip::DeviceOptions{.values = &host_});
    }
    fit_context();
    const std::int64_t rows = ceil_div(described_.vocabulary, kTileSide) * kTileSide;
    model_ = models::make_model(device(), described_.options.with(rows));
    take_weights(rows);
    make_reader();
  }

  /// Returns the exit status.
  int run() {
    const std::string begun = tokenizer_->decode(plain(text_));
    if (!chat_) show(begun);
    std::vector<std::uint32_t> all = text_;
    std::size_t shown = begun.size();
    const auto stop = [this] {
      starts_.push_back(device().now());
      return interrupted();
    };
    const std::vector<std::uint32_t> ends = ends_of_text();
    const auto sink = [&](std::uint32_t token) {
      if (chat_ && std::ranges::find(ends, token) != ends.end()) return;  // it belongs to no answer
      all.push_back(token);
      const std::string now = tokenizer_->decode(plain(all));
      const std::size_t whole = std::max(shown, whole_characters(now));
      show(std::string_view(now).substr(std::min(shown, now.size()), whole - shown));
      shown = whole;
    };
    const language::WrittenTokens written{
        .range = {tokenizer_->written().first,
                  std::min(tokenizer_->written().end,
                           static_cast<std::uint32_t>(described_.vocabulary))},
        .ends = ends};
    made_ = language::continue_text(*reader_, text_, options_.count, options_.sampling, written,
                                    stop, sink)
                .size();
    starts_.push_back(device().now());
    show("\n");
    summarise();
    const bool well = write_result();
    return interrupted() ? kInterrupted : well ? kOk : kFailed;
  }

 private:
  Device& device() { return chip_ ? static_cast<Device&>(*chip_) : host_; }

  std::unique_ptr<language::Tokenizer> make_tokenizer() {
    std::unique_ptr<language::Tokenizer> tokenizer;
    if (!options_.tokenizer.empty()) {
      tokenizer = std::make_unique<language::BpeTokenizer>(read_file(options_.tokenizer),
                                                           options_.tokenizer.string());
    }
    if (described_.vocabulary == 0 && tokenizer) described_.vocabulary = tokenizer->tokens();
    if (described_.vocabulary == 0) {
      throw Error({.attempted = "make the model of " + options_.model.string(),
                   .value = "nothing says how many tokens there are",
                   .accepted = "a vocab_size in the model file, or a tokenizer",
                   .hint = "--tokenizer tokenizer.json"});
    }
    if (!tokenizer) tokenizer = std::make_unique<language::TokenIds>(described_.vocabulary);
    return tokenizer;
  }

  /// Returns the tokens behind which nothing is written.
  std::vector<std::uint32_t> ends_of_text() const {
    if (!options_.stops) return {};
    std::vector<std::uint32_t> ends = described_.ends;
    if (!chat_ || chat_->end.empty()) return ends;
    const std::vector<std::uint32_t> end = tokenizer_->encode(chat_->end);
    if (end.size() == 1) ends.push_back(end[0]);
    return ends;
  }

  /// Says whether a token that begins a text stands before the prompt. Chat templates write it.
  bool has_begin() const { return !chat_ && tokenizer_->begin(); }

  std::vector<std::uint32_t> prompt() const {
    std::vector<std::uint32_t> tokens = tokenizer_->encode(chat_ ? chat_->text : options_.prompt);
    if (has_begin()) tokens.insert(tokens.begin(), *tokenizer_->begin());
    if (tokens.empty()) {
      throw Error({.attempted = "read the prompt",
                   .value = "it has no token",
                   .accepted = "one token or more"});
    }
    for (const std::uint32_t token : tokens) {
      if (token < described_.vocabulary) continue;
      throw Error({.attempted = "read the prompt",
                   .value = fmt::format("token {}", token),
                   .accepted = fmt::format("0 to {}, the vocabulary of the model",
                                           described_.vocabulary - 1),
                   .hint = "the tokenizer of these weights"});
    }
    return tokens;
  }

  /// Returns the tokens without the one that begins a text.
  std::span<const std::uint32_t> plain(const std::vector<std::uint32_t>& tokens) const {
    return std::span(tokens).subspan(has_begin() ? 1 : 0);
  }

  /// Fits the context to the model: a Llama is made for the tokens that it is to read; a GPT-2 has
  /// as many positions as its file.
  void fit_context() {
    models::ModelOptions& options = described_.options;
    const std::int64_t needed = static_cast<std::int64_t>(text_.size()) + options_.count;
    if (options_.context == 0) options_.context = std::min(needed, options.sequence);
    if (options.kind != models::ModelKind::llama) return;
    const auto refuse = [&](std::string value, std::string accepted) {
      throw Error({.attempted = "generate text",
                   .value = std::move(value),
                   .accepted = std::move(accepted),
                   .hint = "a smaller --max-tokens, or a shorter prompt"});
    };
    if (options_.context > options.sequence) {
      refuse(fmt::format("a context of {} tokens", options_.context),
             fmt::format("up to {}, as the model has positions", options.sequence));
    }
    // The last token is written and not read.
    if (options_.cache && needed - 1 > options_.context) {
      refuse(fmt::format("{} tokens of the prompt and {} more", text_.size(), options_.count),
             fmt::format("{} in all: a cache does not slide", options_.context + 1));
    }
    options.sequence = ceil_div(options_.context, kTileSide) * kTileSide;
  }

  void take_weights(std::int64_t rows) {
    CommandQueue& queue = device().command_queue(0);
    for (const autograd::Parameter* parameter : model_->parameters()) {
      const bool padded = parameter->value.spec().shape.rows() == rows;
      if (padded) autograd::write_constant(queue, parameter->value, 0);
    }
    const std::vector<language::Safetensors> files = language::read_weights(options_.weights);
    const language::ImportedWeights report =
        language::import_weights(queue, *model_, described_.options, files);
    if (!report.unfilled.empty()) {
      throw Error({.attempted = "take the weights in " + options_.weights.string(),
                   .value = fmt::format("{} of the model has none", report.unfilled.front()),
                   .accepted = "all parameters of " + options_.model.string(),
                   .hint = "the model file of these weights"});
    }
    for (const std::string& name : report.unused) {
      fmt::print(stderr, "{}: {} of {} is not used\n", kGenerateName, name,
                 options_.weights.string());
    }
  }

  void make_reader() {
    auto* const llama = dynamic_cast<models::Llama*>(model_.get());
    reader_ =
        llama != nullptr && options_.cache
            ? language::cache_reader(
                  device(), *llama,
                  {.length = options_.context, .calls = options_.calls, .engine = options_.engine})
            : language::window_reader(device(), *model_);
    has_cache_ = llama != nullptr && options_.cache;
    device().command_queue(0).finish();
  }

  /// Writes text where no other form goes.
  void show(std::string_view text) const {
    std::FILE* const stream = options_.outputs.files.use_standard_output() ? stderr : stdout;
    fmt::print(stream, "{}", text);
    std::fflush(stream);
  }

  /// Returns the seconds of each token; the first one's are those of reading the prompt.
  std::vector<double> times() const {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < made_; ++i) {
      seconds.push_back((starts_[i + 1] - starts_[i]).seconds());
    }
    return seconds;
  }

  void summarise() {
    const std::vector<double> seconds = times();
    if (seconds.empty()) return fmt::print(stderr, "{}: interrupted\n", kGenerateName);
    std::string decode;
    if (seconds.size() > 1) {
      const std::vector<double> later(seconds.begin() + 1, seconds.end());
      const double median = harness::median(later).value_or(0);
      decode = fmt::format(", then {} tokens of {:.2f} ms: {:.1f} tokens/s/user", later.size(),
                           1e3 * median, 1 / median);
    }
    fmt::print(stderr, "{}: {} tokens of the prompt in {:.2f} ms{}; {}{}\n", kGenerateName,
               text_.size(), 1e3 * seconds.front(), decode, device().description(),
               has_cache_ ? "" : ", without a cache");
  }

  /// Writes the times to the files that are asked for. Returns false if one could not be written.
  bool write_result() {
    const std::vector<double> seconds = times();
    harness::PointResult point{.backend = options_.backend};
    point.parameters = {{"model", options_.model.string()},
                        {"prompt", std::to_string(text_.size())},
                        {"tokens", std::to_string(made_)},
                        {"cache", has_cache_ ? "yes" : "no"}};
    if (seconds.empty()) {
      point.skipped = "interrupted before the first token";
    } else {
      const std::vector<double> later(seconds.begin() + 1, seconds.end());
      point.metrics = {{.name = "prefill", .value = seconds.front(), .unit = "s"}};
      if (const auto median = harness::median(later)) {
        point.metrics.push_back({.name = "time",
                                 .value = *median,
                                 .unit = "s",
                                 .samples = later,
                                 .ci95 = harness::median_interval95(later)});
        point.metrics.push_back({.name = "tokens",
                                 .value = 1 / *median,
                                 .unit = "1/s",
                                 .better = harness::Better::higher});
      }
    }
    harness::ExperimentResult result{.experiment = name_of(harness::CommandResult::generate),
                                     .context = harness::describe_environment(options_.backend),
                                     .points = {point},
                                     .interrupted = interrupted()};
    result.context.threads = host_.threads();
    result.context.seed = options_.sampling.seed;
    if (profiles_) experiments::describe_chip(options_.profiles, result.context);
    Outputs outputs(options_.outputs);
    const experiments::Presentations known;
    harness::Presentation presentation = known.of(result).presentation;
    const bool well = outputs.write(
        {Finished{.result = std::move(result), .presentation = std::move(presentation)}});
    outputs.print_written();
    return well;
  }

  GenerateOptions options_;
  HuggingFaceModel described_;
  std::unique_ptr<language::Tokenizer> tokenizer_;
  std::optional<ChatPrompt> chat_;
  std::vector<std::uint32_t> text_;  ///< The prompt.
  host::HostDevice host_;
  std::optional<chip::Profiles> profiles_;
  std::unique_ptr<chip::EmulatedChip> chip_;
  std::unique_ptr<models::LanguageModel> model_;
  std::unique_ptr<language::TextReader> reader_;
  bool has_cache_ = false;
  std::vector<SimTime> starts_;  ///< The start of each token, and the end of the last.
  std::size_t made_ = 0;
};

int generate(GenerateOptions& options) {
  complete(options);
  catch_signals();
  GenerateRun run(options);
  return run.run();
}

}  // namespace

const Command kGenerate{
    .name = "generate",
    .summary = "write text with the weights of a Llama, Qwen3 or GPT-2, and say how fast",
    .usage = {"--weights PATH --prompt TEXT [OPTIONS]",
              "--weights PATH --chat --prompt TEXT [--messages FILE] [OPTIONS]"},
    .text = {{"",
              "It reads safetensors as Hugging Face's library writes them, with the config.json "
              "and the tokenizer.json that stand beside them, and writes text behind the prompt to "
              "standard output. A Llama keeps the keys and values of what it has read in a cache, "
              "so that each token costs one row. Standard error says how long the prompt took, and "
              "then each token. On the emulated chip the numbers are the host's and the times are "
              "the chip's. A GPT-2 reads its whole window for each token, as TTML's does."},
             {"",
              "With --chat the prompt is a user's message, and the answer alone is written. The "
              "chat_template of the model's tokenizer_config.json, or its chat_template.jinja, "
              "makes the text that the model reads. Jinja2 fills it in, in its sandbox, if the "
              "package python3-jinja2 is installed. The answer ends with the eos_token."}},
    .examples =
        {"run_experiment generate --weights TinyLlama-1.1B --prompt 'The capital of France is'",
         "run_experiment generate --weights model.safetensors --model configs/tinyllama.yaml \\\n  "
         "--tokenizer tokenizer.json --prompt 'Once' --max-tokens 20 --temperature 0.8 --top-k 40",
         "run_experiment generate --weights m --prompt 1,2,3 --backend emulated --engine traced",
         "run_experiment generate --weights TinyLlama-1.1B-Chat --chat --prompt 'Who wrote Faust?'",
         "run_experiment generate --weights TinyLlama-1.1B-Chat --messages conversation.json"},
    .status = "0 done; 1 an error; 2 bad command line; 130 interrupted; what was written stays",
    .begin = begin<generate_options, generate>};

}  // namespace howard::cli
