# SPDX-License-Identifier: Apache-2.0
"""The values of the ops that tests of tt-metal use beside those of most scripts, against PyTorch's."""

import importlib.util
import unittest

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch
    import torch.nn.functional as F

    import howard.ttnn as ttnn


@unittest.skipUnless(HAS_TORCH, "needs python3-torch")
class ValuesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_device(device_id=0)

    @classmethod
    def tearDownClass(cls):
        ttnn.close_device(cls.device)

    def setUp(self):
        torch.manual_seed(5)

    def tiles(self, values):
        whole = not values.is_floating_point()
        return ttnn.from_torch(values.detach(), ttnn.int32 if whole else ttnn.float32,
                               layout=ttnn.TILE_LAYOUT, device=self.device)

    def rows(self, values, dtype=None):
        whole = not values.is_floating_point()
        return ttnn.from_torch(values.detach(), dtype or (ttnn.int32 if whole else ttnn.float32),
                               device=self.device)

    def near(self, golden, made, tolerance=1e-4):
        got = ttnn.to_torch(made).double()
        self.assertEqual(tuple(got.shape), tuple(golden.shape))
        gap = (got - golden.detach().double()).abs().max()
        self.assertTrue(torch.allclose(golden.detach().double(), got, rtol=tolerance,
                                       atol=tolerance), f"off by {gap}")


class BroadcastingTest(ValuesTest):
    def test_bcast(self):
        a = torch.randn(2, 3, 32, 64)
        for dim, shape in (("H", (2, 1, 1, 64)), ("W", (1, 3, 32, 1)), ("HW", (1, 1, 1, 1))):
            b = torch.randn(*shape)
            for name, function in (("ADD", torch.add), ("SUB", torch.sub), ("MUL", torch.mul)):
                made = ttnn.bcast(self.tiles(a), self.tiles(b), ttnn.BcastOpMath[name],
                                  ttnn.BcastOpDim[dim])
                self.near(function(a, b), made)
        golden = ttnn.get_golden_function(ttnn.bcast)(a, b, ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.HW)
        self.near(golden, self.tiles(a + b))
        with self.assertRaisesRegex(RuntimeError, "must have 1 rows and 64 columns"):
            ttnn.bcast(self.tiles(a), self.tiles(torch.randn(1, 1, 64, 64)), ttnn.BcastOpMath.ADD,
                       ttnn.BcastOpDim.H)

    def test_broadcast_to_and_where(self):
        x = torch.randn(1, 3, 1, 64)
        self.near(x.expand(2, 3, 32, 64),
                  ttnn.experimental.broadcast_to(self.tiles(x), ttnn.Shape([2, 3, 32, 64])))
        with self.assertRaisesRegex(RuntimeError, "cannot be broadcast"):
            ttnn.experimental.broadcast_to(self.tiles(x), [2, 4, 32, 64])
        a, b = torch.randn(1, 1, 32, 32), torch.randn(1, 1, 32, 32)
        condition = (a > 0).float()
        self.near(torch.where(a > 0, a, b), ttnn.experimental.where(
            self.tiles(condition), self.tiles(a), self.tiles(b)))
        self.near(torch.where(a > 0, a, torch.tensor(2.0)), ttnn.experimental.where(
            self.tiles(condition), self.tiles(a), 2.0))
        with self.assertRaisesRegex(RuntimeError, "must be equal"):
            ttnn.experimental.where(self.tiles(condition), self.tiles(a), self.tiles(x))

    def test_numbers(self):
        x = torch.randn(1, 1, 32, 32)
        self.near(torch.sigmoid(x), ttnn.sigmoid_accurate(self.tiles(x)))
        self.near(3.0 ** x, ttnn.rpow(self.tiles(x), 3.0))
        self.near(3.0 / x, ttnn.rdiv(self.tiles(x), value=3.0), 1e-3)
        self.near(torch.floor(3.0 / x), ttnn.rdiv(self.tiles(x), 3.0, round_mode="floor"))
        self.near(3.0 / x, 3.0 / self.tiles(x), 1e-3)
        self.near(F.selu(x), ttnn.selu(self.tiles(x)))
        self.near(0.5 * F.elu(x, 2.0), ttnn.selu(self.tiles(x), scale=0.5, alpha=2.0))
        places = self.rows(torch.tensor([3, -1, 7, 2147483647], dtype=torch.int32))
        self.assertIs(ttnn.plus_one(places, skip_negative_entries=False), places)
        self.assertEqual(ttnn.to_torch(places).tolist()[:3], [4, 0, 8])

    def test_slice_write(self):
        whole, part = torch.randn(1, 4, 8, 16), torch.randn(1, 2, 4, 16)
        target = self.rows(whole)
        made = ttnn.slice_write(self.rows(part), target, [0, 1, 2, 0], [1, 3, 6, 16], [1, 1, 1, 1])
        whole[:, 1:3, 2:6] = part
        self.near(whole, made)
        self.near(whole, target)

    def test_tosa(self):
        x, index = torch.randn(2, 8, 16), torch.tensor([[1, 7, 0], [3, 3, 2]], dtype=torch.int32)
        wide = index.long()[:, :, None].expand(2, 3, 16)
        self.near(torch.gather(x, 1, wide), ttnn.tosa_gather(self.tiles(x), self.tiles(index)))
        index, source = torch.tensor([[1, 7, 0], [3, 4, 2]], dtype=torch.int32), torch.randn(2, 3, 16)
        wide = index.long()[:, :, None].expand(2, 3, 16)
        self.near(torch.scatter(x, 1, wide, source), ttnn.tosa_scatter(
            self.tiles(x), self.tiles(index), self.tiles(source)))
        with self.assertRaisesRegex(RuntimeError, "TOSA"):
            ttnn.tosa_gather(self.tiles(x[0]), self.tiles(index))


class ComplexTest(ValuesTest):
    def both(self, values):
        return ttnn.complex_tensor(self.tiles(values.real.contiguous()),
                                   self.tiles(values.imag.contiguous()))

    def test_gradients(self):
        x = torch.randn(1, 1, 32, 32, dtype=torch.complex64, requires_grad=True)
        for name, grad in (("real", torch.randn(1, 1, 32, 32)), ("imag", torch.randn(1, 1, 32, 32)),
                           ("angle", torch.randn(1, 1, 32, 32)), ("conj", torch.randn_like(x))):
            x.grad = None
            getattr(torch, name)(x).resolve_conj().backward(grad.detach())
            given = self.both(grad.detach()) if grad.is_complex() else self.tiles(grad)
            (made,) = getattr(ttnn, name + "_bw")(given, self.both(x.detach()))
            self.near(x.grad.real, made.real, 1e-3)
            self.near(x.grad.imag, made.imag, 1e-3)

    def test_gradient_of_lengths_and_angles(self):
        length, angle = (torch.rand(1, 1, 32, 32).requires_grad_() for _ in range(2))
        grad = torch.randn(1, 1, 32, 32, dtype=torch.complex64)
        torch.polar(length, angle).backward(grad)
        given = ttnn.complex_tensor(self.tiles(length), self.tiles(angle))
        (made,) = ttnn.polar_bw(self.both(grad), given)
        self.near(length.grad, made.real)
        self.near(angle.grad, made.imag)
        self.assertTrue(torch.equal(ttnn.get_golden_function(ttnn.real)(grad), grad.real))

    def test_quotients(self):
        x, g = torch.randn(1, 1, 32, 32), torch.randn(1, 1, 32, 32)
        self.near(g / 4, ttnn.div_no_nan_bw(self.tiles(g), self.tiles(x), 4.0)[0])
        self.near(g * 0, ttnn.div_no_nan_bw(self.tiles(g), self.tiles(x), 0.0)[0])


class ProductsTest(ValuesTest):
    def test_sparse_matmul(self):
        kept = torch.tensor([1.0, 0.0, 2.0])
        a, b = torch.randn(2, 4, 32, 64), torch.randn(1, 3, 64, 32)
        sparsity = torch.rand(2, 4, 1, 3).round()
        made = ttnn.sparse_matmul(self.tiles(a), self.tiles(b), sparsity=self.rows(sparsity))
        golden = torch.matmul(a[:, :, None, None], b[None]) * sparsity[..., None, None]
        self.near(golden, made)
        a = torch.randn(1, 3, 32, 64)
        made = ttnn.sparse_matmul(self.tiles(a), self.tiles(b), is_input_a_sparse=True, nnz=2,
                                  sparsity=self.rows(kept.reshape(1, 1, 1, 3)))
        self.near((a @ b) * (kept != 0).reshape(1, 3, 1, 1), made)
        a = torch.randn(2, 3, 32, 64)
        made = ttnn.sparse_matmul(self.tiles(a), self.tiles(b), is_input_a_sparse=True,
                                  is_input_b_sparse=False,
                                  sparsity=self.rows(torch.ones(1, 1, 2, 3)))
        self.near(a @ b, made)
        with self.assertRaisesRegex(RuntimeError, "one operand must be sparse"):
            ttnn.sparse_matmul(self.tiles(a), self.tiles(b), is_input_b_sparse=False,
                               sparsity=self.rows(torch.ones(1, 1, 2, 3)))

    def test_conv3d(self):
        for mode, block in (("zeros", 0), ("replicate", 32)):
            x, weight = torch.randn(1, 64, 4, 6, 5), torch.randn(32, 64, 2, 3, 3) / 24
            bias = torch.randn(32)
            padded = F.pad(x, (1, 1, 1, 1, 0, 0), mode="replicate" if mode == "replicate"
                           else "constant")
            golden = F.conv3d(padded, weight, bias, stride=(1, 2, 1)).permute(0, 2, 3, 4, 1)
            config = ttnn.experimental.Conv3dConfig(
                output_channels=32, kernel_size=(2, 3, 3), stride=(1, 2, 1), padding=(0, 1, 1),
                padding_mode=mode, C_in_block=block, dtype=ttnn.float32)
            size = block or 64
            order = weight.permute(2, 3, 4, 1, 0).reshape(18, 64 // size, size, 32).transpose(0, 1)
            made = ttnn.experimental.conv3d(
                input_tensor=self.rows(x.permute(0, 2, 3, 4, 1).contiguous()),
                weight_tensor=self.tiles(order.reshape(-1, 32)),
                bias_tensor=self.tiles(bias.reshape(1, 32)), config=config)
            self.near(golden, made)

    def test_grid_sample(self):
        image, grid = torch.randn(2, 32, 7, 5), torch.rand(2, 4, 6, 2) * 2.4 - 1.2
        nhwc = image.permute(0, 2, 3, 1).contiguous()
        for corners in (False, True):
            golden = F.grid_sample(image, grid, align_corners=corners).permute(0, 2, 3, 1)
            self.near(golden, ttnn.grid_sample(self.rows(nhwc), self.rows(grid),
                                               align_corners=corners))
        golden = F.grid_sample(image, grid, align_corners=False).permute(0, 2, 3, 1)
        prepared = ttnn.prepare_grid_sample_grid(ttnn.from_torch(grid), [2, 7, 5, 32],
                                                 output_dtype=ttnn.bfloat16)
        self.assertEqual(list(prepared.shape), [2, 4, 6, 6])
        made = ttnn.grid_sample(self.rows(nhwc), ttnn.to_device(prepared, self.device),
                                use_precomputed_grid=True)
        self.near(golden, made, 0.03)
        many = grid.reshape(2, 4, 3, 4)
        made = ttnn.grid_sample(self.rows(nhwc), self.rows(many), batch_output_channels=True)
        self.near(golden.reshape(2, 4, 3, 64), made)
        nearest = F.grid_sample(image, grid, mode="nearest", align_corners=False)
        prepared = ttnn.prepare_grid_sample_grid(grid, [2, 7, 5, 32], mode="nearest")
        made = ttnn.grid_sample(self.rows(nhwc), ttnn.to_device(prepared, self.device),
                                mode="nearest", use_precomputed_grid=True)
        self.near(nearest.permute(0, 2, 3, 1), made)
        with self.assertRaisesRegex(RuntimeError, "precomputed"):
            ttnn.grid_sample(self.rows(nhwc), self.rows(grid), mode="nearest")


class AttentionTest(ValuesTest):
    def test_windows(self):
        q, k, v = (torch.randn(1, 2, 64, 32) for _ in range(3))
        ends = torch.tensor([0, 20, 32, 64], dtype=torch.int32)
        mask = torch.full((64, 64), float("-inf"))
        for first, last in zip(ends[:-1], ends[1:]):
            mask[first:last, first:last] = 0
        golden = torch.softmax(q @ k.transpose(-1, -2) / 32 ** 0.5 + mask, -1) @ v
        made = ttnn.transformer.windowed_scaled_dot_product_attention(
            self.tiles(q), self.tiles(k), self.tiles(v), self.rows(ends))
        self.near(golden, made, 1e-3)

    def test_a_ring(self):
        q, k, v = (torch.randn(1, 2, 128, 32) for _ in range(3))
        mask = torch.full((128, 128), float("-inf")).triu(1)
        whole = torch.softmax(q @ k.transpose(-1, -2) / 32 ** 0.5 + mask, -1) @ v
        for ring_id in (0, 1):
            golden = torch.cat([whole[:, :, 32 * at:32 * at + 32] for at in (ring_id, 3 - ring_id)], 2)
            made = ttnn.transformer.ring_distributed_scaled_dot_product_attention(
                self.tiles(q), self.tiles(k), self.tiles(v), 2, ring_id)
            self.near(golden, made, 1e-3)

    def test_wan(self):
        x, weight = torch.randn(1, 1, 32, 128), torch.rand(1, 128)
        cos, sin = torch.randn(1, 1, 32, 64), torch.randn(1, 1, 32, 64)
        turn = torch.zeros(1, 1, 32, 32)
        for i in range(0, 32, 2):
            turn[..., i, i + 1], turn[..., i + 1, i] = 1, -1
        stats = ttnn.experimental.wan_fused_rmsnorm_pre_allgather(self.tiles(x), dtype=ttnn.float32)
        self.near(x.pow(2).sum(-1), ttnn.slice(stats, [0, 0, 0, 0], [1, 1, 32, 1]).reshape(1, 1, 32))
        normal = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight
        heads = normal.reshape(1, 32, 2, 64).transpose(1, 2)
        made = ttnn.experimental.wan_fused_rmsnorm_post_allgather(
            self.tiles(x), stats, num_heads_per_device=2, weight=self.tiles(weight))
        self.near(heads, made)
        turned = (heads.reshape(1, 2, 32, 2, 32) @ turn[0, 0]).reshape(1, 2, 32, 64)
        made = ttnn.experimental.wan_fused_rmsnorm_post_allgather(
            self.tiles(x), stats, num_heads_per_device=2, weight=self.tiles(weight),
            transformation_mat=self.tiles(turn), rope_cos=self.tiles(cos), rope_sin=self.tiles(sin))
        self.near(heads * cos + turned * sin, made)


class MorehTest(ValuesTest):
    def leaf(self, *shape):
        return torch.randn(*shape, requires_grad=True)

    def test_softmax_gradients(self):
        for name, function in (("softmin", F.softmin), ("logsoftmax", F.log_softmax)):
            for dim in (-1, 2):
                x, g = self.leaf(2, 1, 32, 64), torch.randn(2, 1, 32, 64)
                y = function(x, dim=dim)
                y.backward(g)
                made = getattr(ttnn.operations.moreh, name + "_backward")(
                    self.tiles(y), self.tiles(g), dim)
                self.near(x.grad, made)

    def test_gradients_of_products_and_sums(self):
        a, b, g = self.leaf(2, 32, 64), self.leaf(2, 64, 32), torch.randn(2, 32, 32)
        torch.bmm(a, b).backward(g)
        left, right = ttnn.operations.moreh.bmm_backward(*map(self.tiles, (g, a, b)))
        self.near(a.grad, left)
        self.near(b.grad, right)
        a, b, g = self.leaf(1, 1, 1, 64), self.leaf(1, 1, 1, 64), torch.tensor([[[[0.5]]]])
        left, right = ttnn.operations.moreh.dot_backward(*map(self.tiles, (g, a, b)))
        self.near(b * 0.5, left)
        self.near(a * 0.5, right)
        x, g = self.leaf(2, 3, 32, 32), torch.randn(2, 3, 32, 32)
        torch.cumsum(x, 1).backward(g)
        self.near(x.grad, ttnn.operations.moreh.cumsum_backward(self.tiles(g), 1))

    def test_gradients_of_norms(self):
        for p in (2.0, 3.0, 1.0, float("inf"), 0.0):
            for dim in (None, 3, [2, 3]):
                x = self.leaf(2, 1, 32, 32)
                y = torch.norm(x, p, dim if dim is not None else (0, 1, 2, 3), keepdim=True)
                g = torch.randn(*y.shape)
                y.backward(g)
                golden = torch.zeros_like(x) if x.grad is None else x.grad
                self.near(golden, ttnn.operations.moreh.norm_backward(
                    self.tiles(x), self.tiles(y), self.tiles(g), p, dim=dim, keepdim=True), 1e-3)

    def test_gradients_of_losses(self):
        x, weight = self.leaf(4, 10), torch.rand(10)
        target = torch.tensor([1, 9, 3, -100])
        kept = self.tiles(target.int())
        for reduction in ("sum", "mean"):
            x.grad = None
            F.nll_loss(x, target, weight, reduction=reduction).backward()
            divisor = weight[target[:3]].sum().reshape(1)
            made = ttnn.operations.moreh.nll_loss_backward(
                kept, self.tiles(torch.ones(1)), reduction == "mean",
                weight_tensor=self.tiles(weight), divisor_tensor=self.tiles(divisor))
            self.near(x.grad, made)
        x.grad, g = None, torch.randn(4)
        F.nll_loss(x, target, weight, reduction="none").backward(g)
        self.near(x.grad, ttnn.operations.moreh.nll_loss_unreduced_backward(
            kept, self.tiles(g), weight_tensor=self.tiles(weight)))
        with self.assertRaisesRegex(RuntimeError, "Divisor tensor must not be empty"):
            ttnn.operations.moreh.nll_loss_backward(kept, self.tiles(torch.ones(1)), True,
                                                    weight_tensor=self.tiles(weight))

    def test_gradients_of_groups(self):
        x, gamma, beta = self.leaf(2, 6, 8, 4), self.leaf(6), self.leaf(6)
        g = torch.randn(2, 6, 8, 4)
        F.group_norm(x, 3, gamma, beta).backward(g)
        flat = x.detach().reshape(2, 3, -1)
        mean, rstd = flat.mean(-1), torch.rsqrt(flat.var(-1, unbiased=False) + 1e-5)
        made = ttnn.operations.moreh.group_norm_backward(
            self.tiles(g), self.tiles(x), self.tiles(mean.reshape(1, 1, 2, 3)),
            self.tiles(rstd.reshape(1, 1, 2, 3)), 3, are_required_outputs=(True, True, True),
            gamma=self.tiles(gamma.reshape(1, 1, 1, 6)))
        self.near(x.grad, made[0])
        self.near(gamma.grad.reshape(1, 1, 1, 6), made[1])
        self.near(beta.grad.reshape(1, 1, 1, 6), made[2])

    def test_fold(self):
        image = torch.randn(2, 3, 9, 8)
        given = {"kernel_size": (3, 2), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)}
        windows = F.unfold(image, **given)
        self.near(F.fold(windows, (9, 8), **given), ttnn.operations.moreh.fold(
            self.rows(windows), output_size=(9, 8), **given))


class PreparationTest(ValuesTest):
    def test_masks_of_groups(self):
        mask = ttnn.create_group_norm_input_mask(80, 8, 2)
        self.assertEqual(list(mask.shape), [1, 8, 32, 64])
        values = ttnn.to_torch(mask)[0, :, 0]
        self.assertEqual([int(row.argmax()) for row in values], [0, 10, 20, 30] * 2)
        self.assertEqual([int(row.sum()) for row in values], [10] * 8)
        negative = ttnn.create_group_norm_input_negative_mask(80, 8, 2)
        self.near(1 - ttnn.to_torch(mask).float(), negative)

    def test_weights_of_groups(self):
        weight = torch.arange(96.0)
        params, mask = ttnn.dram_group_norm_params_from_torch(
            [weight, weight], 96, 4, self.device, core_grid=ttnn.CoreGrid(y=1, x=4))
        self.assertEqual(list(params[0].shape), [1, 1, 3, 32])
        self.assertEqual(ttnn.to_torch(params[1]).float().flatten().tolist(), weight.tolist())
        self.assertIs(mask.device(), self.device)

    def test_padded_shapes(self):
        tensor = ttnn.from_torch(torch.ones(3, 5), layout=ttnn.TILE_LAYOUT)
        made = tensor.to_torch_with_padded_shape()
        self.assertEqual(tuple(made.shape), (32, 32))
        self.assertEqual(made.float().sum().item(), 15)

    def test_the_way_there_and_back_through_tiles(self):
        values = torch.randn(1, 1, 40, 40)
        there = ttnn.Tensor(values, ttnn.float32).pad_to_tile(0.0).to(ttnn.TILE_LAYOUT).to(self.device)
        back = there.cpu().to(ttnn.ROW_MAJOR_LAYOUT).unpad_from_tile((1, 1, 40, 40)).to_torch()
        self.assertTrue(torch.equal(values, back))

    def test_specs_are_compared(self):
        spec = ttnn.TensorSpec((32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT)
        self.assertEqual(ttnn.from_torch(torch.ones(32, 64), spec=spec, device=self.device).spec, spec)
        self.assertNotEqual(ttnn.TensorSpec((32, 64), ttnn.float32, ttnn.TILE_LAYOUT), spec)
        self.assertIn("shape=Shape([32, 64])", repr(spec))

    def test_cores_of_some_ranges(self):
        grids = ttnn.CoreRangeSet([ttnn.CoreRange((1, 0), (2, 1)), ttnn.CoreRange((5, 0), (6, 1))])
        made = ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(2, 0), 4, grids)
        self.assertEqual({(c.x, c.y) for c in made.cores()}, {(2, 0), (2, 1), (5, 0), (5, 1)})
        with self.assertRaisesRegex(RuntimeError, "do not fit"):
            ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(2, 0), 7, grids)

    def test_graphs_in_levels(self):
        x = self.tiles(torch.randn(32, 32))
        ttnn.graph.begin_graph_capture()
        ttnn.multiply(ttnn.add(x, x), x)
        found = ttnn.graph.extract_levelized_graph(ttnn.graph.end_graph_capture(), max_level=1)
        names = {one["name"]: one for one in found}
        add, multiply = names["ttnn::add"], names["ttnn::multiply"]
        self.assertEqual(add["out_edges"], [multiply["counter"]])
        self.assertEqual(len(multiply["in_edges"]), 2)
        self.assertEqual(multiply["output_shape"], ["Shape([32, 32])"])

    def test_arguments_of_modules(self):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.stem = torch.nn.Conv2d(3, 16, 3, stride=2, padding=1)
                self.blocks = torch.nn.ModuleList([torch.nn.GroupNorm(4, 16),
                                                   torch.nn.MaxPool2d(2)])

            def forward(self, x):
                x = self.stem(x)
                for block in self.blocks:
                    x = block(x)
                return x

        from howard.ttnn import model_preprocessing as preprocessing

        model, image = Net().eval(), torch.randn(2, 3, 16, 16)
        found = preprocessing.infer_ttnn_module_args(model=model, run_model=lambda m: m(image),
                                                     device=self.device)
        self.assertIsInstance(found.stem, preprocessing.Conv2dArgs)
        self.assertEqual((found.stem.batch_size, found.stem.input_height, found.stem.stride),
                         (2, 16, (2, 2)))
        self.assertEqual(found.blocks[1].input_channels, 16)
        self.assertEqual(found.blocks[0].num_groups, 4)
        self.assertIs(found.stem.device, self.device)
        parameters = preprocessing.preprocess_model_parameters(
            initialize_model=lambda: model, run_model=lambda m: m(image), device=self.device)
        self.assertEqual(parameters.stem.ttnn_module_args.in_channels, 3)
        self.assertNotIn("device", parameters.stem.ttnn_module_args)

    def test_wrong_words_are_said(self):
        x = self.tiles(torch.randn(32, 32))
        with self.assertRaisesRegex(TypeError, r"ttnn.softmax\(\): incompatible function arguments: it "
                                    r"got an unexpected keyword argument 'axis'; it takes"):
            ttnn.softmax(x, axis=1)

    def test_examples(self):
        x = torch.randn(32, 32)
        self.near(x, ttnn.prim.example(self.tiles(x)))
        first, second = ttnn.composite_example_multiple_return(
            self.tiles(x), return_output1=True, return_output2=False)
        self.near(x, first)
        self.assertIsNone(second)

    def test_names(self):
        self.assertIs(ttnn.TensorToMesh, type(ttnn.ShardTensorToMesh(self.device, 0)))
        self.assertIs(ttnn.distributed.CppMeshToTensor,
                      type(ttnn.ConcatMeshToTensor(self.device, 0)))
        self.assertIn("INVALID", ttnn.DataType.__members__)
        self.assertEqual([one.name for one in ttnn.TileReshapeMapMode], ["CACHE", "RECREATE"])

if __name__ == "__main__":
    unittest.main()
