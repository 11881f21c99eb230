// SPDX-License-Identifier: Apache-2.0
#include "engines/python/installation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::python {
namespace {

class InstallationTest : public testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    unsetenv("HOWARD_PYTHON");
    unsetenv("HOWARD_PYTHON_FOLDER");
    unsetenv("HOWARD_LAUNCHER");
  }
};

/// A package without its extension, and a launcher that has `script` for a text.
class ExtensionTest : public InstallationTest {
 protected:
  void SetUp() override {
    InstallationTest::SetUp();
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    remove_all(folder_);
    create_directories(folder_ / "_peers");
  }
  void TearDown() override {
    InstallationTest::TearDown();
    remove_all(folder_);
  }
  void put_launcher(const std::string& script) {
    const std::filesystem::path launcher = folder_ / "launcher";
    std::ofstream(launcher) << "#!/bin/sh\ncd " << folder_ << "\n" << script << "\n";
    permissions(launcher, std::filesystem::perms::owner_all);
    setenv("HOWARD_LAUNCHER", launcher.c_str(), 1);
  }
  bool build(const std::function<bool()>& stop = {}) {
    return build_extension({.interpreter = "/bin/sh", .folder = folder_ / "_peers"}, stop);
  }
  bool require() {
    return require_extension({.interpreter = "/bin/sh", .folder = folder_ / "_peers"}, {});
  }
  bool has(const std::string& file) const { return exists(folder_ / file); }

 private:
  std::filesystem::path folder_;
};

std::string failure() {
  return error_of([&] { find_installation(); });
}

TEST_F(InstallationTest, TheEnvironmentNamesTheInterpreter) {
  setenv("HOWARD_PYTHON", "/bin/sh", 1);
  ASSERT_TRUE(find_installation().has_value());
  EXPECT_EQ(find_installation()->interpreter, "/bin/sh");
  EXPECT_TRUE(exists(find_installation()->folder / "torch_peer.py"));
}

TEST_F(InstallationTest, AnInterpreterThatIsNotThereIsAnErrorNamingTheVariable) {
  setenv("HOWARD_PYTHON", "/no/python", 1);
  EXPECT_EQ(failure(),
            "cannot find the Python interpreter: there is no /no/python; try a new build, or set "
            "HOWARD_PYTHON");
}

TEST_F(InstallationTest, AFolderWithoutTheScriptsIsAnErrorNamingTheVariable) {
  setenv("HOWARD_PYTHON", "/bin/sh", 1);
  setenv("HOWARD_PYTHON_FOLDER", "/no/folder", 1);
  EXPECT_EQ(failure(),
            "cannot find Howard's Python scripts: there is no /no/folder/peer.py; try a new build, "
            "or set HOWARD_PYTHON_FOLDER");
}

TEST_F(ExtensionTest, TheLauncherBuildsItOnce) {
  put_launcher("touch asked_for_$HOWARD_BUILD _native.cpython-311.so");
  EXPECT_TRUE(build());
  EXPECT_TRUE(has("asked_for_python_module"));
  put_launcher("touch asked_again");
  EXPECT_TRUE(build());
  EXPECT_FALSE(has("asked_again"));
}

TEST_F(ExtensionTest, WithoutALauncherWhoNeedsItLearnsHowToBuildIt) {
  EXPECT_TRUE(build());
  const std::string failure = error_of([&] { require(); });
  EXPECT_TRUE(failure.starts_with("cannot use the Python module: there is none in ")) << failure;
  EXPECT_TRUE(failure.find("; try cmake --build with --target python_module") != std::string::npos)
      << failure;
}

TEST_F(ExtensionTest, ABuildThatFailsIsAnErrorThatPointsToItsWords) {
  put_launcher("exit 3");
  EXPECT_EQ(error_of([&] { build(); }),
            "cannot build the Python module: it ended with status 3; try again when what it says "
            "above is mended");
}

TEST_F(ExtensionTest, ACtrlCEndsTheBuild) {
  put_launcher("trap 'exit 130' INT; while :; do sleep 0.05; done");
  EXPECT_FALSE(build([&] { return true; }));
}

}  // namespace
}  // namespace howard::python
