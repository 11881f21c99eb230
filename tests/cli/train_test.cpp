// SPDX-License-Identifier: Apache-2.0
//
// These tests treat train --preset nano_gpt as a contract: files, exit codes, and what is said
// where. They run the real program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The smallest model that TTML's files can describe.
const std::string kTiny =
    "--threads 1 --with batch_size=2 --with max_sequence_length=32 --with embedding_dim=32 "
    "--with num_heads=2 --with num_blocks=1 ";

std::string steps(int count) { return " --with max_steps=" + std::to_string(count) + " "; }

struct Outcome {
  int status = -1;  ///< The exit status, or 128 + the signal.
  std::string out, err;
};

class TrainCli : public ::testing::Test {
 protected:
  TrainCli() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream text(folder_ / "text");
    for (int i = 0; i < 20; ++i) text << "a rose is a rose is a rose. ";
  }
  ~TrainCli() override { fs::remove_all(folder_); }

  Outcome run(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.string() +
                                "' && '" HOWARD_RUN_EXPERIMENT "' train --preset nano_gpt " +
                                arguments + " >stdout 2>stderr </dev/null";
    const int status = std::system(command.c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = content(folder_ / "stdout"),
            .err = content(folder_ / "stderr")};
  }
  /// Makes a tiny run of the text.
  Outcome train(const std::string& arguments) const {
    return run(kTiny + "--data text --with learning_rate=0.003 " + arguments);
  }
  /// Does the same and sends SIGINT once `before` has returned; `after` follows.
  Outcome interrupt(const std::string& arguments, const std::function<void()>& before,
                    const std::function<void()>& after = {}) const {
    std::thread interrupter([&] {
      before();
      EXPECT_EQ(std::system(("kill -INT " + content(folder_ / "pid")).c_str()), 0);
      if (after) after();
    });
    const std::string command =
        "cd '" + folder_.string() +
        "' && sh -c 'echo $$ >pid; exec \"$0\" \"$@\"' '" HOWARD_RUN_EXPERIMENT
        "' train --preset nano_gpt " +
        kTiny + arguments + " >stdout 2>stderr";
    const int status = std::system(command.c_str());
    interrupter.join();
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = content(folder_ / "stdout"),
            .err = content(folder_ / "stderr")};
  }
  /// Returns when the run has said `words`.
  void await(const std::string& words) const {
    while (content(folder_ / "stderr").find(words) == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::vector<double> losses(const std::string& results) const {
    const auto json = nlohmann::json::parse(content(folder_ / results / "train.json"));
    return json["points"][0]["metrics"]["loss"]["samples"];
  }

  fs::path folder_ = fs::path(::testing::TempDir()) /
                     (std::string("howard_train_") +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(TrainCli, SaysLinesOnStandardErrorAndWritesTextOnStandardOutput) {
  const Outcome outcome =
      train("--engine static --with max_steps=20 --every 10 --generate 30 --prompt rose");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "step 10/20  loss ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "step 20/20  loss ")) << outcome.err;
  for (const char* const part :
       {" tokens/s  ", "FLOPS  bound by ", "  learning rate 0.003  memory "}) {
    EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
  }
  EXPECT_TRUE(contains(outcome.err, "steps 1 to 20 on host CPU")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "0.0 MiB")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "Step: 20, Loss: ")) << outcome.out;
  const std::string text = outcome.out.substr(outcome.out.rfind("\nrose") + 1);
  EXPECT_EQ(text.size(), 4U + 30U + 1U) << outcome.out;
}

TEST_F(TrainCli, AResumedRunHasTheLossesOfAStraightOne) {
  ASSERT_EQ(train("--with max_steps=12 --results straight").status, 0);
  ASSERT_EQ(train("--with max_steps=6 --results first --checkpoint c").status, 0);
  const Outcome resumed = train("--resume --checkpoint c --with max_steps=12 --results second");
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.err, "steps 7 to 12")) << resumed.err;
  std::vector<double> parts = losses("first");
  const std::vector<double> second = losses("second");
  parts.insert(parts.end(), second.begin(), second.end());
  EXPECT_EQ(parts.size(), 12U);
  EXPECT_EQ(parts, losses("straight"));
}

// A checkpoint keeps how many steps its run is to have; written anew with fewer, the run would
// count as done. The results are the losses of the steps that were made.
TEST_F(TrainCli, ARunThatHasNoStepToMakeReplacesNoFile) {
  ASSERT_EQ(train("--with max_steps=6 --checkpoint c --results results").status, 0);
  const std::string checkpoint = content(folder_ / "c");
  const std::string result = content(folder_ / "results/train.json");
  const std::string again = "--resume --checkpoint c --generate 3 ";
  for (const int count : {6, 2}) {
    const Outcome outcome = train(again + steps(count) + "--results results");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "6 steps were done already")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "; try a larger max_steps\nc stays as it is\n"))
        << outcome.err;
    const std::string text =
        outcome.out.substr(outcome.out.rfind('\n', outcome.out.size() - 2) + 1);
    EXPECT_EQ(text.size(), 5U) << "the text is written all the same: " << outcome.out;
    EXPECT_EQ(content(folder_ / "c"), checkpoint) << count;
    EXPECT_EQ(content(folder_ / "results/train.json"), result) << count;
  }
  EXPECT_EQ(train(again + steps(6) + "--results other").status, 0);
  const auto other = nlohmann::json::parse(content(folder_ / "other/train.json"));
  EXPECT_TRUE(other["points"][0]["skipped"].is_string());
}

TEST_F(TrainCli, APlaceWhereAnotherRunWritesIsRefusedEvenByForce) {
  const auto lock = [&](const std::string& file) {
    fs::create_directories((folder_ / file).parent_path());
    const int descriptor = ::open((folder_ / file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    EXPECT_EQ(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
    return descriptor;
  };
  const int of_checkpoint = lock("c.lock");
  const int of_results = lock("r/train.lock");
  const Outcome saved = train("--checkpoint c --force");
  EXPECT_EQ(saved.status, 1);
  EXPECT_TRUE(contains(saved.err,
                       "save the run to c: another run that has not ended writes there; accepted: "
                       "a place of this run alone; try another --checkpoint"))
      << saved.err;
  const Outcome results = train("--results r --force");
  EXPECT_EQ(results.status, 1);
  EXPECT_TRUE(contains(results.err, "try another --results")) << results.err;
  ::close(of_checkpoint);  // as the system does when a process is killed: the files are still there
  ::close(of_results);
  EXPECT_EQ(train("--with max_steps=1 --checkpoint c --results r").status, 0);
  EXPECT_FALSE(fs::exists(folder_ / "c.lock") || fs::exists(folder_ / "r/train.lock"));
}

TEST_F(TrainCli, BadInputIsSaidAndLeavesTheCheckpointAsItIs) {
  ASSERT_EQ(train("--with max_steps=2 --checkpoint c").status, 0);
  const std::string saved = content(folder_ / "c");
  const auto fails = [&](const Outcome& outcome, int status, const std::string& words) {
    EXPECT_EQ(outcome.status, status) << words;
    EXPECT_TRUE(contains(outcome.err, words)) << outcome.err;
    EXPECT_EQ(content(folder_ / "c"), saved) << words;
  };
  const std::string resume = kTiny + "--resume --checkpoint c --data ";
  fails(train("--checkpoint c"), 1, "the file is there already");
  fails(run(resume + "text --with embedding_dim=64"), 1, "width 64; accepted: the checkpoint's 32");
  std::ofstream(folder_ / "other") << "a rose is a rose is a rose is a rose is a rose";
  fails(run(resume + "other --with learning_rate=0.003"), 1, "another text");
  fails(train("--resume --checkpoint c --prompt % --generate 1"), 1, "character '%' at place 1");
  fails(run(resume + "missing"), 1, "missing");
  fails(run("--resume --data text"), 2, "--resume needs --checkpoint");
  fails(run(""), 1, "training_config.data_path");
  fails(run("--data text --with num_heads=5"), 1, "a divisor of the embedding_dim");
  fails(train("--with learning_raet=1"), 2, "try learning_rate=...");
  fails(train("--top-p 2 --generate 3"), 2, "top-p");
  fails(run("--data text --set host.finish=1us"), 2, "try --backend emulated");
  fails(run("--data text --chip wormhole_b0_n150"), 2, "try --backend emulated");
  fails(run("--data text --with max_sequence_length=9024"), 1, "a text of 560");
  fails(run(kTiny + "--data text --with num_blocks=1000000000"), 1, " parameters: it needs ");
  fails(train("--with gradient_accumulation_steps=1000000000"), 1, "accepted: ");
  std::ofstream(folder_ / "cut", std::ios::binary) << saved.substr(0, saved.size() / 2);
  fails(train("--resume --checkpoint cut"), 1, "truncated or damaged");
}

TEST_F(TrainCli, NoFileIsAFolderOrThatOfTwoOptions) {
  fs::create_directories(folder_ / "d");
  const Outcome both = train("--checkpoint c --export d/../c");
  EXPECT_EQ(both.status, 2);
  EXPECT_TRUE(contains(both.err, "write d/../c: --checkpoint and --export; accepted: one of them"))
      << both.err;
  EXPECT_FALSE(fs::exists(folder_ / "c"));
  for (const char* const option : {"--force --checkpoint d", "--export d", "--page=d"}) {
    const Outcome outcome = train(option);
    EXPECT_EQ(outcome.status, 1) << option;
    EXPECT_TRUE(contains(outcome.err, "write d: it is a folder; accepted: a file for --"))
        << outcome.err;
    EXPECT_EQ(outcome.out, "") << "no step is made";
  }
}

TEST_F(TrainCli, APageNeedsNoFolderOfResults) {
  const Outcome outcome = train("--with max_steps=2 --page=p.html");
  EXPECT_TRUE(contains(outcome.err, "wrote p.html\n")) << outcome.err;
  EXPECT_TRUE(contains(content(folder_ / "p.html"), "</html>"));
  EXPECT_FALSE(fs::exists(folder_ / "train.json"));
  const std::string mesh = " --with 'mesh_shape=[1, 2]' --with enable_ddp=true --page=q.html";
  EXPECT_EQ(train("--with max_steps=2" + mesh).status, 0);
  EXPECT_TRUE(contains(content(folder_ / "q.html"), "</html>"));
}

TEST_F(TrainCli, OutWritesEachFormAndStandardOutputHasOneAlone) {
  const Outcome written = train(steps(3) + "-o run.json -o run.csv -o run.html -o loss.png");
  ASSERT_EQ(written.status, 0) << written.err;
  const auto result = nlohmann::json::parse(content(folder_ / "run.json"));
  EXPECT_EQ(result.at("schema"), "howard.result/1");
  EXPECT_EQ(result.at("points").at(0).at("metrics").at("loss").at("samples").size(), 3U);
  EXPECT_TRUE(contains(content(folder_ / "run.csv"), "loss"));
  EXPECT_TRUE(contains(content(folder_ / "run.html"), "loss of each step"));
  EXPECT_TRUE(contains(written.err, "wrote run.{html,json,csv}")) << written.err;
  EXPECT_TRUE(contains(written.out, "Step: 1, Loss: ")) << "the lines of the steps";

  const Outcome shown = train(steps(2) + "--format json");
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(nlohmann::json::parse(shown.out).at("schema"), "howard.result/1");
  EXPECT_TRUE(contains(shown.err, "Step: 2, Loss: ")) << "they give way";

  EXPECT_EQ(train(steps(2) + "-o run.weights").status, 2);
  EXPECT_EQ(train(steps(2) + "-o run.json --checkpoint run.json").status, 2);
  const Outcome none = train(steps(2) + "-o /proc/run.json");
  EXPECT_EQ(none.status, 1) << "before any time is spent";
  EXPECT_EQ(none.out, "");
}

TEST_F(TrainCli, ANumberThatIsNotFiniteStopsTheRun) {
  const Outcome outcome = run(
      kTiny + "--data text --with learning_rate=1e30 --with max_steps=50 --checkpoint c --every 1");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "not finite in step ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, ", first in step ")) << outcome.err;
}

TEST_F(TrainCli, AnInterruptedRunIsSavedAndGoesOn) {
  // The signal comes while the steps, which are far too many to end, are running.
  const Outcome outcome =
      interrupt("--data text --with max_steps=100000000 --every 1 --checkpoint c",
                [this] { await("step 1/"); });
  EXPECT_EQ(outcome.status, 130);
  EXPECT_TRUE(contains(outcome.err, "; interrupted\nwrote c\n")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "it ends when the step that is running is done"))
      << outcome.err;
  const Outcome again =
      run(kTiny + "--data text --resume --checkpoint c --with max_steps=1 --generate 3");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "steps were done already")) << again.err;
}

TEST_F(TrainCli, AnInterruptedTextEndsWhereItIs) {
  const Outcome outcome =
      interrupt("--data text --with max_steps=1 --generate 100000000 --prompt rose",
                [this] { await("steps 1 to 1 on"); });
  EXPECT_EQ(outcome.status, 130);
  EXPECT_TRUE(contains(outcome.out, "\nrose")) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("\n")) << outcome.out;
}

TEST_F(TrainCli, ARunThatIsInterruptedBeforeItsFirstStepSaysSo) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::ofstream text;
  const Outcome outcome = interrupt(
      "--data pipe --with max_steps=5 --results results", [&] { text.open(folder_ / "pipe"); },
      [&] {
        text << content(folder_ / "text");
        text.close();
      });
  EXPECT_EQ(outcome.status, 130);
  EXPECT_TRUE(contains(outcome.err, ": interrupted before the first step\n")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "done already")) << outcome.err;
  const auto result = nlohmann::json::parse(content(folder_ / "results/train.json"));
  EXPECT_EQ(result["points"][0]["skipped"], "interrupted before the first step");
}

}  // namespace
