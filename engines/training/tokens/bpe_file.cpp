// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/json_depth.h"
#include "base/text.h"
#include "engines/training/tokens/bpe_tokenizer.h"

namespace howard::training {
namespace {

using nlohmann::json;

constexpr std::string_view kBlank = "\xe2\x96\x81";  // U+2581, which stands for a blank

/// Reads the parts of a tokenizer.json into a BpeFile.
class BpeReader {
 public:
  BpeReader(const json& root, std::string source) : root_(root), source_(std::move(source)) {}

  BpeFile read() {
    if (!root_.is_object()) fail("it is no JSON object", "a tokenizer.json");
    model_ = part(root_, "model");
    if (!model_.is_object()) fail("it has no model", "a tokenizer.json");
    if (word(model_, "type", "BPE") != "BPE") {
      fail("a model of type " + word(model_, "type", "BPE"), "BPE");
    }
    read_normalizer(part(root_, "normalizer"));
    read_pre_tokenizer(part(root_, "pre_tokenizer"));
    read_model();
    read_added(part(root_, "added_tokens"));
    read_begin(part(root_, "post_processor"));
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(std::string value, std::string accepted) const {
    throw Error({.attempted = "read the tokenizer in " + source_,
                 .value = std::move(value),
                 .accepted = std::move(accepted),
                 .hint = ""});
  }

  /// Returns a member, or null if it is missing.
  static json part(const json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? json(nullptr) : *found;
  }

  std::string word(const json& object, const char* name, const char* otherwise) const {
    const json value = part(object, name);
    if (value.is_null()) return otherwise;
    if (!value.is_string()) fail(fmt::format("{} is no text", name), "a text");
    return value.get<std::string>();
  }

  bool flag(const json& object, const char* name, bool otherwise) const {
    const json value = part(object, name);
    if (value.is_null()) return otherwise;
    if (!value.is_boolean()) fail(fmt::format("{} is neither true nor false", name), "true, false");
    return value.get<bool>();
  }

  /// Visits the steps of a Sequence, or the one step that it is.
  template <class Visit>
  void for_each_step(const json& step, const char* list, const Visit& visit) {
    if (step.is_null()) return;
    if (word(step, "type", "") != "Sequence") return visit(step);
    const json steps = part(step, list);
    if (!steps.is_array()) fail(fmt::format("a Sequence without {}", list), "a list of steps");
    for (const json& each : steps) visit(each);
  }

  void read_normalizer(const json& normalizer) {
    for_each_step(normalizer, "normalizers", [&](const json& step) {
      const std::string type = word(step, "type", "");
      if (type == "Prepend" && word(step, "prepend", "") == kBlank) {
        file_.prefix = BpeFile::Prefix::each;
        file_.prefixes_blanks = true;
      } else if (type == "Replace" && word(part(step, "pattern"), "String", "") == " " &&
                 word(step, "content", "") == kBlank) {
        file_.spelling = BpeFile::Spelling::blanks;
      } else {
        fail("a normalizer of type " + type, "none, or Llama 2's, which turns blanks into U+2581");
      }
    });
  }

  void read_pre_tokenizer(const json& pre_tokenizer) {
    bool spells_bytes = false;
    for_each_step(pre_tokenizer, "pretokenizers", [&](const json& step) {
      const std::string type = word(step, "type", "");
      if (type == "ByteLevel") {
        spells_bytes = true;
        if (flag(step, "add_prefix_space", true)) file_.prefix = BpeFile::Prefix::each;
        if (flag(step, "use_regex", true)) file_.patterns.emplace_back(kGpt2Pattern);
      } else if (type == "Split") {
        if (word(step, "behavior", "") != "Isolated" || flag(step, "invert", false)) {
          fail("a Split that is not Isolated", "pieces between and at its matches");
        }
        const json pattern = part(step, "pattern");
        if (part(pattern, "Regex").is_null()) fail("a Split without a Regex", "a pattern");
        file_.patterns.push_back(word(pattern, "Regex", ""));
      } else if (type == "Metaspace" && word(step, "replacement", "") == kBlank &&
                 !flag(step, "split", true)) {
        file_.spelling = BpeFile::Spelling::blanks;
        const std::string scheme = word(step, "prepend_scheme", "always");
        file_.prefix = scheme == "never"   ? BpeFile::Prefix::none
                       : scheme == "first" ? BpeFile::Prefix::first
                                           : BpeFile::Prefix::each;
      } else {
        fail("a pre_tokenizer of type " + type,
             "ByteLevel, Split, a Metaspace that does not split, and Sequence of them");
      }
    });
    if (spells_bytes == (file_.spelling == BpeFile::Spelling::blanks)) {
      fail(spells_bytes ? "blanks as U+2581 and a ByteLevel" : "tokens of neither kind",
           "tokens of bytes (ByteLevel), or of characters with U+2581 for blanks");
    }
  }

  std::uint32_t id_of(const std::string& token, const json& value) const {
    constexpr std::int64_t kMost = 1 << 24;
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() >= kMost) {
      fail(fmt::format("the number of '{}' is {}", token, value.dump()),
           fmt::format("0 to {}", kMost - 1));
    }
    return value.get<std::uint32_t>();
  }

  void read_model() {
    for (const char* const name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!word(model_, name, "").empty()) fail(fmt::format("a {}", name), "a model without it");
    }
    file_.takes_whole_pieces = flag(model_, "ignore_merges", false);
    if (part(model_, "unk_token").is_string()) file_.unknown = word(model_, "unk_token", "");
    const json vocabulary = part(model_, "vocab");
    if (!vocabulary.is_object() || vocabulary.empty()) fail("it has no vocabulary", "tokens");
    for (const auto& [token, id] : vocabulary.items()) {
      file_.vocabulary.emplace_back(token, id_of(token, id));
    }
    const json merges = part(model_, "merges");
    if (!merges.is_array()) fail("it has no list of merges", "pairs of tokens");
    for (const json& merge : merges) read_merge(merge);
  }

  /// Reads a merge, which is "a b" or ["a", "b"].
  void read_merge(const json& merge) {
    if (merge.is_string()) {
      const std::vector<std::string> parts = split(merge.get<std::string>(), ' ');
      if (parts.size() == 2) {
        file_.merges.emplace_back(parts[0], parts[1]);
        return;
      }
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      file_.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      return;
    }
    fail(fmt::format("merge {} is {}", file_.merges.size() + 1,
                     merge.dump(-1, ' ', false, json::error_handler_t::replace)),
         "two tokens");
  }

  void read_added(const json& added) {
    if (added.is_null()) return;
    if (!added.is_array()) fail("added_tokens is no list", "a list");
    for (const json& each : added) {
      const std::string content = word(each, "content", "");
      if (content.empty()) fail("an added token without content", "texts");
      for (const char* const name : {"single_word", "lstrip", "rstrip"}) {
        if (flag(each, name, false)) {
          fail(fmt::format("the added token '{}' with {}", content, name),
               "added tokens as they "
               "stand");
        }
      }
      file_.added.emplace_back(content, id_of(content, part(each, "id")));
    }
  }

  /// Reads what a TemplateProcessing puts first.
  void read_begin(const json& post) {
    for_each_step(post, "processors", [&](const json& step) {
      const json single = part(step, "single");
      if (!single.is_array() || single.empty()) return;
      const json special = part(single[0], "SpecialToken");
      if (!special.is_null()) file_.begin = word(special, "id", "");
    });
  }

  const json& root_;
  std::string source_;
  json model_;
  BpeFile file_;
};

}  // namespace

BpeFile parse_bpe_file(std::string_view text, const std::string& source) {
  const std::string attempted = "read the tokenizer in " + source;
  require_json_depth(text, attempted);
  try {
    const json root = json::parse(text);
    return BpeReader(root, source).read();
  } catch (const json::exception& failure) {
    throw Error({.attempted = attempted,
                 .value = json_failure(failure.what()),
                 .accepted = "a tokenizer.json",
                 .hint = ""});
  }
}

}  // namespace howard::training
