# SPDX-License-Identifier: Apache-2.0
"""`run_experiment python -m pytest` on a folder of tests in the form of tt-metal's own; boxes, clocks and
folders of the user's own."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ["HOWARD_RUN_EXPERIMENT"]
HAS_PYTEST = all(importlib.util.find_spec(name) for name in ("torch", "pytest"))


class SuiteTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_python(self, *words, **environment):
        return subprocess.run([PROGRAM, "python", "--no-what-if", *map(str, words)], text=True,
                              cwd=self.folder.name, capture_output=True, timeout=250,
                              env={**os.environ, **environment})

    def run_suite(self, *options, words=(), **environment):
        shutil.copytree(HERE / "ttnn_suite", self.folder.name, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__"))
        return self.run_python(*options, "-m", "pytest", "-p", "no:cacheprovider", "tests", *words,
                               **environment)

    @unittest.skipUnless(HAS_PYTEST, "needs python3-torch and python3-pytest")
    def test_every_test_passes_in_a_box_of_eight_chips(self):
        made = self.run_suite("--box", "t3000")
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertRegex(made.stdout, r"\b\d+ passed, 1 skipped in")
        self.assertRegex(made.stderr, r"(?m)^pytest: [\d.]+ ms of virtual time")

    @unittest.skipUnless(HAS_PYTEST, "needs python3-torch and python3-pytest")
    def test_a_mesh_of_eight_is_left_out_on_a_card(self):
        made = self.run_suite(words=("-k", "devices"))
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertIn("needs more than 2 devices", made.stdout)

    @unittest.skipUnless(HAS_PYTEST, "needs python3-torch and python3-pytest")
    def test_settings_come_from_the_environment(self):
        path = pathlib.Path(self.folder.name) / "settings" / "ttnn.json"
        made = self.run_suite(
            words=("-k", "settings or compared"), TTNN_CONFIG_PATH=str(path),
            TTNN_CONFIG_OVERRIDES='{"enable_fast_runtime_mode": false}')
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertIn("3 passed", made.stdout)
        self.assertIn("PCC is -1.0", made.stdout)  # It is said where no error is asked for.
        self.assertIn('"comparison_mode_pcc": 0.9999', path.read_text())

    def test_a_missing_module_says_so(self):
        for module in ("nonesuch.tests", "tracy"):  # Something stands for the second.
            made = self.run_python("-m", module)
            self.assertEqual(made.returncode, 1)
            self.assertIn(f"there is no module {module} for", made.stderr)

    def test_a_module_within_a_package_has_a_record_of_its_name(self):
        package = pathlib.Path(self.folder.name) / "package"
        package.mkdir()
        (package / "step.py").write_text("import ttnn, sys\ndevice = ttnn.open_device(device_id=0)\n"
                                         "print(sys.argv[1:], ttnn.ones([32, 32], device=device).shape)\n")
        made = self.run_python("-m", "package.step", "--steps", 3)
        self.assertIn("['--steps', '3'] Shape([32, 32])", made.stdout, made.stderr)
        self.assertTrue((package.parent / "results" / "package.step.workload.json").exists())

    def test_a_card_says_what_its_kernels_took(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "step.py").write_text(
            "import ttnn\ndevice = ttnn.open_device(device_id=0)\n"
            "x = ttnn.ones([512, 512], layout=ttnn.TILE_LAYOUT, device=device)\n"
            "y = ttnn.matmul(x, x)\nttnn.synchronize_device(device)\n")
        words = {"op": "matmul", "in": "1x1 bfloat16", "out": "1x1 bfloat16", "told": "",
                 "grid": "1x1", "kind": "matmul 2D", "us": 5, "built_in_us": 5, "runs": 1,
                 "error": 0.01, "built_in_error": 0.1}
        kinds = [{"kind": kind, "factor": 40, "calls": 3, "built_in_error": 0.9, "error": 0.1}
                 for kind in ("matmul 2D", "matmul 1D in0", "matmul 1D in1")]
        (folder / "card.json").write_text(json.dumps(
            {"schema": "howard.profile/1", "kind": "card", "name": "card",
             "chip": "wormhole_b0_n300", "software": "tt_metal_2025_12", "logs": ["a.csv"],
             "kernels": [words], "kinds": kinds}))
        plain = self.run_python("step.py")
        learnt = self.run_python("--card", "card.json", "step.py")
        self.assertEqual(learnt.returncode, 0, learnt.stderr)

        def product(made):
            return float(re.search(r"([0-9.]+) ms, 1 x, .*matmul", made.stdout + made.stderr)[1])

        self.assertAlmostEqual(product(learnt) / product(plain), 40, delta=1)

    def test_boxes(self):
        text = ("import ttnn\nsystem = ttnn._ttnn.multi_device.SystemMeshDescriptor().shape()\n"
                "print(ttnn.get_num_devices(), ttnn.cluster.get_cluster_type().name, *system,\n"
                "      ttnn.GetNumPCIeDevices())\n")
        (pathlib.Path(self.folder.name) / "box.py").write_text(text)
        for name, expected in (("n150", "1 N150 1 1 1"), ("n300", "2 N300 1 2 1"),
                               ("t3000", "8 T3K 2 4 4"), ("t3k", "8 T3K 2 4 4"), ("galaxy", "32 GALAXY 8 4 32"),
                               ("n150x4", "4 N150_X4 2 2 4"), ("p150x2", "2 P150_X2 1 2 2"),
                               ("p150x4", "4 P150_X4 2 2 4"), ("p300x2", "4 P300_X2 2 2 2"),
                               ("bh_galaxy", "32 BLACKHOLE_GALAXY 8 4 32")):
            made = self.run_python("--box", name, "box.py")
            self.assertEqual(made.stdout.strip(), expected, made.stderr)
        made = self.run_python("--box", "t5000", "box.py")
        self.assertEqual(made.returncode, 2)
        self.assertIn("n150, n300, n150x4, t3000, galaxy_t3k, galaxy", made.stderr)

    def test_the_mixed_clock_counts_the_hosts_own_work(self):
        text = (
            "import ttnn, time\n"
            "device = ttnn.open_device(device_id=0)\n"
            "x = ttnn.ones([64, 64], layout=ttnn.TILE_LAYOUT, device=device)\n"
            "start = time.perf_counter()\n"
            "y = ttnn.add(x, x)\n"
            "ttnn.synchronize_device(device)\n"
            "on_device = time.perf_counter() - start\n"
            "start = time.perf_counter()\n"
            "time.sleep(0.05)\n"
            "own = time.perf_counter() - start\n"
            "print(on_device > 0.001, own >= 0.05, own)\n")
        (pathlib.Path(self.folder.name) / "clock.py").write_text(text)
        made = self.run_python("--mixed-clock", "clock.py")
        self.assertIn("True True", made.stdout, made.stderr)
        made = self.run_python("--virtual-clock", "clock.py")
        self.assertIn("True False 0.0", made.stdout, made.stderr)
        made = self.run_python("--virtual-clock", "--mixed-clock", "clock.py")
        self.assertEqual(made.returncode, 2)
        self.assertTrue(re.search("a script has one clock", made.stderr), made.stderr)


if __name__ == "__main__":
    unittest.main()
