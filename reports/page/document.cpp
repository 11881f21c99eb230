// SPDX-License-Identifier: Apache-2.0
#include "reports/page/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "reports/page/html.h"
#include "reports/page/timeline.h"

namespace howard::reports {

namespace embedded {
extern const std::string_view kPageStyle;
extern const std::string_view kPageStyleDigest;
extern const std::string_view kTablesScript, kTablesScriptDigest;
extern const std::string_view kChartsScript, kChartsScriptDigest;
extern const std::string_view kPageScript, kPageScriptDigest;
}  // namespace embedded

namespace {

/// Returns "sha256-..." of a digest in hexadecimal digits, as a Content-Security-Policy wants it.
std::string policy_hash(std::string_view digest) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint32_t> bytes;
  for (std::size_t i = 0; i + 1 < digest.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint32_t>(std::stoul(std::string(digest.substr(i, 2)), nullptr, 16)));
  }
  std::string text = "sha256-";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t place) { return place < bytes.size() ? bytes[place] : 0U; };
    const std::uint32_t group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k) {
      const bool filler = i + k > bytes.size();
      text += filler ? '=' : kDigits[group >> (18U - 6U * k) & 63U];
    }
  }
  return text;
}

std::string head(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; "
      "script-src '{}' '{}' '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      policy_hash(embedded::kPageStyleDigest), policy_hash(embedded::kTablesScriptDigest),
      policy_hash(embedded::kChartsScriptDigest), policy_hash(embedded::kPageScriptDigest),
      html_text(title), embedded::kPageStyle);
}

/// Returns an address for each part, no two the same.
std::vector<std::string> addresses_of(std::span<const PagePart> parts) {
  std::vector<std::string> addresses;
  for (const PagePart& part : parts) {
    std::string address = html_word(part.name);
    for (int number = 2; std::ranges::find(addresses, address) != addresses.end(); ++number) {
      address = fmt::format("{}-{}", html_word(part.name), number);
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

std::string navigation(std::span<const PagePart> parts, const std::vector<std::string>& addresses) {
  std::string text = "<nav aria-label=\"Contents\">";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += fmt::format("<a href=\"#{}\">{}</a>\n", addresses[i], html_text(parts[i].name));
  }
  return text + "</nav>\n";
}

}  // namespace

std::string html_list(std::string_view kind, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string text = fmt::format("<ul class=\"{}\">\n", kind);
  for (const std::string& sentence : sentences) text += "<li>" + html_text(sentence) + "</li>\n";
  return text + "</ul>\n";
}

std::string html_paragraphs(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += "<p>" + html_text(sentence) + "</p>\n";
  return text;
}

std::string html_tables(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) text += html_table(table);
  return text;
}

std::string html_context(const harness::RunContext& context) {
  std::string text = "<dl class=\"context\">\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html_text(value));
  };
  fact("version", context.version);
  fact("commit", context.git);
  fact("chip", context.chip.text());
  fact("software", context.software.text());
  fact("CPU", context.cpu);
  if (context.threads > 0) fact("threads", std::to_string(context.threads));
  fact("compiler", context.compiler);
  fact("seed", std::to_string(context.seed));
  return text + "</dl>\n";
}

PagePart timeline_part(std::string_view words, std::span<const TimelinePoint> points) {
  return {
      .name = "timeline",
      .heading = "Timeline",
      .html = fmt::format(
          "<p>{} Drag to move, turn the wheel or press + and - to zoom, arrow keys to move, 0 to "
          "see all. Gaps between kernels are coloured by what the chip waited "
          "for.</p>\n<div id=\"timeline-view\"><noscript><p>The timeline needs "
          "JavaScript.</p></noscript></div>\n<script type=\"application/json\" "
          "id=\"timeline-data\">{}</script>\n",
          html_text(words), timeline_json(points))};
}

std::string html_document(std::string_view title, std::span<const PagePart> parts) {
  const std::vector<std::string> addresses = addresses_of(parts);
  std::string text = head(title);
  text += fmt::format(
      "<a class=\"skip\" href=\"#{}\">to the results</a>\n<header><h1>Howard</h1></header>\n{}"
      "<main>\n",
      addresses.empty() ? "" : addresses.front(), navigation(parts, addresses));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", addresses[i],
                        html_text(parts[i].heading), parts[i].html);
  }
  text += "</main>\n";
  for (const std::string_view script :
       {embedded::kTablesScript, embedded::kChartsScript, embedded::kPageScript}) {
    text += fmt::format("<script>{}</script>\n", script);
  }
  return text + "</body>\n</html>\n";
}

}  // namespace howard::reports
