# SPDX-License-Identifier: Apache-2.0
"""What an op takes, asked from Python without a device."""

import unittest

import howard

SQUARE = ["2048x2048", "2048x2048"]


class OpTest(unittest.TestCase):
    def test_constraints_are_bytes_of_a_core(self):
        answer = howard.op_constraints("matmul", SQUARE, "2048x2048 l1", dispatch="eth")
        self.assertTrue(answer["legal"])
        self.assertEqual(answer["circular_buffers"], 786432)
        self.assertEqual(answer["output_l1"], 131072)
        self.assertEqual(answer["peak"], 786432 + 131072)
        self.assertEqual(answer["outputs"], ["2048x2048 bfloat16 l1"])

    def test_what_is_alive_leaves_less(self):
        def ask(live):
            return howard.op_constraints("matmul", SQUARE, "2048x2048 l1", dispatch="eth", live=live)

        self.assertEqual(ask([]), ask(None))
        made = ask([1048576])
        self.assertTrue(made["legal"])
        self.assertLess(made["circular_buffers"], 786432)
        self.assertIn("Out of Memory", ask([{"bytes": 1400000}])["reason"])

    def test_constants_are_replaced_by_a_text_a_list_or_a_dict(self):
        def dispatch(given):
            return howard.op_time("exp", "64x64", set=given)["dispatch"]

        slow = dispatch("dispatch.program=4000cycles")
        self.assertGreater(slow, dispatch(None))
        self.assertEqual(slow, dispatch(["dispatch.program=4000cycles"]))
        self.assertEqual(slow, dispatch({"dispatch.program": "4000cycles"}))

    def test_a_time_says_what_it_rests_on(self):
        time = howard.op_time("matmul", SQUARE)
        self.assertGreater(time["kernel"], time["dispatch"])
        self.assertEqual(time["rests_on"], "calibrated")
        self.assertGreater(time["expected_error"], 0)

    def test_what_ttnn_refuses_has_its_reason(self):
        answer = howard.op_constraints("rms_norm", ["64x64", "32"])
        self.assertFalse(answer["legal"])
        self.assertIn("gamma last padded dim", answer["reason"])
        with self.assertRaisesRegex(ValueError, "gamma last padded dim"):
            howard.op_time("rms_norm", ["64x64", "32"])

    def test_absent_operands_and_attributes(self):
        answer = howard.op_constraints(
            "batch_norm", ["1x8x64x64", None, None], attributes={"training": True}
        )
        self.assertEqual(answer["circular_buffers"], 24 * 2048)

    def test_batches_are_arrays_in_the_order_of_calls(self):
        calls = [{"op": "exp", "in": "64x64"}, {"op": "add", "in": ["64x64", "64x64"]}, {"op": "no", "in": []}]
        answers = howard.op_queries(calls)
        self.assertEqual({*howard.op_time("exp", "64x64"), *howard.op_constraints("exp", "64x64")},
                         {*answers, "outputs"})
        self.assertEqual(list(answers["legal"]), [1, 1, 0])
        self.assertEqual(list(answers["circular_buffers"]), [8192, 12288, 0])
        self.assertEqual(answers["kernel"][0], howard.op_time("exp", "64x64")["kernel"])

    def test_a_call_that_is_none_is_an_error(self):
        with self.assertRaises(howard.Error):
            howard.op_queries(["{"])
        with self.assertRaises(howard.Error):
            howard.op_constraints("exp", "64 by 64")
        with self.assertRaises(ValueError):
            howard.op_time("exp", "64x64", dispatch="ethernet")


if __name__ == "__main__":
    unittest.main()
