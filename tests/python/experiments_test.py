# SPDX-License-Identifier: Apache-2.0
"""howard.run(), explain(), fit() and analyze(): what they give is what the program writes."""

import _thread
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import howard

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["HOWARD_RUN_EXPERIMENT"]

OPS = """\
OP CODE,OP TYPE,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],\
DEVICE KERNEL DURATION [ns],OP TO OP LATENCY [ns]
Matmul,tt_dnn_device,100000,110000,10000,10000,0
Softmax,tt_dnn_device,130000,135000,5000,5000,20000
Matmul,tt_dnn_device,135500,bad,10000,10000,500
"""


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def written(self, *arguments):
        """The JSON that the program writes."""
        done = subprocess.run(
            [PROGRAM, *arguments, "--json", "-"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class RunTest(FolderTest):
    def test_the_result_is_what_the_program_writes(self):
        result = howard.run(
            "matmul_sweep",
            axes={"shape": [256, "512x1024x2048"], "dispatch": "eth", "trace": [True, False]},
            backend="emulated",
        )
        written = self.written(
            *"matmul_sweep --backend emulated -a shape=256,512x1024x2048 -a dispatch=eth "
            "-a trace=yes,no".split()
        )
        self.assertEqual(result, written)
        self.assertEqual(len(result["points"]), 4)
        self.assertIsInstance(result, dict)

    def test_every_experiment_gives_what_the_program_writes(self):
        written = self.written(
            *"all fidelity op_list workload --quick --backend emulated --results .".split()
        )
        self.assertGreater(len(written), 17)
        for one in written:
            result = howard.run(one["experiment"], quick=True, backend="emulated")
            self.assertEqual(result, one)

    def test_constants_and_profiles_are_those_of_the_options(self):
        for settings in (
            {"host.op_call": "1us", "dispatch.go_core": ["1cycles", "2cycles"]},
            ["host.op_call=1us", "dispatch.go_core=1cycles,2cycles"],
        ):
            result = howard.run(
                "matmul_sweep", axes={"shape": 256}, set=settings, chip="wormhole_b0_n150"
            )
            written = self.written(
                *"matmul_sweep --backend emulated -a shape=256 --set host.op_call=1us "
                "--set dispatch.go_core=1cycles,2cycles --chip wormhole_b0_n150".split()
            )
            self.assertEqual(result, written)

    def test_points_of_the_host_are_timed(self):
        result = howard.run(
            "matmul_sweep",
            axes={"shape": 64, "dtype": "float32"},
            backend="host",
            repetitions=6,
            min_time=1e-6,
            threads=1,
        )
        (point,) = result["points"]
        self.assertEqual(point["backend"], "host")
        self.assertEqual(len(point["metrics"]["time"]["samples"]), 6)
        self.assertEqual(result["context"]["threads"], 1)

    def test_a_point_that_cannot_run_says_why(self):
        result = howard.run("mlp_engines", axes={"batch": 1000000, "dim": 100000, "engine": "static"})
        for point in result["points"]:
            self.assertIn("cannot allocate", point["skipped"])
            self.assertTrue(point["failed"])

    def test_an_experiment_without_the_emulator_runs_on_the_host(self):
        result = howard.run("gradient_check", quick=True, filter="op:linear_forward")
        self.assertEqual({point["backend"] for point in result["points"]}, {"host"})

    def test_a_result_has_rows_and_shows_itself_as_a_table(self):
        result = howard.run("matmul_sweep", axes={"shape": 512, "dispatch": "eth"})
        self.assertEqual(result.points, result["points"])
        self.assertEqual(repr(result), "<matmul_sweep: 1 point; rows(), to_dataframe() or [\"points\"]>")
        (row,) = result.rows()
        time, published = result["points"][0]["metrics"]["time"]["value"], row["published"]
        self.assertEqual((row["shape"], row["time"]), ("512x512x512", time))
        self.assertEqual(row["error"], time / published - 1)
        self.assertIn("<th>shape</th>", result._repr_html_())
        self.assertIn("<td>512x512x512</td>", result._repr_html_())
        failed = howard.run("mlp_engines", axes={"batch": 1000000, "dim": 100000, "engine": "static"})
        self.assertIn("cannot allocate", failed.rows()[0]["skipped"])

    def test_experiments_are_those_of_run_with_their_axes(self):
        known = {one["name"]: one for one in howard.experiments()}
        (shape,) = [
            axis for axis in known["matmul_sweep"]["axes"]["emulated"] if axis["name"] == "shape"
        ]
        self.assertIn("4096x4096x4096", shape["values"])
        self.assertNotIn("host", known["two_queues"]["axes"])

    def test_errors_have_four_parts(self):
        with self.assertRaises(howard.Error) as raised:
            howard.run("matmul_swep")
        error = raised.exception
        self.assertEqual(error.attempted, "run experiment 'matmul_swep'")
        self.assertEqual(error.hint, "matmul_sweep")
        for part in (error.attempted, error.value, error.accepted, error.hint):
            self.assertIn(part, str(error))

    def test_what_cannot_be_run_is_an_error(self):
        for attempt, text in [
            (lambda: howard.run("matmul_sweep", axes={"shap": 3}), 'try axes={"shape": "..."}'),
            (lambda: howard.run("matmul_sweep", axes={"shape": None}), "'None'"),
            (lambda: howard.run("matmul_sweep", axes={"shape": []}), "shape="),
            (lambda: howard.run("matmul_sweep", axes={"shape": -1}), "-1"),
            (lambda: howard.run("matmul_sweep", backend="gpu"), "emulated, host"),
            (lambda: howard.run("two_queues", backend="host"), 'try backend="emulated"'),
            (lambda: howard.run("matmul_sweep", filter="("), "a regular expression"),
            (lambda: howard.run("matmul_sweep", filter="(" * 12000 + ")" * 12000), "nested"),
            (lambda: howard.run("matmul_sweep", set={"host.op_cal": "1us"}), "host.op_call"),
            (lambda: howard.run("matmul_sweep", set="nonsense"), "nonsense"),
            (lambda: howard.run("matmul_sweep", chip="/no/profile"), "/no/profile"),
            (lambda: howard.run("matmul_sweep", threads=-1), "threads"),
            (lambda: howard.run("matmul_sweep", repetitions=0), "repetitions"),
            (lambda: howard.run("matmul_sweep", min_time=float("nan")), "min_time"),
        ]:
            with self.subTest(text), self.assertRaises(howard.Error) as raised:
                attempt()
            self.assertIn(text, str(raised.exception))

    def test_nothing_is_printed(self):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import howard; howard.run('matmul_sweep', quick=True); howard.explain('mlp')",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
        )
        self.assertEqual(done.stdout, b"")


class InterruptionTest(unittest.TestCase):
    """Ctrl-C, as Python simulates it, while each of these runs for minutes."""

    def interrupted(self, work):
        threading.Timer(0.3, _thread.interrupt_main).start()
        with self.assertRaises(KeyboardInterrupt):
            work()

    def test_a_sweep_of_the_emulator_ends(self):
        space = {"dispatch.go_core": "1..2000:1cycles", "host.op_call": "20..44.75:0.25us"}
        self.interrupted(
            lambda: howard.run("mlp_engines", axes={"engine": "traced"}, set=space)
        )

    def test_a_sweep_of_the_host_ends(self):
        self.interrupted(
            lambda: howard.run(
                "matmul_sweep",
                axes={"shape": [64, 128, 256]},
                backend="host",
                repetitions=1000,
                min_time=0.2,
            )
        )

    def test_another_thread_goes_on_meanwhile(self):
        ticks = []
        done = threading.Event()

        def tick():
            while not done.wait(0.01):
                ticks.append(len(ticks))

        thread = threading.Thread(target=tick)
        thread.start()
        howard.run(
            "matmul_sweep", axes={"shape": 64}, backend="host", repetitions=1, min_time=0.5
        )
        done.set()
        thread.join()
        self.assertGreater(len(ticks), 3)


class ExplainTest(FolderTest):
    def test_the_result_is_what_the_program_writes(self):
        result = howard.explain(axes={"m": 1024, "k": 512, "n": 512})
        written = self.written(*"explain -a m=1024 -a k=512 -a n=512".split())
        self.assertEqual(result, written)
        self.assertGreater(len(result["points"]), 3)

    def test_other_constants_are_another_answer(self):
        time = howard.explain("mlp")["points"][0]["metrics"]["time"]
        faster = howard.explain("mlp", set={"host.op_call": "1us"})["points"][0]["metrics"]["time"]
        self.assertLess(faster["picoseconds"], time["picoseconds"])

    def test_what_is_not_understood_is_an_error(self):
        for attempt, text in [
            (lambda: howard.explain(), "nothing to explain"),
            (lambda: howard.explain("mlpp"), "try mlp"),
            (lambda: howard.explain(axes={"m": 12}), "three sizes"),
            (lambda: howard.explain("mlp", axes={"batch": [1, 2]}), "one value"),
            (lambda: howard.explain("gradient_check"), "times nothing on the emulator"),
        ]:
            with self.subTest(text), self.assertRaises(howard.Error) as raised:
                attempt()
            self.assertIn(text, str(raised.exception))


class FitTest(FolderTest):
    CONFIG = str(REPOSITORY / "data/ttml/train_tinyllama.yaml")

    def test_the_plan_is_what_the_program_writes(self):
        mesh = str(REPOSITORY / "data/ttml/loudbox_ddp.yaml")
        for options, plan in [
            (["-c", self.CONFIG], howard.fit(self.CONFIG)),
            (
                ["-c", self.CONFIG, "--device", mesh, "--with", "batch_size=8", "--no-search"]
                + ["--with", "runner_type=memory_efficient", "--chip", "wormhole_b0_n150"],
                howard.fit(
                    self.CONFIG,
                    device=mesh,
                    keys={"batch_size": 8, "runner_type": "memory_efficient"},
                    search=False,
                    chip="wormhole_b0_n150",
                ),
            ),
            (
                ["--preset", "nano_gpt", "--engine", "static", "--no-search"],
                howard.fit(preset="nano_gpt", engine="static", search=False),
            ),
        ]:
            with self.subTest(options):
                self.assertEqual(plan, self.written("fit", *options))
                self.assertGreater(plan["run"]["step_ps"], 0)

    def test_what_is_not_understood_is_an_error(self):
        for attempt, text in [
            (lambda: howard.fit(), "no training file"),
            (lambda: howard.fit(self.CONFIG, keys={"batch_siz": 1}), "batch_size=..."),
            (lambda: howard.fit(self.CONFIG, engine="eager"), "dynamic, static or traced"),
            (lambda: howard.fit(self.CONFIG, schedule="1f2b"), "1f1b"),
            (lambda: howard.fit(self.CONFIG, tiers=2), "workers of a multihost_config"),
            (lambda: howard.fit(self.CONFIG, tiers=4), "2 or 3"),
            (lambda: howard.fit(self.CONFIG, chunks=0), "1 to 64"),
        ]:
            with self.subTest(text), self.assertRaises(howard.Error) as raised:
                attempt()
            self.assertIn(text, str(raised.exception))


class AnalyzeTest(FolderTest):
    def test_a_log_gives_a_result_of_each_kind(self):
        log = self.folder / "ops.csv"
        log.write_text(OPS)
        results = {result["experiment"]: result for result in howard.analyze(log)}
        self.assertEqual(list(results), ["log_devices", "log_ops", "log_gaps", "log_calls"])
        (device,) = results["log_devices"]["points"]
        self.assertEqual(device["params"], {"log": "ops.csv", "run": "1", "device": "0"})
        self.assertEqual(device["backend"], "log")
        values = {name: metric["value"] for name, metric in device["metrics"].items()}
        self.assertAlmostEqual(values["span"], 35e-6)
        self.assertAlmostEqual(values["busy_time"] + values["idle_time"], values["span"])
        ops = {point["params"]["op"]: point for point in results["log_ops"]["points"]}
        self.assertAlmostEqual(ops["Matmul"]["metrics"]["share"]["value"], 2 / 3)
        (gap,) = results["log_gaps"]["points"]
        self.assertEqual((gap["params"]["before"], gap["params"]["after"]), ("Matmul", "Softmax"))
        self.assertAlmostEqual(gap["metrics"]["idle_time"]["value"], 20e-6)
        warnings = results["log_ops"]["context"]["warnings"]
        self.assertTrue(any("left out 1 row" in warning for warning in warnings), warnings)

    def test_the_results_are_what_the_program_writes(self):
        log = self.folder / "ops.csv"
        log.write_text(OPS)
        other = self.folder / "other.csv"
        other.write_text(OPS.replace("Softmax", "Gelu"))
        for options, results in [
            (["ops.csv"], howard.analyze(log)),
            (["ops.csv", "other.csv"], howard.analyze(log, other)),
            (["ops.csv", "other.csv", "--join"], howard.analyze(log, other, join=True)),
            (["ops.csv", "--no-advice", "--all"], howard.analyze(log, advice=False, all=True)),
        ]:
            with self.subTest(options):
                self.assertEqual(results, self.written("analyze", *options))

    def test_results_come_back_as_they_were_written(self):
        result = howard.run("matmul_sweep", quick=True)
        file = self.folder / "result.json"
        file.write_text(json.dumps(result))
        self.assertEqual(howard.analyze(file, file), [result, result])
        logged = howard.analyze(self.folder / "result.json")
        file.write_text(json.dumps(logged))
        self.assertEqual(howard.analyze(str(file)), logged)

    def test_a_bad_file_is_an_error_that_names_it(self):
        for content in ("", "no log", "[" * 200000, '{"schema": "howard.result/1"}', "\0\xff"):
            file = self.folder / "bad"
            file.write_text(content)
            with self.subTest(content[:20]), self.assertRaises(howard.Error) as raised:
                howard.analyze(file)
            self.assertIn("bad", str(raised.exception))
        with self.assertRaises(howard.Error):
            howard.analyze(self.folder / "missing")
        with self.assertRaises(howard.Error):
            howard.analyze(self.folder)


if __name__ == "__main__":
    unittest.main()
