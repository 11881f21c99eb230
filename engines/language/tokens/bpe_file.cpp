// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "base/json_node.h"
#include "base/text.h"
#include "engines/language/tokens/bpe_tokenizer.h"

namespace howard::language {
namespace {

constexpr std::string_view kBlank = "\xe2\x96\x81";  // U+2581, which stands for a blank

/// Reads the parts of a tokenizer.json into a BpeFile.
class BpeReader {
 public:
  explicit BpeReader(const JsonNode& root) : root_(root), model_(root.member("model")) {}

  BpeFile read() {
    if (word(model_, "type", "BPE") != "BPE") model_.member("type").fail("BPE");
    if (const auto step = part(root_, "normalizer")) read_normalizer(*step);
    read_pre_tokenizer();
    read_model();
    if (const auto added = part(root_, "added_tokens")) read_added(*added);
    if (const auto step = part(root_, "post_processor")) read_begin(*step);
    return std::move(file_);
  }

 private:
  /// Returns a member, or nothing if it is missing or null.
  static std::optional<JsonNode> part(const JsonNode& object, std::string_view name) {
    if (!object.has(name) || object.member(name).is_null()) return std::nullopt;
    return object.member(name);
  }

  static std::string word(const JsonNode& object, std::string_view name,
                          std::string_view otherwise) {
    const auto value = part(object, name);
    return value ? value->text() : std::string(otherwise);
  }

  static bool flag(const JsonNode& object, std::string_view name, bool otherwise) {
    const auto value = part(object, name);
    return value ? value->boolean() : otherwise;
  }

  /// Visits the steps of a Sequence, or the one step that it is.
  template <class Visit>
  static void for_each_step(const JsonNode& step, std::string_view list, const Visit& visit) {
    if (word(step, "type", "") != "Sequence") return visit(step);
    for (const JsonNode& each : step.member(list).items()) visit(each);
  }

  void read_normalizer(const JsonNode& normalizer) {
    for_each_step(normalizer, "normalizers", [&](const JsonNode& step) {
      const std::string type = word(step, "type", "");
      if (type == "Prepend" && word(step, "prepend", "") == kBlank) {
        file_.prefix = BpeFile::Prefix::each;
        file_.prefixes_blanks = true;
      } else if (type == "Replace" && word(step.member("pattern"), "String", "") == " " &&
                 word(step, "content", "") == kBlank) {
        file_.spelling = BpeFile::Spelling::blanks;
      } else {
        step.fail("no normalizer, or Llama 2's, which turns blanks into U+2581");
      }
    });
  }

  void read_pre_tokenizer() {
    bool spells_bytes = false;
    const auto visit = [&](const JsonNode& step) {
      const std::string type = word(step, "type", "");
      if (type == "ByteLevel") {
        spells_bytes = true;
        if (flag(step, "add_prefix_space", true)) file_.prefix = BpeFile::Prefix::each;
        if (flag(step, "use_regex", true)) file_.patterns.emplace_back(kGpt2Pattern);
      } else if (type == "Split") {
        if (word(step, "behavior", "") != "Isolated" || flag(step, "invert", false)) {
          step.fail("a Split that is Isolated: pieces between and at its matches");
        }
        file_.patterns.push_back(step.member("pattern").member("Regex").text());
      } else if (type == "Metaspace" && word(step, "replacement", "") == kBlank &&
                 !flag(step, "split", true)) {
        file_.spelling = BpeFile::Spelling::blanks;
        const std::string scheme = word(step, "prepend_scheme", "always");
        file_.prefix = scheme == "never"   ? BpeFile::Prefix::none
                       : scheme == "first" ? BpeFile::Prefix::first
                                           : BpeFile::Prefix::each;
      } else {
        step.fail(
            "ByteLevel, Split, a Metaspace that does not split, and "
            "Sequence of them");
      }
    };
    const auto steps = part(root_, "pre_tokenizer");
    if (steps) for_each_step(*steps, "pretokenizers", visit);
    if (spells_bytes == (file_.spelling == BpeFile::Spelling::blanks)) {
      (steps ? *steps : root_)
          .fail(
              "a pre_tokenizer whose tokens are bytes (ByteLevel), or "
              "characters with U+2581 "
              "for blanks, not both");
    }
  }

  static std::uint32_t id_of(const JsonNode& value) {
    constexpr std::int64_t kMost = 1 << 24;
    return static_cast<std::uint32_t>(value.integer(0, kMost - 1));
  }

  void read_model() {
    for (const char* const name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!word(model_, name, "").empty()) model_.member(name).fail("no such text");
    }
    file_.takes_whole_pieces = flag(model_, "ignore_merges", false);
    if (const auto unknown = part(model_, "unk_token")) file_.unknown = unknown->text();
    const JsonNode vocabulary = model_.member("vocab");
    for (const auto& [token, id] : vocabulary.members()) {
      file_.vocabulary.emplace_back(token, id_of(id));
    }
    if (file_.vocabulary.empty()) vocabulary.fail("tokens with their numbers");
    for (const JsonNode& merge : model_.member("merges").items()) read_merge(merge);
  }

  /// Reads a merge, which is "a b" or ["a", "b"].
  void read_merge(const JsonNode& merge) {
    const std::vector<std::string> parts =
        merge.is_text() ? split(merge.text(), ' ') : merge.texts();
    if (parts.size() != 2) merge.fail("two tokens");
    file_.merges.emplace_back(parts[0], parts[1]);
  }

  void read_added(const JsonNode& added) {
    for (const JsonNode& each : added.items()) {
      for (const char* const name : {"single_word", "lstrip", "rstrip"}) {
        if (flag(each, name, false)) each.member(name).fail("false");
      }
      file_.added.emplace_back(each.member("content").filled_text(), id_of(each.member("id")));
    }
  }

  /// Reads what a TemplateProcessing puts first.
  void read_begin(const JsonNode& post) {
    for_each_step(post, "processors", [&](const JsonNode& step) {
      const auto single = part(step, "single");
      if (!single || !single->is_array() || single->items().empty()) return;
      const auto special = part(single->items().front(), "SpecialToken");
      if (special) file_.begin = word(*special, "id", "");
    });
  }

  JsonNode root_;
  JsonNode model_;
  BpeFile file_;
};

}  // namespace

BpeFile parse_bpe_file(std::string_view text, const std::string& source) {
  const JsonDocument document(
      text, {.attempted = "read the tokenizer in " + source, .accepted = "a tokenizer.json"});
  return BpeReader(document.root()).read();
}

}  // namespace howard::language
