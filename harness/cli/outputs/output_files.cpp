// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/output_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/command/program.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed with all that is in it.
class PassingFolder {
 public:
  PassingFolder() {
    std::string name = (fs::temp_directory_path() / "howard.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error({.attempted = "make a folder for pictures", .value = name});
    }
    path_ = name;
  }
  ~PassingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Draws all pictures in one format: the first becomes `file`, the second "FILE_2.svg".
std::vector<fs::path> draw(const Shown& shown, const Form& form, const fs::path& file,
                           reports::Canvas canvas) {
  const PassingFolder folder;
  canvas.folder = folder.path();
  for (const auto format :
       {reports::PictureFormat::png, reports::PictureFormat::svg, reports::PictureFormat::pdf}) {
    if (reports::name_of(format) == form.name) canvas.formats = {format};
  }
  const reports::PlotFiles plots = shown.draw ? shown.draw(canvas) : reports::PlotFiles{};
  std::vector<fs::path> made;
  for (const fs::path& plot : plots.written) {
    if (plot.extension() != form.endings) continue;
    fs::path place = file;
    if (!made.empty()) {
      place.replace_filename(
          fmt::format("{}_{}{}", file.stem().string(), made.size() + 1, file.extension().string()));
    }
    write_file(place, read_file(plot));
    made.push_back(place);
  }
  if (!plots.failures.empty() || made.empty()) {
    throw Error({.attempted = "draw " + file.string(),
                 .value = !plots.failures.empty()       ? plots.failures.front()
                          : !plots.not_rendered.empty() ? plots.not_rendered
                                                        : "there is nothing to draw",
                 .accepted = "what has a picture"});
  }
  return made;
}

}  // namespace

std::vector<std::string> names_of_files(const std::vector<fs::path>& files) {
  std::vector<fs::path> stems;
  for (const fs::path& file : files) {
    const fs::path stem = fs::path(file).replace_extension();
    if (std::ranges::find(stems, stem) == stems.end()) stems.push_back(stem);
  }
  std::vector<std::string> lines;
  for (const fs::path& stem : stems) {
    std::vector<std::string> extensions;
    for (const fs::path& file : files) {
      if (fs::path(file).replace_extension() != stem) continue;
      extensions.push_back(file.extension().string().substr(file.has_extension() ? 1 : 0));
    }
    lines.push_back(extensions.size() == 1
                        ? stem.string() + (extensions[0].empty() ? "" : "." + extensions[0])
                        : fmt::format("{}.{{{}}}", stem.string(), join(extensions, ",")));
  }
  return lines;
}

void say_written(const std::vector<fs::path>& files) {
  for (const std::string& line : names_of_files(files)) fmt::print(stderr, "wrote {}\n", line);
}

void require_writable_file(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    throw Error({.attempted = "write " + file,
                 .value = "it is a folder",
                 .accepted = "a file",
                 .hint = (fs::path(file) / "NAME").string()});
  }
  const bool is_file =
      file != "-" && (!fs::exists(file, ignored) || fs::is_regular_file(file, ignored));
  if (!is_file) return;
  const fs::path folder = fs::path(file).parent_path();
  require_writable_folder(folder.empty() ? "." : folder);
}

namespace {

/// Keeps a text: options hold views of theirs, and may outlive what declares them.
std::string_view kept(std::string text) {
  static std::set<std::string> texts;
  return *texts.insert(std::move(text)).first;
}

}  // namespace

OptionList OutputFiles::options() {
  offers.page = page != nullptr;
  offers.trace = trace != nullptr;
  std::vector<std::string> endings, others, names;
  for (const Form* const form : forms_of(offers)) {
    names.emplace_back(form->name);
    if (!form->endings.empty()) {
      endings.emplace_back(form->endings);
    } else {
      others.push_back(form->text.empty() ? std::string(form->name)
                                          : fmt::format("{} ({})", form->name, form->text));
    }
  }
  const auto take_it = [this](std::string_view name, const std::string& value) {
    take(name, value);
  };
  return {{.names = "-o, --out",
           .value = "FILE",
           .text = kept(fmt::format(
               "Writes what was found to FILE, in the form of its ending: {}. It can be given "
               "several times. FORM=FILE, --json FILE, --csv FILE and --md FILE name the form too; "
               "\"-\" is standard output",
               join(endings, ", "))),
           .values = {.take = take_it, .words = {}, .repeats = true},
           .also = "--json,--csv,--md,--times,--also,--export"},
          {.names = "--format",
           .value = "FORM",
           .text = kept(fmt::format(
               "Prints what was found to standard output in a form, by its name or its ending{}{}",
               others.empty() ? "" : "; forms for other programs: ", join(others, ", "))),
           .values = {.take = take_it, .words = std::move(names), .repeats = true}}};
}

void OutputFiles::refuse(std::string_view option, const std::string& value) const {
  std::vector<std::string> forms;
  for (const Form* const form : forms_of(offers)) {
    if (option == "-o" || option == "--out") {
      if (!form->endings.empty()) forms.emplace_back(form->endings);
    } else {
      forms.emplace_back(form->name);
    }
  }
  if (option == "-o" || option == "--out") {
    refuse_value(option, value, "a file that ends in " + join(forms, ", ") + ", or FORM=FILE");
  }
  refuse_value(option, value, join(forms, ", "));
}

void OutputFiles::take(std::string_view option, const std::string& value) {
  const auto named = [&](std::string_view name) {
    const Form* const form = form_named(name, offers);
    if (form == nullptr) refuse(option, std::string(name));
    return form;
  };
  if (option == "--format") {
    const Form* const by_ending = form_of_file("." + value, offers);
    const Form* const by_name = form_named(value, offers);
    return add(option,
               by_name != nullptr     ? by_name
               : by_ending != nullptr ? by_ending
                                      : named(value),
               "-");
  }
  if (option == "--export") return add(option, named("jsonl"), value);
  const bool has_form = option != "-o" && option != "--out" && option != "--also";
  if (has_form) return add(option, named(option.substr(2)), value);
  const std::size_t equals = value.find('=');
  if (equals != std::string::npos && equals + 1 < value.size()) {
    const Form* const form = form_named(value.substr(0, equals), offers);
    if (form != nullptr) return add(option, form, value.substr(equals + 1));
  }
  if (option == "--also") refuse_value(option, value, "FORMAT=FILE", "-o junit=junit.xml");
  if (value == "-") {
    stream_without_form_ = true;
    return;
  }
  const Form* const form = form_of_file(value, offers);
  if (form == nullptr) refuse(option, value);
  add(option, form, value);
}

void OutputFiles::add(std::string_view option, const Form* form, const std::string& file) {
  are_all_ = are_all_ || option != "--times";
  if (form->name == "html" && page != nullptr) {
    *page = file;
  } else if (form->name == "pftrace") {
    *trace = file;
  } else if (form->is_picture && file == "-") {
    refuse_value(option, option == "--format" ? std::string(form->name) : file,
                 "a file for a picture", fmt::format("-o FILE.{}", form->name));
  } else {
    wanted_.push_back({form, file, std::string(option)});
  }
}

bool OutputFiles::has(std::string_view form) const {
  return std::ranges::any_of(wanted_, [&](const Wanted& one) { return one.form->name == form; });
}

bool OutputFiles::has_picture() const {
  return std::ranges::any_of(wanted_, [](const Wanted& one) { return one.form->is_picture; });
}

bool OutputFiles::need_results() const {
  return std::ranges::any_of(wanted_, [](const Wanted& one) {
    constexpr std::array<std::string_view, 4> kOfTables{"text", "md", "latex", "html"};
    return !one.form->is_picture && std::ranges::find(kOfTables, one.form->name) == kOfTables.end();
  });
}

bool OutputFiles::use_standard_output() const {
  return std::ranges::find(wanted_, "-", &Wanted::file) != wanted_.end();
}

fs::path OutputFiles::json_file() const {
  const auto found = std::ranges::find_if(
      wanted_, [](const Wanted& one) { return one.form->name == "json" && one.file != "-"; });
  return found == wanted_.end() ? fs::path() : fs::path(found->file);
}

void OutputFiles::require_apart(std::vector<std::pair<std::string, std::string>> others) const {
  if (stream_without_form_ && !use_standard_output()) {
    throw UsageError("-o - does not say in which form; try --format json");
  }
  for (const Wanted& one : wanted_) others.emplace_back(one.option, one.file);
  std::map<fs::path, std::vector<std::string>> places;
  for (const auto& [name, file] : others) {
    std::error_code ignored;
    // /dev/null takes any number of texts.
    if (file.empty() || fs::is_other(file, ignored)) continue;
    const auto place =
        file == "-" ? fs::path(file) : fs::weakly_canonical(fs::absolute(file), ignored);
    places[place].push_back(name);
  }
  for (const auto& [place, names] : places) {
    if (names.size() < 2) continue;
    const Error failure(
        {.attempted = place == "-" ? "write to standard output" : "write " + place.string(),
         .value = join(names, " and "),
         .accepted = "one of them",
         .hint = "a file of its own for each"});
    throw UsageError(failure.what());
  }
}

void OutputFiles::require_writable() const {
  for (const Wanted& one : wanted_) require_writable_file(one.file);
}

bool OutputFiles::write(const Shown& shown, const reports::Canvas& canvas,
                        const reports::TerminalStyle& style, std::vector<fs::path>& written) const {
  bool well = true;
  for (const Wanted& one : wanted_) {
    try {
      if (one.form->is_picture) {
        const std::vector<fs::path> made = draw(shown, *one.form, one.file, canvas);
        written.insert(written.end(), made.begin(), made.end());
        continue;
      }
      const bool is_file = one.file != "-";
      write_file(one.file, [&](const TextSink& sink) {
        one.form->write(shown, is_file ? reports::TerminalStyle() : style, sink);
      });
      if (is_file) written.emplace_back(one.file);
      if (one.form->has_step_summary) append_step_summary(shown);
    } catch (const Error& failure) {
      complain("{}", failure.what());
      well = false;
    }
  }
  return well;
}

void OutputFiles::print(const Shown& shown, std::string_view usual,
                        const reports::TerminalStyle& style) const {
  if (use_standard_output()) return;
  form_named(usual, offers)->write(shown, style, [](std::string_view piece) {
    fmt::print("{}", piece);
  });
}

}  // namespace howard::cli
