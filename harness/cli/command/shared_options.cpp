// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command/shared_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/usual_names.h"
#include "experiments/axes/machines.h"
#include "experiments/laboratory/laboratory.h"

namespace howard::cli {
namespace {

using reports::PictureFormat;
using reports::PictureSize;

constexpr std::int64_t kLeastWidth = 400;
constexpr std::int64_t kLeastHeight = 300;
constexpr std::int64_t kMost = 10000;

/// Returns a size; absent if a picture cannot have the size that `text` says.
std::optional<PictureSize> parse_size(const std::string& text) {
  const std::vector<std::string> sides = split(text, 'x');
  if (sides.size() != 2) return std::nullopt;
  const auto width = parse_integer(sides[0]);
  const auto height = parse_integer(sides[1]);
  if (!width || !height || *width < kLeastWidth || *height < kLeastHeight ||
      std::max(*width, *height) > kMost) {
    return std::nullopt;
  }
  return PictureSize{.width = static_cast<int>(*width), .height = static_cast<int>(*height)};
}

/// Returns each format once, or no format if one of the words is not a format.
std::vector<PictureFormat> parse_formats(const std::string& text) {
  std::vector<PictureFormat> formats;
  for (const std::string& word : split(text, ',')) {
    bool known = false;
    for (const auto format : {PictureFormat::png, PictureFormat::svg, PictureFormat::pdf}) {
      if (word != reports::name_of(format)) continue;
      known = true;
      if (std::ranges::find(formats, format) == formats.end()) formats.push_back(format);
    }
    if (!known) return {};
  }
  return formats;
}

/// Throws UsageError for a machine of several chips, or a box: none of its chips is called so.
void refuse_machine(std::string_view option, const std::string& name) {
  std::vector<std::string_view> words = other_names(name);
  words.insert(words.begin(), name);
  for (const experiments::Machine& machine : experiments::machines()) {
    if (std::ranges::find(words, machine.word) == words.end()) continue;
    refuse_value(
        option, name, "a chip; this is a machine",
        fmt::format("{0} {1}, or for the machine: run_experiment inference -a machine={2}, "
                    "run_experiment python --box {2} SCRIPT",
                    option, machine.profiles.front(), machine.word));
  }
}

/// The values are profiles of this kind, which go to `place`. One that cannot be read is refused
/// later, with what there is.
Values profiles_of(std::string_view kind, std::vector<std::string>& place) {
  Values values = to(place, Completes::profiles);
  values.take = [=, &place](std::string_view option, const std::string& text) {
    for (const chip::ProfileChoice& each : chip::each_chip({{text}, {}})) {
      const std::string& name = each.profiles.front();
      std::string is;
      try {
        is = chip::kind_of(name);
      } catch (const Error&) {
        if (kind == "chip") refuse_machine(option, name);
        continue;
      }
      if (is == kind) continue;
      refuse_value(option, name, fmt::format("a profile of kind {}", kind),
                   fmt::format("--{} {}", is, name));
    }
    place.push_back(text);
  };
  return values;
}

}  // namespace

OptionList output_options(OutputPlaces& places, std::string_view results_text) {
  const auto take_folder = [&places](std::string_view, const std::string& folder) {
    places.results = folder;
    places.keeps_all = true;
  };
  return joined({{{"--results", "DIR", results_text, {take_folder}}},
                 places.files.options(),
                 {color_option(places.color)}});
}

OptionList picture_options(reports::Canvas& canvas, const Applies& applies) {
  const auto take_size = [&canvas](std::string_view option, const std::string& text) {
    canvas.size = parse_size(text);
    if (canvas.size) return;
    refuse_value(option, text,
                 fmt::format("WIDTHxHEIGHT in pixels, {}x{} to {}x{}", kLeastWidth, kLeastHeight,
                             kMost, kMost));
  };
  const auto take_formats = [&canvas](std::string_view option, const std::string& text) {
    canvas.formats = parse_formats(text);
    if (!canvas.formats.empty()) return;
    refuse_value(option, text, "png, svg, pdf, or some of them with commas between");
  };
  return {
      {"--picture-size",
       "WxH",
       "Sets the size of every picture in pixels; a PDF has 96 pixels in an inch (default: "
       "900x600, or wider if bars need it). One whose rows and texts need more height is taller",
       {take_size},
       applies},
      {"--picture-format",
       "F1,F2",
       "Chooses among png, svg and pdf (default png,svg)",
       {take_formats, {"png", "svg", "pdf"}},
       applies}};
}

Option color_option(ColorMode& color) {
  return {"--color", "WHEN",
          "Colours the output: auto (default), always or never. NO_COLOR is honoured",
          choice(color, {{"auto", ColorMode::automatic},
                         {"always", ColorMode::always},
                         {"never", ColorMode::never}})};
}

Option threads_option(int& threads, std::string_view text) {
  return {"--threads", "N", text, whole(threads, harness::kThreads)};
}

OptionList chip_options(chip::ProfileChoice& choice) {
  return {
      renamed(
          "--profile",
          {"--chip", "NAME|FILE",
           "Emulates another chip: wormhole_b0_n300 (default), blackhole_p150 or another that "
           "`list` shows. Several with commas between are an axis of emulated points. A file may "
           "say \"extends\": \"wormhole_b0_n300\" and hold only what differs. Published figures "
           "stand beside the chip and the software that they were measured with, and beside no "
           "constants that were set otherwise",
           profiles_of("chip", choice.profiles)}),
      {"--software", "NAME|FILE",
       "Emulates another version of the software: tt_metal_2025_12 (default), tt_metal_2026_07 or, "
       "on Blackhole alone, tt_metal_2025_11. Each architecture has constants of its own",
       profiles_of("software", choice.profiles)},
      {"--card", "FILE",
       "Takes the times of your own card from FILE, which `learn` makes of its logs: of calls that "
       "ran there, and of others of their kinds",
       profiles_of("card", choice.profiles)},
      {"--set", "NAME=QUANTITY",
       "Replaces one constant, as in --set dram.read.noc1=190GB/s. Repeat it for more. The "
       "names are in engines/chip/profiles. Several values make an axis of emulated "
       "points: --set noc.link=14B/cycle,28B/cycle, or from 20 to 32 in steps of 2: --set "
       "noc.link=20..32:2B/cycle",
       to(choice.settings, Completes::constants)}};
}

Option binding_option(bool& binding) {
  return {"--no-binding", "",
          "Lets the system move the host engine's threads. Without it they stay on cores of their "
          "own if there is one for each core of the machine",
          to(binding, false)};
}

Option backend_option(harness::Backend& backend) {
  return {"--backend", "NAME",
          "Chooses host (default), or emulated, which computes the host's numbers in the chip's "
          "virtual time",
          choice(backend,
                 {{"host", harness::Backend::host}, {"emulated", harness::Backend::emulated}})};
}

Option database_option(std::string& database, std::string_view text) {
  return {"--db", "FILE", text, to(database)};
}

Option page_option(std::optional<std::string>& page, std::string_view text,
                   const Applies& applies) {
  return {"--page", "[=FILE]", text, to(page), applies};
}

void require_chip(bool sets, bool has_chip) {
  if (!sets || has_chip) return;
  throw UsageError(
      "--chip, --software and --set are of the emulated chip, and all of this runs on the host; "
      "try --backend emulated, or leave them out");
}

std::unique_ptr<experiments::Laboratory> open_laboratory(
    const experiments::LaboratorySettings& settings) {
  return read_settings(settings.profiles, [&](const chip::ProfileChoice&) {
    return std::make_unique<experiments::Laboratory>(settings);
  });
}

void require_settings(const chip::ProfileChoice& choice) {
  std::vector<std::string> names;
  for (const std::string& setting : choice.settings) {
    names.push_back(split(setting, '=').front());
    if (std::ranges::count(names, names.back()) == 1) continue;
    throw UsageError(
        fmt::format("--set gives {0} twice; accepted: each constant once; several values of it are "
                    "one option: --set {0}=VALUE,VALUE",
                    names.back()));
  }
  try {
    for (const chip::ProfileChoice& each : chip::each_chip({choice.profiles, {}})) {
      static_cast<void>(chip::load_profiles(each));
    }
  } catch (const Error& failure) {
    const auto is_there = [](const std::string& profile) {
      std::error_code ignored;
      return std::filesystem::exists(profile, ignored);
    };
    if (std::ranges::any_of(choice.profiles, is_there)) throw;
    throw UsageError(failure.what());
  }
}

}  // namespace howard::cli
