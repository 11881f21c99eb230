// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/constants.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::chip {
namespace {

constexpr Frequency kGigahertz{1'000'000'000};

std::string profile(const std::string& constants) {
  return R"({"schema": "howard.profile/1", "name": "p", "kind": "chip", "constants": {)" +
         constants + "}}";
}

std::string constant(const std::string& name, const std::string& value, const std::string& unit) {
  return "\"" + name + R"(": {"value": )" + value + R"(, "unit": ")" + unit +
         R"(", "meaning": "m", "source": "s"})";
}

Constants parse(const std::string& constants) {
  return Constants::parse(profile(constants), "p.json", "chip");
}

TEST(Constants, UnitsAreConverted) {
  Constants c = parse(constant("a", "2.4", "cycles") + "," + constant("b", "28", "B/cycle") + "," +
                      constant("c", "12", "GiB") + "," + constant("d", "1.5", "us") + "," +
                      constant("e", "190", "GB/s") + "," + constant("f", "7", "count") + "," +
                      constant("g", "800", "MHz"));
  EXPECT_EQ(c.time("a", kGigahertz).ps(), 2400);
  EXPECT_EQ(c.bandwidth("b", kGigahertz), Bandwidth(28'000'000'000));
  EXPECT_EQ(c.bytes("c"), Bytes(std::int64_t{12} << 30));
  EXPECT_EQ(c.time("d").ps(), 1'500'000);
  EXPECT_EQ(c.bandwidth("e", kGigahertz), Bandwidth(190'000'000'000));
  EXPECT_EQ(c.count("f"), 7);
  EXPECT_EQ(c.frequency("g"), Frequency(800'000'000));
  EXPECT_NO_THROW(c.require_all_read());
}

TEST(Constants, CyclesAndBytesPerCycleFollowTheClock) {
  Constants c = parse(constant("a", "2.4", "cycles") + "," + constant("b", "28", "B/cycle"));
  const Frequency half(500'000'000);
  EXPECT_EQ(c.time("a", half).ps(), 4800);
  EXPECT_EQ(c.bandwidth("b", half), Bandwidth(14'000'000'000));
}

TEST(Constants, BadFilesSayWhatIsWrongAndWhere) {
  EXPECT_NE(
      error_of([] { Constants::parse("{", "p.json", "chip"); }).find("p.json: it is not JSON"),
      std::string::npos);
  EXPECT_NE(error_of([] { Constants::parse("[]", "p.json", "chip"); }).find("accepted: an object"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              Constants::parse(profile(""), "p.json", "software");
            }).find("/kind: \"chip\"; accepted: \"software\""),
            std::string::npos);
  EXPECT_NE(error_of([] { parse(R"("a": 3)"); }).find("at /constants/a: 3; accepted: an object"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              parse(R"("a": {"value": 3, "unit": "ns"})");
            }).find("an object with \"meaning\""),
            std::string::npos);
}

TEST(Constants, AMissingConstantIsNamed) {
  Constants c = parse(constant("a", "1", "ns"));
  EXPECT_NE(error_of([&] { c.time("b"); }).find("constant b is missing"), std::string::npos);
}

TEST(Constants, AWrongUnitListsTheRightOnes) {
  Constants c = parse(constant("a", "1", "ms") + "," + constant("b", "1", "cycles"));
  const std::string text = error_of([&] { c.bandwidth("a", kGigahertz); });
  EXPECT_NE(text.find("constant a has unit 'ms'"), std::string::npos) << text;
  EXPECT_NE(text.find("GB/s"), std::string::npos) << text;
  EXPECT_NE(error_of([&] { c.time("b"); }).find("has unit 'cycles'"), std::string::npos)
      << "a host time has no cycles";
}

TEST(Constants, AShareFollowsItsWholeUnlessItIsGivenByItself) {
  Constants c = parse(constant("whole", "200", "GB/s") + "," + constant("share", "12.5", "%") +
                      "," + constant("own", "30", "GB/s"));
  EXPECT_EQ(c.share("share", "whole", kGigahertz), Bandwidth(25'000'000'000));
  EXPECT_EQ(c.share("own", "whole", kGigahertz), Bandwidth(30'000'000'000));
  c.set("whole", "400GB/s");
  EXPECT_EQ(c.share("share", "whole", kGigahertz), Bandwidth(50'000'000'000));
  EXPECT_EQ(c.share("own", "whole", kGigahertz), Bandwidth(30'000'000'000));
  EXPECT_NE(error_of([&] { c.bandwidth("share", kGigahertz); }).find("has unit '%'"),
            std::string::npos);
}

TEST(Constants, AFlagIsZeroOrOne) {
  Constants c = parse(constant("no", "0", "count") + "," + constant("yes", "1", "count") + "," +
                      constant("two", "2", "count"));
  EXPECT_FALSE(c.flag("no"));
  EXPECT_TRUE(c.flag("yes"));
  EXPECT_NE(error_of([&] { c.flag("two"); }).find("constant two is 2"), std::string::npos);
}

TEST(Constants, ValuesOutOfRangeAreErrors) {
  Constants c = parse(constant("a", "-1", "ns") + "," + constant("b", "0", "GB/s") + "," +
                      constant("c", "1.5", "count") + "," + constant("d", "0", "MHz") + "," +
                      constant("e", "1e30", "ms") + "," + constant("f", "0", "count"));
  EXPECT_THROW(c.time("a"), Error);
  EXPECT_THROW(c.bandwidth("b", kGigahertz), Error);
  EXPECT_THROW(c.count("c"), Error);
  EXPECT_THROW(c.frequency("d"), Error);
  EXPECT_THROW(c.time("e"), Error);
  EXPECT_THROW(c.count("f"), Error);
}

TEST(Constants, AConstantNobodyReadsIsAMisspelling) {
  Constants c = parse(constant("dram.read", "1", "ns") + "," + constant("dram.raed", "1", "ns"));
  c.time("dram.read");
  const std::string text = error_of([&] { c.require_all_read(); });
  EXPECT_NE(text.find("unknown constant dram.raed"), std::string::npos) << text;
  EXPECT_NE(text.find("\"dram.read\""), std::string::npos) << text;
}

TEST(Constants, AFileThatExtendsABuiltInProfileHoldsOnlyTheDifference) {
  const std::string text =
      R"({"schema": "howard.profile/1", "name": "mine", "kind": "chip",
          "extends": "wormhole_b0_n300", "constants": {)" +
      constant("pcie.read", "164", "GB/s") + "}}";
  Constants c = Constants::parse(text, "mine.json", "chip");
  EXPECT_EQ(c.name(), "mine");
  EXPECT_EQ(c.bandwidth("pcie.read", kGigahertz), Bandwidth(164'000'000'000));
  EXPECT_EQ(c.bandwidth("pcie.write", kGigahertz), Bandwidth(13'500'000'000));
}

TEST(Constants, ExtendingAnUnknownProfileListsTheKnownOnes) {
  const std::string text =
      R"({"schema": "howard.profile/1", "name": "mine", "kind": "chip", "extends": "wormhole",
          "constants": {}})";
  EXPECT_NE(error_of([&] { Constants::parse(text, "mine.json", "chip"); }).find("wormhole_b0_n300"),
            std::string::npos);
}

std::string bounded(const std::string& value, const std::string& bounds,
                    const std::string& source = "calibrated on rows") {
  return R"("a": {"value": )" + value + R"(, "unit": "ns", "meaning": "m", "source": ")" + source +
         R"(", "bounds": )" + bounds + "}";
}

TEST(Constants, BoundsAreReadInTheConstantsUnit) {
  const Constants c = parse(bounded("3", "[1.5, 4]") + "," + constant("b", "1", "ns"));
  ASSERT_TRUE(c.at("a").bounds.has_value());
  EXPECT_EQ((*c.at("a").bounds)[0], 1.5);
  EXPECT_EQ((*c.at("a").bounds)[1], 4.0);
  EXPECT_EQ(c.at("b").bounds, std::nullopt);
}

TEST(Constants, WrongBoundsAreErrorsThatNameTheConstant) {
  for (const char* const bounds :
       {"3", "[]", "[1]", "[1, 2, 3]", "[4, 1]", "[3, 3]", "[0, 4]", "[-1, 4]", "[\"1\", 4]"}) {
    const std::string text = error_of([&] { parse(bounded("3", bounds)); });
    EXPECT_NE(text.find("at /constants/a/bounds"), std::string::npos) << bounds << ": " << text;
  }
  EXPECT_NE(error_of([] { parse(bounded("5", "[1, 4]")); }).find("at /constants/a: "),
            std::string::npos);
  EXPECT_NE(error_of([] { parse(bounded("0.5", "[1, 4]")); }).find("within its \"bounds\""),
            std::string::npos);
}

TEST(Constants, OnlyACalibratedConstantHasBounds) {
  for (const char* const source : {"datasheet: x", "published measurement: x", "unknown: x"}) {
    const std::string text = error_of([&] { parse(bounded("3", "[1, 4]", source)); });
    EXPECT_NE(text.find("calibrated on"), std::string::npos) << source << ": " << text;
  }
}

TEST(Constants, ASettingTakesTheBoundsAway) {
  Constants c = parse(bounded("3", "[1, 4]"));
  c.set("a", "9ns");
  EXPECT_EQ(c.at("a").bounds, std::nullopt);
}

TEST(Constants, CalibratingKeepsUnitAndBounds) {
  Constants c = parse(bounded("3", "[1, 4]"));
  c.calibrate("a", 4, "calibrated on other rows");
  EXPECT_EQ(c.time("a").ps(), 4000);
  EXPECT_EQ(c.at("a").source, "calibrated on other rows");
  EXPECT_TRUE(c.at("a").bounds.has_value());
  EXPECT_DEATH(c.calibrate("a", 4.1), "within its bounds");
}

TEST(Constants, AWrittenProfileIsReadBackWhole) {
  Constants c = parse(bounded("3", "[1.5, 4]") + "," + constant("b", "28", "B/cycle"));
  c.rename("p calibrated");
  const Constants back = Constants::parse(c.to_json(), "written", "chip");
  EXPECT_EQ(back.name(), "p calibrated");
  EXPECT_EQ(back.names(), c.names());
  for (const std::string& name : c.names()) {
    EXPECT_EQ(back.at(name).value, c.at(name).value);
    EXPECT_EQ(back.at(name).unit, c.at(name).unit);
    EXPECT_EQ(back.at(name).meaning, c.at(name).meaning);
    EXPECT_EQ(back.at(name).source, c.at(name).source);
    EXPECT_EQ(back.at(name).bounds, c.at(name).bounds);
  }
}

}  // namespace
}  // namespace howard::chip
