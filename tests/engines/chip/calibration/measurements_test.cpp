// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/measurements.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::calibration {
namespace {

using nlohmann::json;

json document() {
  return json::parse(R"({"schema": "howard.measurements/1", "name": "t", "kind": "host_bound",
    "title": "a title", "source": "a source", "hardware": "N300", "grid": "8x7",
    "measured": [{"column": "time", "unit": "ms", "tolerance": 0.1}],
    "columns": ["engine", "calls", "time"], "rows": [["a", 3, 0.5], ["b", 4.5, 1]]})");
}

std::string error_of(const std::function<void(json&)>& change) {
  json changed = document();
  change(changed);
  return howard::error_of([&] { parse_measurements(changed.dump(), "t.json"); });
}

TEST(Measurements, CellsAreReadByColumn) {
  const MeasurementTable table = parse_measurements(document().dump(), "t.json");
  EXPECT_EQ(table.grid, (CoreGrid{8, 7}));
  EXPECT_EQ(table.text(1, "engine"), "b");
  EXPECT_EQ(table.count(0, "calls"), 3);
  EXPECT_DOUBLE_EQ(table.seconds(0, table.measured[0]), 0.5e-3);
  EXPECT_THROW(table.count(1, "calls"), Error) << "4.5 calls";
  EXPECT_THROW(table.number(0, "engine"), Error);
  EXPECT_THROW(table.text(0, "time"), Error);
  EXPECT_THROW(table.number(0, "missing"), Error);
}

TEST(Measurements, WrongFilesSayWhatIsWrong) {
  EXPECT_EQ(error_of([](json&) {}), "");
  for (const char* const key : {"schema", "name", "kind", "title", "source", "hardware", "grid",
                                "measured", "columns", "rows"}) {
    const std::string text = error_of([&](json& d) { d.erase(key); });
    EXPECT_NE(text.find("t.json"), std::string::npos) << key << ": " << text;
  }
  const auto is_named = [](const std::string& place, const json& value) {
    const std::string text = error_of([&](json& d) { d[json::json_pointer(place)] = value; });
    return text.find("t.json at " + place + ": " + value.dump()) != std::string::npos;
  };
  EXPECT_TRUE(is_named("/grid", "8"));
  EXPECT_TRUE(is_named("/grid", "8x7x6"));
  EXPECT_TRUE(is_named("/measured/0/unit", "h"));
  EXPECT_TRUE(is_named("/measured/0/tolerance", 0));
  EXPECT_TRUE(is_named("/rows/1", {"b", 4}));
  EXPECT_TRUE(is_named("/rows/1", {"b", 4.5, -1}));
  EXPECT_TRUE(is_named("/rows/0/0", nullptr));
  EXPECT_NE(error_of([](json& d) { d["fold"] = "colour"; }).find("colour"), std::string::npos);
  EXPECT_THROW(parse_measurements("{", "t.json"), Error);
}

TEST(Measurements, BuiltInTablesHaveNamesOfTheirOwnAndAPublicSource) {
  std::set<std::string> names;
  for (const MeasurementTable& table : built_in_measurements()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.source.empty());
  }
  EXPECT_EQ(names.size(), 9U);
}

}  // namespace
}  // namespace howard::calibration
