// SPDX-License-Identifier: Apache-2.0
#include "base/json_node.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard {
namespace {

struct Wheel {
  std::string name;
  int spokes = 0;
  std::optional<double> radius;
};

struct Bicycle {
  std::vector<Wheel> wheels;
  std::vector<std::string> colours;
  bool electric = true;
};

constexpr std::tuple kWheelFields{
    json_field("name", &Wheel::name, &JsonNode::filled_text),
    json_field("spokes", &Wheel::spokes),
    optional_field("radius", &Wheel::radius, &JsonNode::positive),
};

constexpr std::tuple kBicycleFields{
    json_field("wheels", &Bicycle::wheels, kWheelFields),
    json_field("colours", &Bicycle::colours),
    optional_field("electric", &Bicycle::electric),
};

Bicycle bicycle(std::string_view text) {
  const JsonDocument document(
      text, {.attempted = "read b.json", .accepted = "a bicycle", .hint = "a shop"});
  Bicycle read;
  document.root().read(read, kBicycleFields);
  return read;
}

std::string error_of_bicycle(std::string_view text) {
  return error_of([&] { bicycle(text); });
}

TEST(JsonNode, AStructIsFilledByTheListOfItsFields) {
  const Bicycle read = bicycle(R"({"wheels": [{"name": "front", "spokes": 32, "radius": 0.3},
      {"name": "rear", "spokes": 36}], "colours": ["red", "grey"], "bell": "unknown to the list"})");
  ASSERT_EQ(read.wheels.size(), 2U);
  EXPECT_EQ(read.wheels[0].name, "front");
  EXPECT_EQ(read.wheels[1].spokes, 36);
  EXPECT_EQ(read.wheels[0].radius, 0.3);
  EXPECT_EQ(read.wheels[1].radius, std::nullopt);
  EXPECT_EQ(read.colours, (std::vector<std::string>{"red", "grey"}));
  EXPECT_TRUE(read.electric) << "the struct's own default";
}

TEST(JsonNode, AnErrorNamesThePlaceTheValueAndWhatWouldDo) {
  EXPECT_EQ(
      error_of_bicycle(R"({"wheels": [{"name": "front", "spokes": 32},
                                    {"name": "rear", "spokes": 1.5}], "colours": []})"),
      "cannot read b.json at /wheels/1/spokes: 1.5; accepted: a whole number from -2147483648 "
      "to 2147483647; try a shop");
  EXPECT_NE(error_of_bicycle(R"({"wheels": [{"name": "", "spokes": 3}], "colours": []})")
                .find("at /wheels/0/name: \"\"; accepted: a non-empty text"),
            std::string::npos);
  EXPECT_NE(error_of_bicycle(R"({"wheels": [{"spokes": 3}], "colours": []})")
                .find("at /wheels/0: {\"spokes\":3}; accepted: an object with \"name\""),
            std::string::npos);
  EXPECT_NE(error_of_bicycle(R"({"wheels": [], "colours": ["red", 7]})").find("at /colours/1: 7"),
            std::string::npos);
  EXPECT_NE(
      error_of_bicycle(R"({"wheels": [], "colours": [], "electric": 1})").find("true or false"),
      std::string::npos);
}

TEST(JsonNode, ATextThatIsNoJsonIsAnErrorOfItsSource) {
  EXPECT_EQ(error_of_bicycle("{\"wheels\""),
            "cannot read b.json: it is not JSON at column 10; accepted: a bicycle; "
            "try a shop");
  EXPECT_NE(error_of_bicycle("{\n\"wheels\"").find("it is not JSON at line 2, column 9"),
            std::string::npos);
  EXPECT_NE(error_of_bicycle(std::string(300, '[')).find("deep"), std::string::npos);
  EXPECT_NE(error_of_bicycle("7").find("b.json: 7; accepted: an object"), std::string::npos);
}

TEST(JsonNode, NumbersHaveRanges) {
  const JsonDocument document("[18446744073709551615, -1, 1e300, 0, 5]", {.attempted = "read x"});
  const std::vector<JsonNode> items = document.root().items();
  EXPECT_EQ(items[0].natural(), UINT64_MAX);
  EXPECT_THROW(static_cast<void>(items[0].integer()), Error);
  EXPECT_THROW(static_cast<void>(items[1].natural()), Error);
  EXPECT_EQ(items[1].integer(), -1);
  EXPECT_THROW(static_cast<void>(items[2].number()), Error);
  EXPECT_THROW(static_cast<void>(items[3].positive()), Error);
  EXPECT_EQ(items[4].integer(5, 5), 5);
  EXPECT_THROW(static_cast<void>(items[4].integer(0, 4)), Error);
  EXPECT_THROW(static_cast<void>(document.root().items(1, 4, "up to four")), Error);
}

TEST(JsonNode, AWordHasItsPlaceAmongTheKnownOnes) {
  const JsonDocument document(R"({"schema": "s/1", "unit": "ms"})", {.attempted = "read x"});
  EXPECT_EQ(document.root().member("unit").word({"ns", "us", "ms"}), 2U);
  EXPECT_NE(error_of([&] {
              document.root().member("unit").word({"ns", "us"});
            }).find("/unit: \"ms\"; accepted: \"ns\", \"us\""),
            std::string::npos);
  EXPECT_NO_THROW(document.root().require_schema("s/1"));
  EXPECT_NE(error_of([&] { document.root().require_schema("s/2"); }).find("at /schema: \"s/1\""),
            std::string::npos);
}

TEST(JsonNode, MembersKeepTheirOrderAndTheLastOfOneNameCounts) {
  const JsonDocument document(R"({"b/~c": {"x": [[], {}, null, true]}, "a": 1, "a": -2})",
                              {.attempted = "read x"});
  const JsonNode root = document.root();
  EXPECT_EQ(root.member("a").integer(), -2);
  const auto members = root.members();
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].first, "b/~c");
  EXPECT_EQ(members[1].second.integer(), 1);
  EXPECT_EQ(members[0].second.member("x").dump(), "[[],{},null,true]");
  EXPECT_NE(error_of([&] {
              static_cast<void>(members[0].second.member("x").items()[3].text());
            }).find("at /b~1~0c/x/3: true; accepted: a text"),
            std::string::npos);
}

}  // namespace
}  // namespace howard
