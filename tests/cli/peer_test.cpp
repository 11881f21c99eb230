// SPDX-License-Identifier: Apache-2.0
//
// These tests run experiments whose points run in a Python of another process. They run the real
// program.
#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

class Peer : public CliFixture {};

TEST_F(Peer, CtrlCDoesNotWaitForOneThatIsBusy) {
  // The peer is busy with a step for 20 s from its first request on, when the signal is sent.
  put("python",
      "#!/bin/sh\n"
      "echo '{\"ready\": {}}'; read request; touch asked; sleep 20; touch done; echo '{\"ps\": "
      "1}'\n"
      "while read request; do echo '{\"loss\": 1}'; done\n");
  fs::permissions(folder() / "python", fs::perms::owner_all);
  put("peer.py", "");
  const Outcome outcome = run(
      "mlp_engines --backend host -a engine=torch -a variant=as_published -a batch=32 -a dim=32 "
      "-a dtype=float32 --threads 1",
      "HOWARD_PYTHON=$PWD/python HOWARD_PYTHON_FOLDER=$PWD sh -c '\"$@\" & "
      "until [ -e asked ]; do sleep 0.1; done; kill -INT $!; wait $!' sh");
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_FALSE(fs::exists(folder() / "done"));
  EXPECT_TRUE(contains(outcome.err, "mlp_engines: 0 points, 0 skipped, 0 failed; interrupted"))
      << outcome.err;
}

TEST_F(Peer, TorchCompileIsSkippedWithTheReasonBelowPyTorch2) {
  put("torch.py", "__version__ = '1.13.1'\n");
  const Outcome outcome =
      run("mlp_engines --backend host -a engine=torch_compile -a variant=as_published -a batch=32 "
          "-a dim=32 -a dtype=float32 --threads 1 --json -",
          "PYTHONPATH=$PWD");
  EXPECT_TRUE(contains(outcome.out, "PyTorch 1.13.1 has no torch.compile: it wants PyTorch 2"))
      << outcome.out << outcome.err;
}

TEST_F(Peer, TorchCompileIsSkippedWithTheReasonWhereItCannotCompile) {
  put("torch.py",
      "__version__ = '2.6.0'\n"
      "def compile(function):\n"
      "  raise ModuleNotFoundError(\"No module named 'setuptools.command'\")\n");
  const Outcome outcome =
      run("mlp_engines --backend host -a engine=torch_compile -a variant=as_published -a batch=32 "
          "-a dim=32 -a dtype=float32 --threads 1 --json -",
          "PYTHONPATH=$PWD");
  EXPECT_TRUE(contains(outcome.out,
                       "torch.compile of PyTorch 2.6.0 does not work here (ModuleNotFoundError: "
                       "No module named 'setuptools.command'): install g++, python3-dev, "
                       "python3-setuptools and libtorch-dev"))
      << outcome.out << outcome.err;
}

}  // namespace
}  // namespace howard::cli
