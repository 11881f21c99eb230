// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/generate/chat_prompt.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/input_file.h"
#include "engines/language/chat/chat_messages.h"
#include "engines/python/chat_template.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

/// The template and the marks of a model, and the file that the template is from.
struct ChatFiles {
  language::TokenizerConfig config;
  fs::path source;
};

/// A chat_template.jinja counts for more than a tokenizer_config.json, as in Hugging Face's
/// library; the marks are in the latter.
ChatFiles chat_files(const GenerateOptions& options) {
  const fs::path folder = folder_of_weights(options);
  const fs::path named = options.chat_template;
  ChatFiles files;
  files.source = named.extension() == ".json" ? named : folder / "tokenizer_config.json";
  if (fs::exists(files.source)) {
    files.config =
        language::parse_tokenizer_config(read_settings_file(files.source), files.source.string());
  }
  const fs::path text = named.empty() ? folder / "chat_template.jinja" : named;
  if (text.extension() != ".json" && (!named.empty() || fs::exists(text))) {
    files.config.chat_template = read_file(text);
    files.source = text;
  }
  if (files.config.chat_template) return files;
  throw Error({.attempted = "chat with " + options.weights.string(),
               .value = "there is no chat_template in " + files.source.string(),
               .accepted = "a tokenizer_config.json with a chat_template, or a chat_template.jinja",
               .hint = "--chat-template FILE, or --prompt without --chat for a model that is no "
                       "chat model"});
}

}  // namespace

ChatPrompt chat_prompt(const GenerateOptions& options) {
  if (options.tokenizer.empty()) {
    throw Error({.attempted = "chat with " + options.weights.string(),
                 .value = "there is no tokenizer.json beside the weights",
                 .accepted = "a tokenizer that turns texts into tokens",
                 .hint = "--tokenizer FILE"});
  }
  const ChatFiles files = chat_files(options);
  const std::string earlier = options.messages.empty() ? "" : read_file(options.messages);
  const std::string variables =
      language::chat_variables(earlier, options.messages.string(), options.prompt, files.config);
  const auto end = files.config.marks.find("eos_token");
  return {.text = python::filled_template(*files.config.chat_template, files.source.string(),
                                          variables),
          .end = end == files.config.marks.end() ? "" : end->second};
}

}  // namespace howard::cli
