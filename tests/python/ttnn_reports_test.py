# SPDX-License-Identifier: Apache-2.0
"""The database of a report, as viewers read it, and tensors beside their golden ones in it."""

import contextlib
import importlib.util
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HOWARD_RUN_EXPERIMENT"]
SETTINGS = {"enable_fast_runtime_mode": False, "enable_logging": True, "report_name": "A Report: 1!",
            "enable_detailed_buffer_report": True, "enable_detailed_tensor_report": True,
            "enable_graph_report": True}
SCRIPT = """
import ttnn
device = ttnn.open_device(device_id=0)
x = ttnn.ones([64, 32], layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
y = ttnn.add(x, 1.0)
del x
z = ttnn.matmul(y, y, transpose_b=True, memory_config=ttnn.DRAM_MEMORY_CONFIG)
try:
    ttnn.matmul(y, y)
except RuntimeError:
    pass
print(ttnn.CONFIG.report_path, ttnn.database.query_latest_operation(ttnn.CONFIG.report_path).name)
print(ttnn.database.load_tensor_by_id(ttnn.CONFIG.report_path, z.tensor_id).to_list()[0][0])
"""
COMPARED = """
import torch, ttnn
device = ttnn.open_device(device_id=0)
x = ttnn.from_torch(torch.arange(-512.0, 512).reshape(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
a = ttnn.register_python_operation(name="ttnn.own.wrong", golden_function=lambda x: -x)(
    lambda x: ttnn.add(x, 0.0))(x)
b = ttnn.relu(a)
ttnn.relu(ttnn.rand([32, 32], device))
print(ttnn.CONFIG.report_path)
"""


class ReportTest(unittest.TestCase):
    def run_script(self, text, **settings):
        """Returns the lines that a script prints, its connection and what it says of errors."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / "script.py").write_text(text)
        made = subprocess.run(
            [PROGRAM, "python", "--no-what-if", "script.py"], text=True, cwd=folder.name,
            capture_output=True, timeout=250,
            env={**os.environ, "TTNN_CONFIG_OVERRIDES": json.dumps({**SETTINGS, **settings})})
        lines = made.stdout.splitlines()
        self.assertEqual(made.returncode, 0, made.stderr)
        report = pathlib.Path(folder.name) / lines[0].split()[0]
        connection = sqlite3.connect(report / "db.sqlite")
        self.addCleanup(connection.close)
        return lines, connection, made.stderr, report

    def rows(self, connection, text):
        with contextlib.closing(connection.execute(text)) as found:
            return found.fetchall()

    def test_each_call_is_in_the_report(self):
        lines, db, _, report = self.run_script(SCRIPT)
        self.assertRegex(lines[0], r"^generated/ttnn/reports/a_report_1_\w+ ttnn\.matmul$")
        self.assertEqual(lines[1], "128.0")
        self.assertIs(json.loads((report / "config.json").read_text())["enable_logging"], True)
        names = self.rows(db, "SELECT operation_id, name, duration > 0 FROM operations")
        self.assertEqual(names[1:], [(2, "ttnn.add", 1), (3, "ttnn.matmul", 1), (4, "ttnn.matmul", None)])
        self.assertEqual(self.rows(db, "SELECT value FROM operation_arguments WHERE operation_id = 2 "
                                       "AND name = '1'"), [("1.0",)])
        # The result of add is what the product has twice, and all but it are freed.
        (made,), = self.rows(db, "SELECT tensor_id FROM output_tensors WHERE operation_id = 2")
        self.assertEqual(self.rows(db, "SELECT tensor_id FROM input_tensors WHERE operation_id = 3"),
                         [(made,), (made,)])
        tensors = self.rows(db, f"SELECT shape, dtype, layout, memory_config, buffer_type, device_id, "
                                f"address > 0 FROM tensors WHERE tensor_id = {made}")
        self.assertEqual(tensors, [(
            "Shape([64, 32])", "DataType.BFLOAT16", "Layout.TILE",
            "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1,"
            "shard_spec=std::nullopt)", 1, 0, 1)])
        for table, per_call in (("buffers", [1, 2, 2]), ("buffer_pages", [2, 4, 2])):
            self.assertEqual([count for _, count in self.rows(
                db, f"SELECT operation_id, COUNT(*) FROM {table} GROUP BY operation_id")], per_call)
        self.assertEqual(self.rows(db, "SELECT device_id, num_y_compute_cores FROM devices"), [(0, 7)])
        (kind, text, stack), = self.rows(db, "SELECT error_type, error_message, stack_trace FROM errors")
        self.assertEqual(kind, "RuntimeError")
        self.assertIn("matmul", text)
        self.assertIn("script.py", stack)
        graph = json.loads(self.rows(db, "SELECT captured_graph FROM captured_graph "
                                         "WHERE operation_id = 3")[0][0])
        self.assertIn("ttnn::matmul", [one["params"].get("name") for one in graph])
        self.assertEqual(self.rows(db, "SELECT name FROM nodes WHERE operation_id = 3 "
                                       "AND name LIKE 'ttnn%'"), [("ttnn::matmul",)])
        self.assertEqual(len(self.rows(db, "SELECT * FROM edges WHERE operation_id = 3")), 2)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs python3-torch")
    def test_comparisons_go_by_what_golden_functions_gave_before(self):
        _, db, said, _ = self.run_script(COMPARED, enable_comparison_mode=True)
        self.assertIn("ttnn.own.wrong: output tensor 0 does not match its golden function locally: its "
                      "PCC is -1.0 and globally: its PCC is -1.0", said)
        self.assertRegex(said, r"ERROR    \| ttnn\.relu: output tensor 0 does not match its golden "
                               r"function globally: its PCC is")
        self.assertRegex(said, r"WARNING  \| tensor \d+ is no result of a golden function")
        for name, matches in (("local", [1, 0, 1, 1]), ("global", [1, 0, 0, 1])):
            self.assertEqual([one for one, in self.rows(
                db, f"SELECT matches FROM {name}_tensor_comparison_records")], matches)


if __name__ == "__main__":
    unittest.main()
