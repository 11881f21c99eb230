// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "harness/tracking/formats/json_lines.h"

namespace howard::tracking {
namespace {

// This is "Hwrd", by which `file` and we know the database.
constexpr std::int64_t kApplication = 0x48777264;
constexpr std::int64_t kSchema = 1;
constexpr int kPatience = 10'000;  // milliseconds

// Names, words and contexts are stored once; a value takes some 30 bytes. Values are in the order
// of their series, because a history asks for one series of many runs; an index has them by run.
constexpr const char* kTables = R"sql(
CREATE TABLE context(id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE);
CREATE TABLE words(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE run(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, commit_id TEXT NOT NULL, parent TEXT NOT NULL,
  branch TEXT NOT NULL, time INTEGER NOT NULL, commit_time INTEGER NOT NULL,
  context INTEGER NOT NULL REFERENCES context(id));
CREATE INDEX run_of_commit ON run(commit_id);
CREATE INDEX run_in_order ON run(branch, commit_time, time);
CREATE TABLE series(
  id INTEGER PRIMARY KEY, benchmark TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL,
  better TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE(benchmark, metric, unit, better, kind));
CREATE TABLE value(
  series INTEGER NOT NULL, run INTEGER NOT NULL, value, samples BLOB,
  PRIMARY KEY(series, run)) WITHOUT ROWID;
CREATE INDEX value_of_run ON value(run, series);
)sql";

constexpr std::string_view kOrder =
    " ORDER BY CASE commit_time WHEN 0 THEN time ELSE commit_time END, time, id";

std::string new_name() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) name += fmt::format("{:08x}", random());
  return name;
}

std::string packed(const std::vector<double>& samples) {
  std::string bytes(samples.size() * sizeof(float), '\0');
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto sample = static_cast<float>(samples[i]);
    std::memcpy(bytes.data() + i * sizeof(float), &sample, sizeof(float));
  }
  return bytes;
}

std::vector<double> unpacked(std::string_view bytes) {
  std::vector<double> samples(bytes.size() / sizeof(float));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    float sample = 0;
    std::memcpy(&sample, bytes.data() + i * sizeof(float), sizeof(float));
    samples[i] = sample;
  }
  return samples;
}

Series series_in(const Statement& row, int first) {
  const auto kind = kind_of(row.text(first + 4));
  return {row.text(first), row.text(first + 1), row.text(first + 2),
          row.text(first + 3) == "higher" ? harness::Better::higher : harness::Better::lower,
          kind.value_or(Kind::words)};
}

}  // namespace

History::History(const std::filesystem::path& path, Access access)
    : file_(path, access, kPatience) {
  try {
    open_schema(access);
  } catch (const Error&) {
    // A new file for which there is no room holds nothing, and would be taken for a broken one.
    std::error_code ignored;
    if (access == Access::write && std::filesystem::file_size(path, ignored) == 0) {
      std::filesystem::remove(path, ignored);
    }
    throw;
  }
}

void History::open_schema(Access access) {
  const auto require_ours = [&] {
    if (file_.pragma("application_id") != kApplication) {
      throw Error({.attempted = "use the database " + path().string(),
                   .value = "it is another program's",
                   .accepted = "a file that track has written",
                   .hint = "another --db"});
    }
    if (const std::int64_t schema = file_.pragma("user_version"); schema > kSchema) {
      throw Error({.attempted = "use the database " + path().string(),
                   .value = fmt::format("it is of schema {}, written by a newer version", schema),
                   .accepted = fmt::format("up to schema {}", kSchema),
                   .hint = "this program's newest version"});
    }
  };
  const auto is_empty = [&] { return file_.pragma("schema_version") == 0; };
  if (access == Access::read || !is_empty()) {
    require_ours();
    if (access == Access::write) file_.execute("PRAGMA synchronous=FULL");
    return;
  }
  // Changing the journal does not wait for others by itself.
  for (int tries = 1;; ++tries) {
    try {
      file_.execute("PRAGMA journal_mode=WAL");
      break;
    } catch (const Error&) {
      if (tries == kPatience / 50) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  file_.execute("PRAGMA synchronous=FULL");
  Transaction transaction(file_);
  if (is_empty()) {
    file_.execute(kTables);
    file_.execute(
        fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kSchema)
            .c_str());
  }
  transaction.commit();
  require_ours();
}

std::int64_t History::context_number(const Run& run) {
  const std::string text = conditions_json(run.conditions, run.constants);
  Statement(file_, "INSERT OR IGNORE INTO context(json) VALUES(?)").bind(1, text).run();
  Statement find(file_, "SELECT id FROM context WHERE json=?");
  find.bind(1, text).next();
  return find.integer(0);
}

std::int64_t History::text_number(const std::string& text) {
  Statement(file_, "INSERT OR IGNORE INTO words(text) VALUES(?)").bind(1, text).run();
  Statement find(file_, "SELECT id FROM words WHERE text=?");
  find.bind(1, text).next();
  return find.integer(0);
}

std::int64_t History::series_number(const Series& series) {
  if (const auto known = known_series_.find(series); known != known_series_.end()) {
    return known->second;
  }
  const std::string_view better = series.better == harness::Better::higher ? "higher" : "lower";
  const auto bind = [&](Statement& statement) -> Statement& {
    return statement.bind(1, std::string_view(series.benchmark))
        .bind(2, std::string_view(series.metric))
        .bind(3, std::string_view(series.unit))
        .bind(4, better)
        .bind(5, name_of(series.kind));
  };
  Statement insert(file_,
                   "INSERT OR IGNORE INTO series(benchmark,metric,unit,better,kind) "
                   "VALUES(?,?,?,?,?)");
  bind(insert).run();
  Statement find(file_,
                 "SELECT id FROM series WHERE benchmark=? AND metric=? AND unit=? AND better=? "
                 "AND kind=?");
  bind(find).next();
  return known_series_[series] = find.integer(0);
}

void History::add_rows(std::int64_t run, const std::vector<Row>& rows) {
  Statement insert(file_, "INSERT INTO value(series,run,value,samples) VALUES(?,?,?,?)");
  for (const Row& row : rows) {
    insert.bind(1, series_number(row.series)).bind(2, run);
    switch (row.series.kind) {
      case Kind::exact:
        insert.bind(3, row.picoseconds);
        break;
      case Kind::sampled:
        insert.bind(3, row.value);
        if (!row.samples.empty()) insert.bind_bytes(4, packed(row.samples));
        break;
      case Kind::words:
      case Kind::skipped:
      case Kind::failed:
        insert.bind(3, text_number(row.words));
        break;
    }
    insert.run();
  }
}

bool History::add(Run& run) {
  if (run.id.empty()) run.id = new_name();
  const std::map<Series, std::int64_t> known_before = known_series_;
  try {
    Transaction transaction(file_);
    Statement known(file_, "SELECT 1 FROM run WHERE name=?");
    if (known.bind(1, std::string_view(run.id)).next()) return false;
    const std::int64_t context = context_number(run);
    Statement insert(file_,
                     "INSERT INTO run(name,commit_id,parent,branch,time,commit_time,context) "
                     "VALUES(?,?,?,?,?,?,?)");
    insert.bind(1, std::string_view(run.id))
        .bind(2, std::string_view(run.commit))
        .bind(3, std::string_view(run.parent))
        .bind(4, std::string_view(run.branch))
        .bind(5, run.time)
        .bind(6, run.commit_time)
        .bind(7, context)
        .run();
    add_rows(file_.last_row(), run.rows);
    transaction.commit();
  } catch (...) {
    known_series_ = known_before;  // what was undone has no numbers
    throw;
  }
  return true;
}

std::size_t History::run_count() const {
  Statement count(file_, "SELECT COUNT(*) FROM run");
  count.next();
  return static_cast<std::size_t>(count.integer(0));
}

std::optional<std::int64_t> History::find_run(std::string_view name) const {
  Statement of_branch(file_, "SELECT id FROM run WHERE branch=?" + std::string(kOrder) + "");
  std::optional<std::int64_t> last;
  of_branch.bind(1, name);
  while (of_branch.next()) last = of_branch.integer(0);
  if (last) return last;
  Statement of_name(file_,
                    "SELECT id FROM run WHERE commit_id = ?1 OR commit_id = ?1 || '-dirty'"
                    " ORDER BY commit_id LIKE '%-dirty' DESC, time, id");
  of_name.bind(1, name);
  while (of_name.next()) last = of_name.integer(0);
  if (last) return last;
  constexpr std::size_t kShortest = 4;  // git asks for as many
  const bool is_hash = name.size() >= kShortest &&
                       name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  const bool is_dirty = name.ends_with("-dirty");
  if (!is_hash && !is_dirty) return std::nullopt;
  Statement of_commit(
      file_,
      "SELECT id, commit_id FROM run WHERE commit_id >= ?1 AND commit_id < ?1 || 'g'"
      " ORDER BY commit_id LIKE '%-dirty' DESC, time, id");
  of_commit.bind(1, name);
  std::set<std::string> commits;
  while (of_commit.next()) {
    last = of_commit.integer(0);
    std::string commit = of_commit.text(1);
    commits.insert(commit.substr(0, commit.find('-')));
  }
  if (commits.size() > 1) {
    throw Error({.attempted = fmt::format("find the commit {}", name),
                 .value = fmt::format("{} commits of {} begin so", commits.size(), path().string()),
                 .accepted = "the beginning of one commit's name",
                 .hint = *commits.begin()});
  }
  return last;
}

Run History::load(std::int64_t number) const {
  Run run;
  Statement head(file_,
                 "SELECT name, commit_id, parent, branch, time, commit_time, json FROM run JOIN "
                 "context ON context.id = context WHERE run.id=?");
  if (!head.bind(1, number).next()) return run;
  run.id = head.text(0);
  run.commit = head.text(1);
  run.parent = head.text(2);
  run.branch = head.text(3);
  run.time = head.integer(4);
  run.commit_time = head.integer(5);
  parse_conditions(head.text(6), run.conditions, run.constants);
  Statement rows(file_,
                 "SELECT benchmark, metric, unit, better, kind, value, samples, text FROM value "
                 "JOIN series ON series.id = series LEFT JOIN words ON words.id = value AND "
                 "kind IN ('words','skipped','failed') WHERE run=? ORDER BY series");
  rows.bind(1, number);
  while (rows.next()) {
    Row row{.series = series_in(rows, 0)};
    if (row.series.kind == Kind::exact) {
      row.picoseconds = rows.integer(5);
      row.value = static_cast<double>(row.picoseconds) * 1e-12;
    } else if (row.series.kind == Kind::sampled) {
      row.value = rows.number(5);
      row.samples = unpacked(rows.bytes(6));
    } else {
      row.words = rows.text(7);
    }
    run.rows.push_back(std::move(row));
  }
  return run;
}

std::vector<std::int64_t> History::runs(const std::string& branch) const {
  Statement all(file_, "SELECT id FROM run WHERE ?1 = '' OR branch = ?1" + std::string(kOrder));
  all.bind(1, std::string_view(branch));
  std::vector<std::int64_t> numbers;
  while (all.next()) numbers.push_back(all.integer(0));
  return numbers;
}

std::vector<std::int64_t> History::runs_until(std::int64_t run, std::size_t most) const {
  return alike_until("branch, context", run, most);
}

std::vector<std::int64_t> History::runs_of_commit_until(std::int64_t run, std::size_t most) const {
  return alike_until("branch, context, commit_id", run, most);
}

/// Returns the runs up to `run` that have its values in `columns`, in order.
std::vector<std::int64_t> History::alike_until(std::string_view columns, std::int64_t run,
                                               std::size_t most) const {
  Statement alike(
      file_,
      fmt::format("SELECT id FROM run WHERE ({0}) = (SELECT {0} FROM run WHERE id=?)", columns) +
          std::string(kOrder));
  alike.bind(1, run);
  std::vector<std::int64_t> numbers;
  while (alike.next()) {
    numbers.push_back(alike.integer(0));
    if (numbers.back() == run) break;
  }
  if (numbers.size() > most) {
    numbers.erase(numbers.begin(), numbers.end() - static_cast<std::ptrdiff_t>(most));
  }
  return numbers;
}

std::vector<std::int64_t> History::without_copies(const std::vector<std::int64_t>& runs) const {
  constexpr std::size_t kContent = 16;
  Statement name(file_, "SELECT name FROM run WHERE id=?");
  std::set<std::string> known;
  std::vector<std::int64_t> kept;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    name.bind(1, *run).next();
    if (known.insert(name.text(0).substr(0, kContent)).second) kept.push_back(*run);
    name.reset();
  }
  std::ranges::reverse(kept);
  return kept;
}

std::vector<StoredSeries> History::find_series(std::string_view part) const {
  Statement all(file_,
                "SELECT id, benchmark, metric, unit, better, kind FROM series WHERE kind IN "
                "('exact','sampled') AND instr(benchmark || ' ' || metric, ?) > 0 ORDER BY id");
  all.bind(1, part);
  std::vector<StoredSeries> found;
  while (all.next()) found.push_back({all.integer(0), series_in(all, 1)});
  return found;
}

std::vector<HistoryPoint> History::points(std::int64_t series, const std::string& branch,
                                          std::size_t most) const {
  Statement statement(file_,
                      "SELECT run.id, commit_id, branch, time, value, context FROM value JOIN run "
                      "ON run.id = run WHERE series = ?1 AND (?2 = '' OR branch = ?2)" +
                          std::string(kOrder));
  Statement kind(file_, "SELECT kind FROM series WHERE id=?");
  kind.bind(1, series).next();
  const bool is_exact = kind_of(kind.text(0)) == Kind::exact;
  statement.bind(1, series).bind(2, std::string_view(branch));
  std::vector<HistoryPoint> points;
  while (statement.next()) {
    HistoryPoint point{.run = statement.integer(0),
                       .commit = statement.text(1),
                       .branch = statement.text(2),
                       .time = statement.integer(3),
                       .value = statement.number(4),
                       .context = statement.integer(5)};
    if (is_exact) {
      point.picoseconds = statement.integer(4);
      point.value = static_cast<double>(point.picoseconds) * 1e-12;
    }
    points.push_back(std::move(point));
  }
  if (points.size() > most) {
    points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(most));
  }
  return points;
}

std::map<Series, std::vector<double>> History::sampled_values(
    const std::vector<std::int64_t>& runs) const {
  std::map<Series, std::vector<double>> values;
  Statement statement(file_,
                      "SELECT benchmark, metric, unit, better, kind, value FROM value JOIN series "
                      "ON series.id = series WHERE run = ? AND kind = 'sampled'");
  for (const std::int64_t run : runs) {
    statement.bind(1, run);
    while (statement.next()) values[series_in(statement, 0)].push_back(statement.number(5));
    statement.reset();
  }
  return values;
}

}  // namespace howard::tracking
