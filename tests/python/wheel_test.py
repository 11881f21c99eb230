# SPDX-License-Identifier: Apache-2.0
"""Packs the built package as a wheel and imports it from there. wheel_test.py BUILD: the build folder."""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import wheel_backend  # noqa: E402


class WheelTest(unittest.TestCase):
    def test_a_wheel_has_the_package_and_its_record(self):
        with tempfile.TemporaryDirectory() as folder:
            name = wheel_backend.build_wheel(folder, {"build": BUILD})
            self.assertRegex(name, r"^howard-[\d.]+-cp3\d+-cp3\d+-linux_.*\.whl$")
            with zipfile.ZipFile(pathlib.Path(folder) / name) as wheel:
                record = next(place for place in wheel.namelist() if place.endswith("/RECORD"))
                for line in wheel.read(record).decode().splitlines():
                    place, digest, size = line.rsplit(",", 2)
                    if place == record:
                        continue
                    content = wheel.read(place)
                    self.assertEqual(len(content), int(size))
                    own = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                    self.assertEqual(digest, "sha256=" + own)
                wheel.extractall(pathlib.Path(folder) / "there")
            there = os.path.join(folder, "there")
            run = "import howard, howard.ttnn; print(howard.__file__)"
            made = subprocess.run([sys.executable, "-c", run], env={**os.environ, "PYTHONPATH": there}, text=True,
                                  capture_output=True, cwd=folder)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertTrue(made.stdout.startswith(there), made.stdout)


if __name__ == "__main__":
    unittest.main()
