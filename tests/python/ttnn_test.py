# SPDX-License-Identifier: Apache-2.0
"""Scripts for ttnn as users run them: `run_experiment python SCRIPT`, good ones and bad ones."""

import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ["HOWARD_RUN_EXPERIMENT"]
HEAD = "import ttnn\ndevice = ttnn.open_device(device_id=0)\n" \
       "x = ttnn.ones([64, 64], layout=ttnn.TILE_LAYOUT, device=device)\n"


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_program(self, *words, **kwargs):
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder.name, text=True,
                              capture_output=True, timeout=250, **kwargs)

    def run_text(self, text, *options, arguments=()):
        path = pathlib.Path(self.folder.name) / "script.py"
        path.write_text(text)
        return self.run_program("python", "--no-what-if", *options, path, *arguments)


class BundlesTest(ScriptTest):
    def test_scripts_of_every_bundle(self):
        scripts = [*(HERE / "ttnn").glob("bundle*.py"), *(HERE / "ttnn").glob("tutorial*.py")]
        for script in sorted(scripts):
            if "Needs torch" in script.read_text() and not importlib.util.find_spec("torch"):
                continue
            with self.subTest(script.name):
                made = self.run_program("python", "--no-what-if", script)
                self.assertEqual(made.returncode, 0, made.stderr)
                self.assertIn("of virtual time", made.stderr)

    def test_a_layer_of_a_decoding_step_has_the_kernels_of_shards(self):
        """The layer takes 987 us on an N150 (tt-metal, July 2026), and no op is timed by analogy."""
        made = self.run_program("python", "--no-values", "--no-what-if", "--bottlenecks", "--chip",
                                "wormhole_b0_n150", HERE / "ttnn" / "decode_layer.py")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertNotIn("analogy", made.stdout + made.stderr)
        path = made.stdout[made.stdout.index("critical path"):]
        kernels = sum(float(row.split()[2]) for row in path.splitlines()
                      if re.match(r"[a-z_]+ +[0-9]+ +[0-9.]+ ", row))
        self.assertAlmostEqual(kernels, 987, delta=35)

    def test_the_reports_mlp_takes_what_the_experiment_says(self):
        made = self.run_program("python", "--no-values", "--no-what-if", "--call-times", "report",
                                HERE / "ttnn" / "report_mlp.py", "256", "256")
        self.assertEqual(made.returncode, 0, made.stderr)
        script = float(made.stdout.split()[0])
        self.run_program("mlp_engines", "-a", "engine=python", "-a", "batch=256", "-a", "dim=256",
                         "-a", "layers=2", "-a", "dispatch=worker", "--backend", "emulated",
                         "--json", "mlp.json")
        with open(pathlib.Path(self.folder.name) / "mlp.json") as file:
            points = [p for p in json.load(file)["points"] if p["metrics"]]
        self.assertEqual(len(points), 1)
        expected = points[0]["metrics"]["time"]["value"] * 1e3
        self.assertAlmostEqual(script, expected, delta=0.01 * expected)

    def test_arguments_reach_the_script(self):
        made = self.run_text("import sys\nprint(sys.argv[1:], __name__, __file__)\n" + HEAD,
                             arguments=("--json", "a b"))
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("['--json', 'a b'] __main__", made.stdout)


class OutputsTest(ScriptTest):
    def test_a_saved_program_takes_the_same_time_again(self):
        text = HEAD + "import howard\nwith howard.region('products'):\n" \
            "    for _ in range(4):\n        y = ttnn.matmul(x, x)\n" \
            "z = ttnn.digamma(y)\nttnn.close_device(device)\nprint(repr(howard.now()))\n"
        made = self.run_text(text, "--save-workload", "w.json", "--json", "out.json")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("region products", made.stderr)
        self.assertIn("digamma as log", made.stderr)
        folder = pathlib.Path(self.folder.name)
        saved = json.loads((folder / "w.json").read_text())
        self.assertEqual(saved["schema"], "howard.workload/2")
        point = json.loads((folder / "out.json").read_text())["points"][0]
        again = point["metrics"]["time"]["value"]
        self.assertAlmostEqual(again, float(made.stdout.splitlines()[0]), delta=1e-9)
        explained = self.run_program("explain", "w.json")
        self.assertEqual(explained.returncode, 0, explained.stderr)
        self.assertIn("trace", explained.stdout)
        self.assertEqual(self.run_program("workload", "-a", "file=w.json", "-a",
                                          "trace=no,yes").returncode, 0)

    def test_outputs_of_experiments(self):
        made = self.run_text(HEAD + "import howard\nfrom tracy import signpost\nsignpost('start')\n"
                             "with howard.region('forward'):\n    ttnn.relu(x)\n", "--trace", "t.json", "--bottlenecks",
                             "--device-logs", "logs", "--memory", "memory", "--csv", "out.csv")
        self.assertEqual(made.returncode, 0, made.stderr)
        folder = pathlib.Path(self.folder.name)
        trace = (folder / "t.json").read_text()
        for name in ("relu", "signpost start", "begin forward", "end forward"):
            self.assertIn(name, trace)
        self.assertTrue(list((folder / "logs").rglob("*.csv")))
        self.assertTrue((folder / "out.csv").exists())

    def test_no_values_and_the_virtual_clock(self):
        text = "import time\n" + HEAD + "start = time.perf_counter()\n" \
            "for _ in range(100):\n    y = ttnn.matmul(x, x)\nttnn.synchronize_device(device)\n" \
            "taken = time.perf_counter() - start\nassert 1e-4 < taken < 1e-1, taken\n" \
            "print(repr(taken), y[0, 0].item())\n"
        first = self.run_text(text, "--no-values", "--virtual-clock")
        second = self.run_text(text, "--virtual-clock")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout.split()[0], second.stdout.split()[0])
        self.assertEqual((first.stdout.split()[1], second.stdout.split()[1]), ("0.0", "64.0"))

    def test_ten_thousand_calls_of_the_python_model(self):
        made = self.run_text("import howard\n" + HEAD + "start = howard.now()\n"
                             "for _ in range(10):\n    ttnn.add(x, x)\n"
                             "print(howard.now() - start)\n", "--no-values",
                             "--set", "host.ttnn_call=1ms")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertGreater(float(made.stdout), 0.010)
        self.assertIn("1.000 ms more from Python", made.stderr)

    def test_the_first_call_of_a_program_takes_longer(self):
        text = "import howard\n" + HEAD + "ttnn.synchronize_device(device)\ntimes = []\n" \
            "for i in range(4):\n    if i == 2:\n        device.disable_and_clear_program_cache()\n" \
            "    if i == 3:\n        device.enable_program_cache()\n        ttnn.exp(x)\n" \
            "        ttnn.synchronize_device(device)\n" \
            "    start = howard.now()\n    ttnn.exp(x)\n    ttnn.synchronize_device(device)\n" \
            "    times.append(howard.now() - start)\nprint(*times)\n" \
            "print(device.num_program_cache_entries())\n"
        warm = self.run_text(text)
        self.assertEqual(warm.returncode, 0, warm.stderr)
        first, second, without, again = map(float, warm.stdout.splitlines()[0].split())
        self.assertAlmostEqual(first - second, 1.2e-3, delta=1e-6)
        self.assertAlmostEqual(without - second, 1.2e-3, delta=1e-6)
        self.assertAlmostEqual(again, second, delta=1e-6)
        self.assertEqual(warm.stdout.splitlines()[1], "1")
        self.assertRegex(warm.stderr, "first calls of 3 programs: 3.600 ms")
        cold = self.run_text(text, "--kernel-cache", "cold")
        first, second, without, _ = map(float, cold.stdout.splitlines()[0].split())
        self.assertAlmostEqual(first - second, 0.79, delta=1e-3)
        self.assertAlmostEqual(without - second, 1.2e-3, delta=1e-6)

    def test_a_fused_activation_takes_time(self):
        text = "import howard\n" + HEAD + "big = ttnn.ones([1024, 1024], " \
            "layout=ttnn.TILE_LAYOUT, device=device)\ngrid = ttnn.CoreGrid(y=7, x=8)\n" \
            "def taken(**options):\n    for _ in range(2):\n        start = howard.now()\n" \
            "        ttnn.linear(big, big, core_grid=grid, **options)\n" \
            "        ttnn.synchronize_device(device)\n    return howard.now() - start\n" \
            "print(taken(), taken(activation='relu'), taken(activation='gelu'))\n"
        made = self.run_text(text, "--no-values")
        self.assertEqual(made.returncode, 0, made.stderr)
        plain, relu, gelu = map(float, made.stdout.split())
        self.assertLessEqual(plain, relu)
        self.assertGreater(gelu, plain + 10e-6)

    def test_without_values_large_tensors_take_no_memory(self):
        text = "import ttnn\ndevice = ttnn.open_device(device_id=0)\n" \
            "big = [ttnn.zeros([32768, 32768], layout=ttnn.TILE_LAYOUT, device=device) " \
            "for _ in range(2)]\nhost = ttnn.ones([65536, 32768], layout=ttnn.TILE_LAYOUT)\n" \
            "import resource\n" \
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
        made = self.run_text(text, "--no-values")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertLess(int(made.stdout), 1500)

    def test_check_lists_what_is_missing(self):
        text = "import ttnn\nfrom ttnn import matmul, nonesuch\nttnn.add\nttnn.matmull(1)\n" \
               "ttnn.transformer.split_heads()\n"
        earlier = pathlib.Path(self.folder.name) / "earlier.json"
        earlier.write_text("{}")
        made = self.run_text(text, "--check", "--save-workload", earlier)
        self.assertEqual(made.returncode, 1)
        self.assertTrue(earlier.exists(), "the workload of an earlier run stays")
        for part in (r"script.py:2: ttnn\.nonesuch", r"script.py:4: ttnn\.matmull .*ttnn\.matmul",
                     r"script.py:5: ttnn\.transformer\.split_heads", "3 missing"):
            self.assertRegex(made.stdout, part)
        self.assertEqual(self.run_text("import ttnn\nttnn.add\n", "--check").returncode, 0)
        self.assertEqual(self.run_text("import (", "--check").returncode, 2)

    def test_check_sees_through_other_names(self):
        text = "import ttnn as tt\nimport importlib\nt = tt\nex = t.experimental\n" \
               "m = importlib.import_module('ttnn')\nt.reluu(1)\nex.nonesuch(2)\nm.gellu(3)\n" \
               "if hasattr(tt, 'later'):\n    tt.later(1)\ngetattr(tt, 'zeross')\n" \
               "class A:\n    def __init__(self):\n        self.t = tt\n" \
               "    def f(self):\n        return self.t.onees([1])\n"
        made = self.run_text(text, "--check")
        for line, name in ((6, "reluu"), (7, "experimental.nonesuch"), (8, "gellu"),
                           (11, "zeross"), (16, "onees")):
            self.assertIn(f"script.py:{line}: ttnn.{name}", made.stdout)
        self.assertIn("5 missing", made.stdout)


class BadScriptsTest(ScriptTest):
    """What users get wrong: a clear error, never a crash of the interpreter."""

    def refused(self, lines, *words, status=1):
        made = self.run_text(HEAD + lines + "\n")
        self.assertEqual(made.returncode, status, made.stderr)
        for word in words:
            self.assertIn(word, made.stderr)
        self.assertNotIn("Segmentation", made.stderr)
        return made

    def test_a_script_that_crashes(self):
        made = self.refused("ttnn.relu(x)\nraise KeyError('mine')", "KeyError: 'mine'",
                            "script.py\", line 5", "of virtual time, 1 programs")
        self.assertNotIn("_script.py", made.stderr)
        self.refused("import sys\nsys.exit(7)", "of virtual time", status=7)

    def test_unknown_names(self):
        self.refused("ttnn.reluu(x)", "ttnn.reluu is not in Howard's stand-in", "script.py:4",
                     "ttnn.relu")
        self.refused("ttnn.relu(x, nonsense=1)", "nonsense")

    def test_wrong_tensors(self):
        self.refused("ttnn.matmul(x, ttnn.ones([32, 64], layout=ttnn.TILE_LAYOUT, device=device))",
                     "the width of the first tensor must be the height of the second")
        self.refused("ttnn.add(x, ttnn.ones([63, 64], layout=ttnn.TILE_LAYOUT, device=device))",
                     "sizes must be equal or 1")
        self.refused("ttnn.matmul(x, ttnn.ones([64, 64]))", "need to be on device")
        self.refused("ttnn.matmul(x, ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT))", "TILE layout")
        self.refused("ttnn.relu(3)", "TypeError")

    def test_after_the_end_of_something(self):
        self.refused("ttnn.close_device(device)\nttnn.relu(x)", "was closed")
        self.refused("ttnn.deallocate(x)\nttnn.relu(x)", "Buffer is not allocated")
        self.refused("y = ttnn.reshape(x, [1, 64, 64])\nttnn.deallocate(x)\nttnn.relu(y)",
                     "Buffer is not allocated")

    def test_too_much(self):
        self.refused("ttnn.open_device(device_id=9)", "there is no device 9")
        self.refused("ttnn.open_mesh_device(ttnn.MeshShape(8, 8))", "a mesh of 64 devices")
        made = self.run_text(HEAD + "ttnn.empty([1, 64, 65536, 65536], layout=ttnn.TILE_LAYOUT, "
                             "device=device)\n", "--no-values")
        self.assertEqual(made.returncode, 1)
        self.assertIn("Out of Memory", made.stderr)

    def test_fork_and_threads(self):
        self.refused("import os\npid = os.fork()\nif pid == 0:\n    try:\n        ttnn.relu(x)\n"
                     "    except RuntimeError as failure:\n        print(failure, flush=True)\n"
                     "        os._exit(3)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
                     " == 3", "of virtual time", status=0)
        self.refused("import threading\nthreads = [threading.Thread(target=lambda: [ttnn.add(x, x)"
                     " for _ in range(200)]) for _ in range(4)]\n[t.start() for t in threads]\n"
                     "[t.join() for t in threads]\n", "800 programs", status=0)

    def test_an_endless_loop_is_interrupted(self):
        path = pathlib.Path(self.folder.name) / "loop.py"
        path.write_text(HEAD + "print('on', flush=True)\nwhile True:\n    ttnn.relu(x)\n")
        child = subprocess.Popen([PROGRAM, "python", "--no-what-if", path], text=True,
                                 cwd=self.folder.name, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.assertEqual(child.stdout.readline().strip(), "on")
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        self.addCleanup(child.kill)
        _, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, err)
        self.assertIn("of virtual time", err)

    def test_bad_command_lines(self):
        for words, part in (((), "no script"), (("nowhere.py",), "there is no script"),
                            (("--what-if", __file__), "--no-what-if"),
                            (("--call-times", "nobody", __file__), "ttnn, report"),
                            (("--kernel-cache", "tepid", __file__), "warm, cold"),
                            (("--nonsense", __file__), "--nonsense")):
            made = self.run_program("python", *words)
            self.assertEqual(made.returncode, 2, (words, made.stderr))
            self.assertIn(part, made.stderr)

    def test_a_script_without_a_device(self):
        made = self.run_text("print('nothing')")
        self.assertEqual(made.returncode, 0)
        self.assertIn("opened no device", made.stderr)

    def test_hostile_workloads(self):
        self.run_text(HEAD + "ttnn.relu(x)\n", "--save-workload", "w.json")
        folder = pathlib.Path(self.folder.name)
        good = (folder / "w.json").read_text()
        changes = [("howard.workload/2", "howard.workload/9"), ('"relu"', '"reluu"'),
                   ('["make",0]', '["make",77]'), ('["call",0]', '["call",9]'),
                   ('1x1x64x64', '1x0x64x64'), ('"queues": 1', '"queues": 7'),
                   ('["make",0]', '["release",0]'), ('[0,[0],[1]]', '[0,[[[[0],[1]]'), (good, "[]"), (good, ""),
                   (good, good[:-40])]
        for before, after in changes:
            with self.subTest(after[:40]):
                self.assertIn(before, good)
                (folder / "bad.json").write_text(good.replace(before, after))
                made = self.run_program("explain", "bad.json")
                self.assertIn(made.returncode, (1, 2), made.stderr)
                self.assertTrue(re.search("cannot ", made.stderr), made.stderr)


if __name__ == "__main__":
    unittest.main()
