// SPDX-License-Identifier: Apache-2.0
#include "engines/python/installation.h"

#include <gtest/gtest.h>

#include <cstdlib>
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
  }
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

}  // namespace
}  // namespace howard::python
