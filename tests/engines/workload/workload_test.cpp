// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/workload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/program/fields.h"
#include "engines/workload/launch.h"
#include "engines/workload/player.h"
#include "engines/workload/workload_json.h"
#include "tests/error_of.h"

namespace howard::workload {
namespace {

/// A product and a relu in a region, with a write before and a read after.
Workload small() {
  const TensorSpec spec{.shape = {64, 64}};
  Workload made{.source = "a \"script\".py"};
  for (int i = 0; i < 3; ++i) made.tensors.push_back({.spec = spec, .view_of = {}});
  made.tensors.push_back({.spec = {.shape = {2, 32, 64}}, .view_of = 2});
  made.ops = {{.name = "matmul", .kernel = "matmul", .attributes = R"({"transpose_b":true})"},
              {.name = "sin", .kernel = "erf", .attributes = "", .by_analogy = true}};
  made.calls = {{.op = 0, .inputs = {0, 1}, .outputs = {2}},
                {.op = 1, .inputs = {3}, .outputs = {3}}};
  made.names = {"all"};
  made.commands = {{Step::make, 0, 0},   {Step::make, 0, 1},         {Step::write, 0, 0},
                   {Step::make, 0, 2},   {Step::begin_region, 0, 0}, {Step::python, 0, 1},
                   {Step::call, 0, 0},   {Step::python, 0, 1},       {Step::call, 0, 1},
                   {Step::finish, 0, 0}, {Step::end_region, 0, 0},   {Step::read, 0, 2},
                   {Step::release, 0, 0}};
  return made;
}

SimTime time_of(const Workload& program, const Playing& charges = {}) {
  chip::EmulatedChip device(chip::load_profiles());
  Playing charged = charges;
  charged.pass = [&](SimTime time, std::string_view name) { device.pass_host_time(time, name); };
  Player player(device, program, std::move(charged));
  for (const Command& command : program.commands) player.run(command);
  return device.now();
}

TEST(Workload, IsTheSameAfterItsFile) {
  const Workload program = small();
  const std::string text = to_json(program);
  const Workload again = parse_workload(text, "test");
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(again.source, program.source);
  EXPECT_EQ(time_of(again), time_of(program));
}

/// Layers whose weights are made before all of them, and whose results are made and released.
Workload layers(std::uint32_t count) {
  const TensorSpec spec{.shape = {64, 64}};
  Workload made{.source = "layers.py"};
  made.ops = {{.name = "matmul", .kernel = "matmul", .attributes = "{}"},
              {.name = "add", .kernel = "add", .attributes = "{}"}};
  const auto make = [&] {
    made.tensors.push_back({.spec = spec, .view_of = {}});
    const auto tensor = static_cast<TensorNumber>(made.tensors.size() - 1);
    made.commands.push_back({Step::make, 0, tensor});
    return tensor;
  };
  const auto call = [&](CallLine line) {
    made.calls.push_back(std::move(line));
    made.commands.push_back({Step::call, 0, static_cast<std::uint32_t>(made.calls.size() - 1)});
  };
  for (std::uint32_t i = 0; i < 2 * count; ++i) make();
  TensorNumber x = make();
  made.commands.push_back({Step::write, 0, x});
  for (std::uint32_t i = 0; i < count; ++i) {
    const TensorNumber product = make();
    call({.op = 0, .inputs = {x, 2 * i}, .outputs = {product}});
    const TensorNumber sum = make();
    call({.op = 1, .inputs = {product, 2 * count - 1 - i}, .outputs = {sum}});
    made.commands.push_back({Step::release, 0, product});
    made.commands.push_back({Step::release, 0, std::exchange(x, sum)});
  }
  return made;
}

TEST(Workload, SaysItsLayersOnce) {
  const Workload program = layers(12);
  const std::string text = to_json(program);
  EXPECT_EQ(text, R"({"schema": "howard.workload/2",
"source": "layers.py",
"dispatch": "worker",
"queues": 1,
"host": {"ttnn_call": 0, "program_miss": 0, "kernel_compile": 0},
"specs": ["1x1x64x64 bfloat16 tile dram"],
"tensors": [
{"repeat":49,"of":[[0]]}],
"ops": [{"name":"matmul","kernel":"matmul"},{"name":"add","kernel":"add"}],
"calls": [
{"repeat":12,"of":[[0,["24+2","0+2"],["25+2"]],[1,["25+2","23-1"],["26+2"]]]}],
"names": [],
"sub_devices": [],
"commands": [
{"repeat":25,"of":[["make","0+1"]]},
["write",24],
{"repeat":12,"of":[["make","25+2"],["call","0+2"],["make","26+2"],["call","1+2"],["release","25+2"],["release","24+2"]]}]}
)");
  const Workload again = parse_workload(text, "test");
  ASSERT_EQ(again.calls.size(), program.calls.size());
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    EXPECT_EQ(again.calls[i].inputs, program.calls[i].inputs) << i;
    EXPECT_EQ(again.calls[i].outputs, program.calls[i].outputs) << i;
  }
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(time_of(again), time_of(program));
}

TEST(Workload, AViewMayMoveOnFurtherThanThereAreTensorsBeforeIt) {
  const TensorSpec spec{.shape = {64, 64}};
  Workload program{.source = "views.py"};
  for (TensorNumber first = 0; first < 36; first += 3) {
    program.tensors.push_back({.spec = spec, .view_of = {}});
    program.tensors.push_back({.spec = spec, .view_of = first});
    program.tensors.push_back({.spec = spec, .view_of = {}});
  }
  const std::string text = to_json(program);
  EXPECT_NE(text.find(R"({"repeat":12,"of":[[0],[0,"0+3"],[0]]})"), std::string::npos) << text;
  const Workload again = parse_workload(text, "test");
  ASSERT_EQ(again.tensors.size(), program.tensors.size());
  EXPECT_EQ(again.tensors[34].view_of, 33);
}

TEST(Workload, RowsThatDoNotMoveOnEvenlyAreSaidEach) {
  Workload program{.source = "events.py"};
  for (const std::uint32_t event : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U}) {
    program.commands.push_back({Step::record_event, 0, event});
  }
  const std::string text = to_json(program);
  EXPECT_EQ(text.find("repeat"), std::string::npos) << text;
  EXPECT_NE(text.find("\n[\"record\",1],[\"record\",2],[\"record\",4]"), std::string::npos) << text;
  EXPECT_EQ(to_json(parse_workload(text, "test")), text);
}

TEST(Workload, AnOlderFileIsReadToo) {
  std::string text = to_json(small());
  text.replace(text.find("workload/2"), 10, "workload/1");
  EXPECT_EQ(time_of(parse_workload(text, "test")), time_of(small()));
}

TEST(Workload, CallsFromPythonCostMore) {
  EXPECT_GT(time_of(small()), time_of(small(), {.python = false}));
}

TEST(Workload, FirstCallsOfProgramsTakeTheirOwnTime) {
  Workload program = small();
  program.host = {SimTime::microseconds(20), SimTime::microseconds(1200),
                  SimTime::microseconds(790'000)};
  program.commands = {{Step::miss, 0, 2}, {Step::compile, 0, 1}, {Step::ttnn, 0, 3}};
  EXPECT_EQ(time_of(program), SimTime::microseconds(2 * 1200 + 790'000 + 3 * 20));
  EXPECT_EQ(time_of(program, {.first_calls = false}), SimTime::microseconds(3 * 20));
  EXPECT_EQ(time_of(program, {.python = false}), SimTime::microseconds(2 * 1200 + 790'000));
  EXPECT_EQ(time_of(parse_workload(to_json(program), "test")), time_of(program));
}

TEST(Workload, RegionsHaveTheirTimesAndCalls) {
  const Workload program = small();
  chip::EmulatedChip device(chip::load_profiles());
  Player player(device, program);
  for (const Command& command : program.commands) player.run(command);
  ASSERT_EQ(player.regions().size(), 1U);
  EXPECT_EQ(player.regions()[0].calls, 2U);
  EXPECT_GT(player.regions()[0].time, SimTime());
  EXPECT_LT(player.regions()[0].time, device.now());
  EXPECT_FALSE(player.is_alive(0));
  EXPECT_TRUE(player.is_alive(3));
  player.clear(1);
  EXPECT_FALSE(player.is_alive(3));
}

TEST(Workload, CommandsAtTheWrongTimeAreRefused) {
  const Workload program = small();
  const auto refused = [&](std::vector<Command> commands) {
    chip::EmulatedChip device(chip::load_profiles());
    Player player(device, program);
    for (std::size_t i = 0; i + 1 < commands.size(); ++i) player.run(commands[i]);
    EXPECT_THROW(player.run(commands.back()), Error);
  };
  refused({{Step::call, 0, 0}});
  refused({{Step::call, 0, 99}});
  refused({{Step::make, 0, 99}});
  refused({{Step::make, 0, 3}});
  refused({{Step::make, 0, 0}, {Step::make, 0, 0}});
  refused({{Step::release, 0, 0}});
  refused({{Step::read, 0, 1}});
  refused({{Step::end_region, 0, 0}});
  refused({{Step::begin_region, 0, 5}});
  refused({{Step::execute_trace, 0, 5}});
  refused({{Step::wait_for_event, 0, 5}});
  refused({{Step::finish, 1, 0}});
  refused({{Step::sub_devices, 0, 0}});
}

/// Expects the file of a workload to be refused with a reason if `after` stands for `before`.
void expect_refused(const Workload& program, const std::string& before, const std::string& after,
                    const std::string& reason) {
  std::string text = to_json(program);
  const auto place = text.find(before);
  ASSERT_NE(place, std::string::npos) << before;
  text.replace(place, before.size(), after);
  const std::string message = error_of([&] { static_cast<void>(parse_workload(text, "test")); });
  EXPECT_NE(message.find(reason), std::string::npos) << message;
}

TEST(Workload, ABrokenRepeatIsRefusedWithTheReason) {
  const auto refused = [program = layers(12)](const std::string& before, const std::string& after,
                                              const std::string& reason) {
    expect_refused(program, before, after, reason);
  };
  refused(R"("repeat":49)", R"("repeat":0)", "/tensors/0/repeat: 0");
  refused(R"("repeat":49)", R"("repeat":1000000000000)", "/tensors/0/repeat: 1000000000000");
  refused(R"("repeat":12,"of":[[0)", R"("repeat":9000000,"of":[[0)", "10 million rows at most");
  refused(R"("repeat":49)", R"("repeat":48)", "numbers from 0 to 47");
  refused(R"("23-1")", R"("10-1")", "numbers from 0 to 48: turn 11 has -1");
  refused(R"("23-1")", R"("23")", "/calls/0/of/1/1/1: \"23\"");
  refused(R"("23-1")", R"("23-x")", "/calls/0/of/1/1/1: \"23-x\"");
  refused(R"("23-1")", R"("23--1")", "/calls/0/of/1/1/1: \"23--1\"");
  refused(R"("23-1")", R"("23+9000000000")", "/calls/0/of/1/1/1");
  refused(R"({"repeat":12,"of":[[0)", R"({"repeat":12,"if":[[0)", "of");
  refused("[[0]]", R"([{"repeat":2,"of":[[0]]}])", "/tensors/0/of/0");
}

TEST(Workload, ABrokenFileIsRefusedWithTheReason) {
  const auto refused = [program = small()](const std::string& before, const std::string& after,
                                           const std::string& reason) {
    expect_refused(program, before, after, reason);
  };
  refused("workload/2", "workload/3", "howard.workload/2");
  refused("\"queues\": 1", "\"queues\": 3", "queues");
  refused("\"queues\": 1", "\"queues\": -1", "queues");
  refused("1x1x64x64", "1x1x0x64", "/specs/0");
  refused("1x1x64x64", "1x1x9999999999999x99999999", "/specs/0");
  refused("bfloat16", "bfloat17", "bfloat17");
  refused("\"matmul\",\"attr", "\"matmool\",\"attr", "matmool");
  refused("transpose_b", "transpose_c", "transpose_c");
  refused("[0,[0,1],[2]]", "[0,[0,9],[2]]", "/calls/0/1/1: 9");
  refused("[0,[0,1],[2]]", "[7,[0,1],[2]]", "/calls/0/0: 7");
  refused("\"make\"", "\"bake\"", "/commands/0/0: \"bake\"");
  refused("{", "", "JSON");
}

/// A call of one kernel on tensors of these shapes, and what it takes.
SimTime time_of_call(const std::string& kernel, const std::string& attributes,
                     const std::vector<TensorSpec>& inputs,
                     const std::vector<TensorSpec>& outputs) {
  Workload made{.source = "call"};
  CallLine call{.op = 0, .inputs = {}, .outputs = {}};
  for (const TensorSpec& spec : inputs) {
    call.inputs.push_back(static_cast<TensorNumber>(made.tensors.size()));
    made.tensors.push_back({.spec = spec, .view_of = {}});
  }
  for (const TensorSpec& spec : outputs) {
    call.outputs.push_back(static_cast<TensorNumber>(made.tensors.size()));
    made.tensors.push_back({.spec = spec, .view_of = {}});
  }
  made.ops = {{.name = kernel, .kernel = kernel, .attributes = attributes}};
  made.calls = {call};
  for (TensorNumber i = 0; i < made.tensors.size(); ++i) {
    made.commands.push_back({Step::make, 0, i});
  }
  made.commands.push_back({Step::call, 0, 0});
  made.commands.push_back({Step::finish, 0, 0});
  return time_of(made);
}

SimTime time_of_call(const std::string& kernel, const std::string& attributes,
                     const std::vector<TensorSpec>& inputs, const TensorSpec& output) {
  return time_of_call(kernel, attributes, inputs, std::vector{output});
}

TEST(Kernels, OfTheCatalogueTakeTheirOwnTime) {
  const TensorSpec x{.shape = {1, 8, 256, 64}};
  const TensorSpec table{.shape = {256, 64}};
  const TensorSpec rows{.shape = {1, 1, 2048, 512}};
  EXPECT_GT(time_of_call("attention", R"({"causal":true})", {x, x, x}, x),
            time_of_call("attention", R"({"causal":true,"query_chunk":128,"key_chunk":128})",
                         {x, x, x}, x));
  EXPECT_GT(time_of_call("layernorm", "", {rows}, rows),
            time_of_call("rms_norm", "", {rows}, rows));
  EXPECT_GT(time_of_call("rotary_embedding", R"({"style":"halves"})", {x, table, table}, x),
            SimTime());
  const TensorSpec weight{.shape = {512, 512}};
  EXPECT_GT(time_of_call("minimal_matmul", R"({"fidelity":"HiFi4"})", {rows, weight}, rows),
            time_of_call("minimal_matmul", R"({"fidelity":"LoFi"})", {rows, weight}, rows));
  // Parts that do not begin with a tile are moved in rows.
  const TensorSpec part{.shape = {1, 1, 1024, 512}};
  EXPECT_GT(time_of_call("slice", R"({"begins":[0,0,8,0]})", {rows}, part),
            time_of_call("slice", R"({"begins":[0,0,32,0]})", {rows}, part));
  EXPECT_GT(time_of_call("pad", R"({"before":[0,0,0,0]})", {part}, rows), SimTime());
  EXPECT_GT(time_of_call("permute", R"({"order":[0,2,3,1]})", {x}, {.shape = {1, 256, 64, 8}}),
            SimTime());
  EXPECT_GT(time_of_call("add", R"({"on_a":["gelu"]})", {rows, rows}, rows),
            time_of_call("add", "", {rows, rows}, rows));
  EXPECT_GT(time_of_call("matmul", R"({"activation":"gelu"})", {rows, weight}, rows),
            time_of_call("matmul", "", {rows, weight}, rows));
  EXPECT_GT(time_of_call("exp", R"({"then":["gelu","erf"]})", {rows}, rows),
            time_of_call("exp", "", {rows}, rows));
}

TEST(Kernels, CollectivesPassTheirBytesThroughLinks) {
  const TensorSpec part{.shape = {1, 1, 1024, 512}};
  const TensorSpec group{
      .shape = {1, 1, 1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  const TensorSpec two{.shape = {1, 1, 1024, 1024}};
  const TensorSpec eight{.shape = {1, 1, 1024, 4096}};
  EXPECT_GT(time_of_call("all_gather", R"({"dimension":3})", {part, group}, eight),
            time_of_call("all_gather", R"({"dimension":3})", {part, group}, two));
  EXPECT_GT(time_of_call("all_gather", R"({"dimension":3})", {part, group}, two),
            time_of_call("copy", "", {two}, two));
  EXPECT_GT(time_of_call("reduce_scatter", R"({"dimension":"columns"})", {two, group}, part),
            SimTime::microseconds(50));
  EXPECT_THROW(static_cast<void>(time_of_call("all_gather", "", {part}, two)), Error);
  EXPECT_THROW(
      static_cast<void>(time_of_call("all_gather", R"({"dimension":2})", {part, group}, two)),
      Error);
  EXPECT_THROW(static_cast<void>(
                   time_of_call("reduce_scatter", R"({"dimension":"all"})", {two, group}, part)),
               Error);
}

TEST(Kernels, CollectivesUseTheLinksAsTheirCallSays) {
  const TensorSpec part{.shape = {1, 1, 1024, 512}};
  const TensorSpec group{
      .shape = {1, 1, 1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  const TensorSpec whole{.shape = {1, 1, 1024, 4096}};
  const auto gather = [&](const std::string& use) {
    return time_of_call("all_gather", "{" + use + "}", {part, group}, whole);
  };
  const SimTime line = gather("");
  EXPECT_LT(gather(R"("links":2)"), line);
  EXPECT_LT(gather(R"("ring":true)"), line);
  EXPECT_GT(gather(R"("workers":1)"), line);
  EXPECT_LT(gather(R"("workers":2,"buffers":2)"), gather(R"("workers":2)"));
  EXPECT_GT(gather(R"("ring":true,"chunk":2)"), gather(R"("ring":true)"));
  TensorSpec small = part;
  TensorSpec blocks = whole;
  small.dtype = blocks.dtype = DataType::bfloat8_b;
  // Packets hold two tiles of either type, so it is little faster than half of the bytes.
  const SimTime of_blocks = time_of_call("all_gather", "", {small, group}, blocks);
  EXPECT_LT(of_blocks, line);
  EXPECT_GT(2 * of_blocks, line);
  EXPECT_THROW(static_cast<void>(gather(R"("links":0)")), Error);
}

TEST(Kernels, FusedCollectivesHideTheShorterPart) {
  const TensorSpec part{.shape = {1, 1, 1024, 256}};
  const TensorSpec group{
      .shape = {1, 1, 1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  const TensorSpec whole{.shape = {1, 1, 1024, 2048}};
  const TensorSpec weight{.shape = {2048, 2048}};
  const SimTime product = time_of_call("matmul", "", {whole, weight}, whole);
  const auto expect_between = [&](SimTime fused, SimTime exchange) {
    EXPECT_GT(fused, std::max(product, exchange));
    EXPECT_LT(fused, product + exchange);
  };
  expect_between(
      time_of_call("all_gather_matmul", "", {part, group, weight}, std::vector{whole, whole}),
      time_of_call("all_gather", "", {part, group}, whole));
  expect_between(
      time_of_call("matmul_reduce_scatter", "", {whole, group, weight}, std::vector{whole, part}),
      time_of_call("reduce_scatter", "", {whole, group}, part));
  const TensorSpec narrow{.shape = {1, 1, 1024, 32}};
  EXPECT_THROW(static_cast<void>(time_of_call("all_gather_matmul", "", {part, group, weight},
                                              std::vector{whole, narrow})),
               Error);
}

TEST(Kernels, RefuseOperandsThatTheirAttributesDoNotFit) {
  const TensorSpec x{.shape = {1, 8, 256, 64}};
  const auto refused = [&](const std::string& kernel, const std::string& attributes,
                           const std::vector<TensorSpec>& inputs, const TensorSpec& output) {
    EXPECT_THROW(static_cast<void>(time_of_call(kernel, attributes, inputs, output)), Error)
        << kernel << " " << attributes;
  };
  refused("slice", R"({"begins":[0,0,1,0]})", {x}, x);
  refused("slice", R"({"steps":[1,1,2,1]})", {x}, x);
  refused("slice", R"({"begins":[0,0,1]})", {x}, x);
  refused("pad", R"({"before":[0,0,1,0]})", {x}, x);
  refused("permute", R"({"order":[0,1,1,3]})", {x}, x);
  refused("permute", R"({"order":[0,1,3,2]})", {x}, x);
  refused("attention", R"({"query_chunk":33})", {x, x, x}, x);
  refused("attention", "", {x, x}, x);
  refused("attention", "", {x, {.shape = {1, 3, 256, 64}}, {.shape = {1, 3, 256, 64}}}, x);
  refused("minimal_matmul", R"({"block":[8,8,8],"subblock":[3,1]})", {x, x}, x);
  refused("rotary_embedding", R"({"style":"thirds"})", {x, x, x}, x);
  refused("exp", R"({"then":["add"]})", {x}, x);
  refused("repeat", "", {x}, {.shape = {1, 12, 256, 64}});
}

TEST(Workload, ShardsAreKeptInItsFile) {
  Workload program = small();
  TensorSpec& spec = program.tensors[0].spec;
  spec.storage = Storage::l1;
  spec.sharding =
      Sharding{.layout = ShardLayout::height, .grid = {2, 1}, .rows = 32, .columns = 64};
  const std::string text = to_json(program);
  EXPECT_NE(text.find("l1 height:2x1:32x64"), std::string::npos) << text;
  EXPECT_EQ(parse_workload(text, "test").tensors[0].spec, spec);
  for (const char* const broken : {"height:2x1:32x32", "height:1x1:32x64", "round:2x1:32x64",
                                   "height:2x1", "height:2x1:32x64:x", "height:0x1:32x64"}) {
    std::string other = text;
    other.replace(other.find("height:2x1:32x64"), 16, broken);
    EXPECT_THROW(static_cast<void>(parse_workload(other, "test")), Error) << broken;
  }
}

/// Two steps of a made-up training, one of them from a trace on the second queue.
std::string op_list() {
  return R"({"schema": "howard.ops/1", "queues": 2, "sub_devices": [[0,0,3,6],[4,0,7,6]],
    "tensors": {"x": "64x64", "w": "64x64 float32 l1", "h": "64x64 empty"},
    "steps": [
      {"repeat": 3, "region": "forward", "steps": [
        {"op": "add", "in": ["x", "w"], "out": "h", "python": true},
        {"op": "relu", "name": "gate", "in": "h", "out": "h", "sub_device": 1}]},
      {"finish": true},
      {"trace": true, "repeat": 2, "steps": [{"op": "exp", "in": "h", "out": "h"}]},
      {"record": 0}, {"wait": 0, "queue": 1}, {"write": "x", "queue": 1}, {"read": "h"}]})";
}

TEST(OpList, BecomesAWorkload) {
  const Workload made = parse_workload(op_list(), "ops.json");
  EXPECT_EQ(made.queues, 2);
  EXPECT_EQ(made.tensors.size(), 3U);
  EXPECT_EQ(made.ops.size(), 3U);
  EXPECT_EQ(made.calls.size(), 7U);
  EXPECT_EQ(made.ops[1].name, "gate");
  chip::EmulatedChip device(chip::load_profiles(), {.command_queues = 2});
  Player player(device, made);
  for (const Command& command : made.commands) player.run(command);
  EXPECT_EQ(player.calls(), 7U);
  EXPECT_EQ(player.regions()[0].runs, 3U);
}

TEST(OpList, ABrokenOneIsRefusedWithItsPlace) {
  const auto refused = [](const std::string& before, const std::string& after,
                          const std::string& reason) {
    std::string text = op_list();
    text.replace(text.find(before), before.size(), after);
    const std::string message = error_of([&] { static_cast<void>(parse_workload(text, "test")); });
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  refused("\"tensors\"", "\"tensor\"", "tensors");
  refused("64x64\"", "64x0\"", "/tensors/x");
  refused("float32", "float33", "float33");
  refused("\"relu\"", "\"rellu\"", "relu");
  refused("[\"x\", \"w\"]", "[\"x\", \"v\"]", "/steps/0/steps/0/in/1: \"v\"");
  refused("\"repeat\": 3", "\"repeat\": 0", "/steps/0/repeat: 0");
  refused("\"repeat\": 3", "\"repeat\": 999999", "too long");
  refused("\"queue\": 1", "\"queue\": 5", "0 to 1");
  refused("{\"read\": \"h\"}", "{\"reads\": \"h\"}", "/steps/6");
  refused("\"python\": true", "\"pyton\": true", "pyton");
  refused("[0,0,3,6]", "[0,0,3]", "/sub_devices/0: [0,0,3]");
  // What is not understood would have been WORKER dispatch.
  refused("\"queues\"", "\"dispatch\": \"Eth\", \"queues\"",
          "/dispatch: \"Eth\"; accepted: \"worker\"");
  refused("64x64\"", "64x64 l1 dram\"", "one memory");
  refused("64x64\"", "64x64 bfloat8_b float32\"", "one data type");
  refused("howard.ops/1", "howard.ops/2", "\"howard.workload/1\", \"howard.ops/1\"");
}

TEST(OpList, WithoutAStepIsRefused) {
  EXPECT_THROW(parse_workload(R"({"schema": "howard.ops/1", "tensors": {}, "steps": []})", "test"),
               Error);
}

TEST(Launch, OperandsThatDoNotFitAreRefused) {
  const auto launch = [](std::string_view kernel, std::string_view attributes, const Shape& a,
                         const Shape& b, const Shape& out) {
    return make_launch("test", parse_attributes(kernel, attributes),
                       {{BufferId(), {.shape = a}}, {BufferId(), {.shape = b}}},
                       {{BufferId(), {.shape = out}}});
  };
  EXPECT_EQ(launch("matmul", "", {32, 64}, {64, 96}, {32, 96}).flops, Flops(2 * 32 * 64 * 96));
  EXPECT_THROW(launch("matmul", "", {32, 64}, {32, 96}, {32, 96}), Error);
  EXPECT_THROW(launch("matmul", "", {2, 32, 64}, {3, 64, 96}, {3, 32, 96}), Error);
  EXPECT_THROW(launch("add", "", {32, 64}, {32, 32}, {32, 64}), Error);
  EXPECT_THROW(launch("sum", R"({"dimension":"columns"})", {32, 64}, {1}, {32, 64}), Error);
  EXPECT_THROW(launch("softmax", "", {32, 64}, {1}, {64, 32}), Error);
  EXPECT_THROW(parse_attributes("matmul", R"({"core_grid":[0,1]})"), Error);
  EXPECT_THROW(parse_attributes("matmul", R"({"fidelity":"HiFi9"})"), Error);
  EXPECT_THROW(parse_attributes("sum", R"({"dimension":"sideways"})"), Error);
  EXPECT_THROW(parse_attributes("add", "[1]"), Error);
  for (const std::string& kernel : kernel_names()) EXPECT_NO_THROW(parse_attributes(kernel, ""));
}

}  // namespace
}  // namespace howard::workload
