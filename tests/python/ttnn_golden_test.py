# SPDX-License-Identifier: Apache-2.0
"""Each golden function against the values of the op that it is for, where PyTorch is installed."""

import importlib.util
import unittest

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    import howard.ttnn as ttnn
    from howard.ttnn import _golden
    from howard.ttnn._launch import OPERATIONS

# What numbers functions are compared on, where they are not defined from -2 to 2.
RANGES = {
    **dict.fromkeys("""log log2 log10 rsqrt sqrt digamma lgamma polygamma log_bw log2_bw log10_bw
        rsqrt_bw sqrt_bw digamma_bw lgamma_bw polygamma_bw log1p log1p_bw sqrt_ rsqrt_ pow_bw rpow
        rpow_bw rdiv rdiv_bw reciprocal reciprocal_bw reciprocal_ xlogy xlogy_bw remainder fmod
        remainder_bw fmod_bw ldexp_bw div_no_nan_bw pow hypot_bw""".split(), (0.3, 2.7)),
    **dict.fromkeys("multigammaln multigammaln_bw".split(), (2.2, 6.0)),
    **dict.fromkeys("acosh acosh_bw".split(), (1.1, 4.0)),
    **dict.fromkeys("asin acos atanh erfinv asin_bw acos_bw atanh_bw erfinv_bw".split(),
                    (-0.9, 0.9)),
    **dict.fromkeys("logit logit_bw logiteps_bw".split(), (0.1, 0.9)),
}
# What a function takes after its tensors: words, or numbers in their place.
AFTER = {
    "asin": {"device": None}, "acos": {"device": None}, "remainder": {"device": None},
    "fmod": {"device": None}, "acosh_bw": {"device": "open"},
    "rpow": (2.0,), "pow": (2.0,), "pow_bw": (2.0,), "rpow_bw": (2.0,), "rdiv": (2.0,),
    "rdiv_bw": (2.0,), "relu_min": (0.5,), "relu_max": (0.5,), "heaviside": (0.5,), "fill": (3.0,),
    "polygamma": (1,), "polygamma_bw": (1,), "threshold": (0.5, 0.25), "threshold_bw": (0.5, 0.25),
    "clamp": (-0.5, 0.5), "clip": (-0.5, 0.5), "clamp_bw": (-0.5, 0.5), "clip_bw": (-0.5, 0.5),
    "logiteps_bw": {"eps": 0.05}, "full_like": (3.0,), "softmax": {"dim": -1}, "softplus_bw": {
        "beta": 1.0, "threshold": 20.0}, "hardtanh_bw": {"min": -1.0, "max": 1.0},
    "cumsum": (-1,), "cumprod": (-1,), "permute": ((0, 1, 3, 2),), "repeat": ((1, 1, 2, 1),),
    "reshape": ((1, 1, 64, 32),), "repeat_interleave": (2,), "repeat_bw": ((1, 1, 1, 1),),
    "squeeze": (0,), "unsqueeze": (0,), "transpose": (-1, -2), "expand": ((1, 1, 32, 64),),
    "roll": (3, 3), "split": (32, -1), "chunk": (2, -1), "topk": (32,), "div_no_nan_bw": (0.7,),
    "tril": {"diagonal": 0}, "triu": {"diagonal": 0}, "polyval": ([1.0, -2.0, 0.5],),
    "pad": ([(0, 0), (0, 0), (0, 32), (0, 32)], 1.0), "argmax": {"dim": -1},
    "addalpha": (0.5,), "subalpha": (0.5,), "addalpha_bw": (0.5,), "subalpha_bw": (0.5,),
    "addcmul_bw": (0.5,), "addcdiv_bw": (0.5,), "glu": (-1,), "reglu": (-1,), "geglu": (-1,),
    "swiglu": (-1,), "concat_bw": (0,), "prelu": (), "isclose": {"rtol": 0.5, "atol": 0.5},
    "mean": {"dim": -1}, "sum": {"dim": -1}, "max": {"dim": -1}, "min": {"dim": -1},
    "var": {"dim": -1}, "std": {"dim": -1}, "prod": {"dim": -1},
    "transformer.attention_softmax": {"head_size": 64},
}
WHOLE = """bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift
logical_left_shift logical_right_shift gcd lcm""".split()
NONZERO = "divide div divide_ div_ div_no_nan floor_div addcdiv remainder fmod div_bw divide_bw addcdiv_bw"
TWO = """add subtract sub multiply mul divide div rsub eq ne gt ge lt le logical_and logical_or
logical_xor logaddexp logaddexp2 xlogy hypot maximum minimum atan2 nextafter ldexp squared_difference
bias_gelu div_no_nan floor_div remainder fmod addalpha subalpha isclose l1_loss mse_loss bitwise_and
bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_left_shift logical_right_shift gcd
lcm""".split()
TWO_BACK = """sub subtract add mul multiply atan2 xlogy hypot ldexp logaddexp logaddexp2
squared_difference rsub min max addalpha subalpha bias_gelu div divide concat assign remainder fmod
prelu""".split()
THREE = "addcmul addcdiv lerp mac where"
# These are compared in tests of their own, or have nothing that could be compared.
APART = {
    "bcast": "ttnn_wider_test.py has it",
    "bitcast": "the golden function knows no type, in ttnn either",
    "empty": "it has no values", "empty_like": "it has no values", "from_torch": "it takes no tensor",
    **dict.fromkeys("zeros ones full arange concat stack outer gather scatter concat_bw".split(),
                    "below"),
    **dict.fromkeys("""matmul linear addmm conv2d max_pool2d global_avg_pool2d layer_norm rms_norm
        group_norm scale_mask_softmax scale_mask_softmax_in_place embedding upsample
        scale_causal_mask_hw_dims_softmax_in_place transformer.concatenate_heads
        transformer.split_query_key_value_and_split_heads experimental.concatenate_heads grid_sample
        experimental.split_query_key_value_and_split_heads
        experimental.nlp_create_qkv_heads experimental.rotary_embedding
        experimental.create_qkv_heads_from_separate_tensors transformer.attention_softmax_
        """.split(), "below"),
    **dict.fromkeys("""interleaved_to_sharded sharded_to_interleaved reshard to_memory_config
        to_layout to_device from_device typecast to_torch interleaved_to_sharded_partial
        sharded_to_interleaved_partial""".split(), "it changes where numbers are, not what they are"),
    **dict.fromkeys("real imag angle conj polar is_real is_imag real_bw imag_bw angle_bw conj_bw "
                    "polar_bw".split(), "complex tensors have a type of their own"),
    **dict.fromkeys("normalize_hw normalize_global".split(),
                    "the golden function's deviation is that of a sample"),
}


def operands_of(name):
    """Returns how many tensors a function takes."""
    base = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    if base.endswith("_bw"):
        inner = base[:-3]
        return 4 if inner in ("addcmul", "addcdiv", "lerp", "where") else 3 if inner in TWO_BACK else 2
    return 3 if base in THREE.split() else 2 if base in TWO or base == "prelu" else 1


@unittest.skipUnless(HAS_TORCH, "needs python3-torch")
class GoldenTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_device(device_id=0)

    @classmethod
    def tearDownClass(cls):
        ttnn.close_device(cls.device)

    def put(self, values):
        whole = not values.is_floating_point()
        return ttnn.from_torch(values.detach(), ttnn.int32 if whole else ttnn.float32,
                               layout=ttnn.TILE_LAYOUT, device=self.device)

    def operands(self, name):
        torch.manual_seed(7)
        low, high = RANGES.get(name, (-2.0, 2.0))
        made = []
        for i in range(operands_of(name)):
            if name in WHOLE:
                made.append(torch.randint(1, 9, (1, 1, 32, 64), dtype=torch.int32))
                continue
            values = torch.rand(1, 1, 32, 64) * (high - low) + low
            if i and name in NONZERO.split():
                values = values.abs() + 0.3
            made.append(values)
        if name.rstrip("_") in ("where", "where_bw"):
            at = 1 if name == "where_bw" else 0
            made[at] = (made[at] > 0).float()
        if name.startswith("prelu"):
            made[-1] = torch.tensor([0.25]) if name == "prelu" else torch.full((1, 1, 32, 64), 0.25)
        if name in ("eq", "ne", "eq_", "ne_"):
            made[1][..., ::2] = made[0][..., ::2]
        return made

    def near(self, name, golden, made):
        if isinstance(golden, (list, tuple)) and not isinstance(made, (list, tuple)):
            golden = golden[0]
        if isinstance(golden, (list, tuple)):
            self.assertEqual(len(golden), len(made), name)
            for a, b in zip(golden, made):
                self.near(name, a, b)
            return
        got = ttnn.to_torch(made).double() if isinstance(made, ttnn.Tensor) else made.double()
        golden = golden.detach().double().reshape(got.shape)
        self.assertTrue(torch.allclose(golden, got, rtol=2e-3, atol=2e-3, equal_nan=True),
                        f"{name}: {(golden - got).abs().max()}")

    def test_every_golden_function_gives_what_its_op_gives(self):
        compared = 0
        for name, operation in sorted(OPERATIONS.items()):
            if operation.golden_function is None or name in APART:
                continue
            compared += 1
            with self.subTest(name):
                self.compare(name, operation)
        self.assertGreater(compared, 250)

    def compare(self, name, operation):
        operands, after = self.operands(name), AFTER.get(name, ())
        if after == {"device": "open"}:
            after = {"device": self.device}
        words, places = (after, ()) if isinstance(after, dict) else ({}, after)
        tensors = [self.put(one) for one in operands]
        own = {key: value for key, value in words.items() if key != "device"}
        if name == "rsub_" or name.endswith("_") and operands_of(name) == 2:
            operands = [one.clone() for one in operands]
        made = operation(*tensors, *places, **own)
        self.near(name, operation.golden_function(*operands, *places, **words), made)

    def check(self, name, *operands, **words):
        """Calls both with the same: tensors and lists of them are put on the device for the op."""
        def put(one):
            if isinstance(one, torch.Tensor):
                return self.put(one)
            return [put(each) for each in one] if isinstance(one, list) and isinstance(
                one[0], torch.Tensor) else one

        operation = OPERATIONS[name]
        made = operation(*map(put, operands), **{key: put(one) for key, one in words.items()})
        self.near(name, operation.golden_function(*operands, **words), made)

    def test_products_and_rows(self):
        torch.manual_seed(3)
        x, w, bias = torch.randn(1, 1, 32, 64) / 8, torch.randn(64, 96) / 8, torch.randn(1, 96)
        self.check("matmul", x, w)
        self.check("matmul", x, torch.randn(1, 1, 32, 96) / 8, transpose_a=True)
        for activation in (None, "relu", "silu", "gelu"):
            self.check("linear", x, w, bias=bias, activation=activation)
        self.check("addmm", torch.randn(32, 96), x[0, 0], w, alpha=0.5, beta=2.0)
        weight, shift = torch.rand(64), torch.rand(64)
        self.check("layer_norm", x, weight=weight.reshape(1, 64), bias=shift.reshape(1, 64))
        self.check("rms_norm", x, weight=weight.reshape(1, 64))
        ids = torch.randint(0, 64, (2, 32), dtype=torch.int32)
        self.near("embedding", ttnn.get_golden_function(ttnn.embedding)(ids, w), ttnn.embedding(
            ttnn.from_torch(ids, ttnn.uint32, device=self.device), self.put(w)))
        mask = torch.randn(1, 1, 1, 64)
        for name in ("scale_mask_softmax", "scale_mask_softmax_in_place"):
            self.check(name, x, 0.5, mask)
        self.check("transformer.attention_softmax_", x, head_size=64, attention_mask=mask)

    def test_heads(self):
        torch.manual_seed(3)
        rows = torch.randn(2, 32, 3 * 128)
        self.check("transformer.split_query_key_value_and_split_heads", rows, num_heads=4)
        self.check("experimental.split_query_key_value_and_split_heads", rows[:, None], num_heads=4)
        self.check("experimental.nlp_create_qkv_heads", rows[:, None], num_heads=4,
                   transpose_k_heads=False)
        self.check("transformer.concatenate_heads", torch.randn(2, 4, 32, 64))
        cos, sin = torch.randn(1, 1, 32, 64), torch.randn(1, 1, 32, 64)
        self.check("experimental.rotary_embedding", torch.randn(1, 2, 32, 64), cos, sin)
        self.check("experimental.create_qkv_heads_from_separate_tensors", torch.randn(1, 1, 32, 128),
                   torch.randn(1, 1, 32, 256), num_heads=2, num_kv_heads=2)

    def test_movement_and_creation(self):
        a, b = torch.randn(1, 1, 32, 64), torch.randn(1, 1, 32, 64)
        self.check("concat", [a, b], -1)
        self.check("stack", [a, b], 0)
        self.check("concat_bw", torch.randn(2, 1, 32, 64), a, b, 0)
        self.check("outer", a[:, :, :1], b[:, :, :1])
        index = torch.randint(0, 32, (1, 1, 32, 64), dtype=torch.int32)
        self.check("gather", a, 2, index)
        for name, given in (("zeros", ([32, 32],)), ("ones", ([32, 32],)), ("arange", (0, 32, 2)),
                            ("full", ([32, 32], 2.5))):
            self.near(name, OPERATIONS[name].golden_function(*given), OPERATIONS[name](*given))
        golden = ttnn.get_golden_function(ttnn.Tensor.__getitem__)
        place = (0, slice(None), slice(0, 32), slice(32, 64))
        self.near("Tensor.__getitem__", golden(a, place), self.put(a)[place])
        image = torch.randn(1, 4, 4, 32)
        rows = ttnn.from_torch(image, ttnn.float32, device=self.device)
        self.near("upsample", ttnn.get_golden_function(ttnn.upsample)(image, 2),
                  ttnn.upsample(rows, 2))
        places = torch.rand(1, 3, 5, 2) * 2 - 1
        self.near("grid_sample", ttnn.operations.pool.golden_grid_sample(image, places),
                  ttnn.grid_sample(rows, ttnn.from_torch(places, ttnn.float32, device=self.device)))

    def test_convolutions_and_pools(self):
        torch.manual_seed(3)
        image, weight = torch.randn(2, 8, 8, 16), torch.randn(32, 16, 3, 3) / 12
        bias = torch.randn(1, 1, 1, 32)
        words = {"in_channels": 16, "out_channels": 32, "batch_size": 2, "input_height": 8,
                 "input_width": 8, "kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1)}
        flat = image.reshape(1, 1, 128, 16)
        made = ttnn.conv2d(
            input_tensor=ttnn.from_torch(flat, ttnn.float32, device=self.device), **words,
            weight_tensor=ttnn.from_torch(weight, ttnn.float32), device=self.device,
            bias_tensor=ttnn.from_torch(bias, ttnn.float32), dtype=ttnn.float32)
        golden = ttnn.get_golden_function(ttnn.conv2d)(
            input_tensor=image, weight_tensor=weight, bias_tensor=bias, **words)
        self.near("conv2d", golden, made)
        given = {"batch_size": 2, "input_h": 8, "input_w": 8, "channels": 16,
                 "kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0], "dilation": [1, 1]}
        made = ttnn.max_pool2d(ttnn.from_torch(flat, ttnn.bfloat16, device=self.device), **given)
        golden = ttnn.get_golden_function(ttnn.max_pool2d)(flat.bfloat16(), **given)
        self.near("max_pool2d", golden, made)

    def test_golden_functions_that_are_missing_or_a_scripts_own(self):
        with self.assertRaisesRegex(RuntimeError, "does not have a golden function"):
            ttnn.get_golden_function(ttnn.all_gather)
        with self.assertRaises(TypeError):
            ttnn.get_golden_function(ttnn.bitcast)(torch.ones(2), torch.int32)
        ttnn.attach_golden_function(ttnn.all_gather, lambda x: x + 1)
        self.assertEqual(ttnn.get_golden_function(ttnn.all_gather)(1), 2)
        ttnn.attach_golden_function(ttnn.all_gather, None)

    def test_activations(self):
        find = ttnn.operations.activations.get_golden_function_for_activation
        x = torch.linspace(-3, 3, 64)
        self.assertIsNone(find(None))
        self.assertTrue(torch.equal(find("gelu_approx")(x), torch.nn.functional.gelu(x)))
        self.assertTrue(torch.equal(find(ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU6))(x),
                                    torch.nn.functional.relu6(x)))
        with self.assertRaisesRegex(RuntimeError, "Unsupported activation"):
            find("nonesuch")
        with self.assertRaisesRegex(RuntimeError, "is not supported as activation function"):
            find(ttnn.UnaryOpType.SIN)

    def test_correlations(self):
        pcc, nan = ttnn.pearson_correlation_coefficient, float("nan")
        a, b = torch.tensor([1.0, 2.0, 4.0, nan]), torch.tensor([2.0, 4.0, 8.5, float("inf")])
        kept = torch.stack([torch.tensor([1.0, 2.0, 4.0, 0.0]), torch.tensor([2.0, 4.0, 8.5, 0.0])])
        self.assertAlmostEqual(pcc(a, b), torch.corrcoef(kept)[0, 1].item(), places=6)
        self.assertEqual(pcc(torch.full((3,), nan), torch.full((3,), nan)), 1.0)
        self.assertEqual(pcc(torch.full((3,), nan), torch.ones(3)), 0.0)
        self.assertEqual(pcc(torch.zeros(3), torch.ones(3)), 0.0)
        self.assertEqual(pcc(a, self.put(torch.tensor([1.0, 2.0, 4.0, nan]))), 1.0)

    def test_distances_are_units_of_the_last_place(self):
        golden = torch.tensor([1.0, 3.0, 0.0, -2.0])  # One is 2^-7, 2^-6, the least there is, 2^-6.
        near = golden + torch.tensor([2**-7, 2**-5, 0.0, 0.0])
        self.assertTrue(_golden.comp_ulp(golden.bfloat16(), near.bfloat16(), 2)[0])
        self.assertEqual(_golden.comp_ulp(golden.bfloat16(), near.bfloat16(), 1), (False, "Max ULP Delta: 2.0"))
        self.assertEqual(_golden.comp_ulp(golden, golden + 2**-23, 1)[0], False)  # A zero is left.
        nan = torch.tensor([1.0, float("nan")])
        self.assertEqual([_golden.comp_ulp(nan, nan, 1, kept)[0] for kept in (False, True)], [False, True])
        for call, other in ((_golden.assert_with_ulp, near), (_golden.assert_equal, near),
                            (_golden.assert_allclose, near), (_golden.assert_equal, golden[:2])):
            call(golden, golden)
            with self.assertRaises(AssertionError):
                call(golden, other)

    def test_fallbacks_bring_the_result_back(self):
        x = torch.rand(32, 64)
        made = ttnn.get_fallback_function(ttnn.concat)([self.put(x), self.put(x)], dim=1)
        self.assertIs(made.device(), self.device)
        self.near("concat", torch.cat([x, x], 1), made)


if __name__ == "__main__":
    unittest.main()
