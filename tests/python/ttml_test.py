# SPDX-License-Identifier: Apache-2.0
"""TTML's Python names over those of ttnn: the guide's examples, and gradients."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

try:
    import numpy

    import howard
    from howard import _ttml_imports, ttnn

    _ttml_imports.install()
    import ttml
except ImportError:
    numpy = None

# What TTML's package has for scripts, by module.
NAMES = {
    "": "Mesh NamedParameters autograd common core init is_lazy_init_enabled lazy_init manual_seed "
        "materialize_module maybe_mesh mesh models modules open_device_mesh ops optimizers "
        "sync_gradients",
    "autograd": "AutoContext AutocastTensor DistributedConfig Function FunctionContext GradMode Graph "
        "GraphNode NodeId PreferredPrecision Tensor callback create_tensor get_links",
    "autograd.AutoContext": "add_backward_node close_device get_device get_gradient_mode get_instance "
        "get_parallelism_context get_profiler get_seed initialize_distributed_context "
        "initialize_parallelism_context is_parallelism_context_initialized open_device reset_graph "
        "set_gradient_mode set_seed",
    "autograd.Tensor": "add_grad assign backward clean_node dtype from_numpy get_grad get_grad_rw "
        "get_grad_tensor get_node get_rank get_requires_grad get_shape get_value "
        "is_grad_initialized set_grad set_grad_from_tensor set_node set_requires_grad set_value "
        "shape tensor to_numpy to_string",
    "ops": "attention binary distributed dropout embedding layernorm linear loss matmul mla "
        "multi_head_utils rand randn reshape rmsnorm rope sample swiglu unary ReduceType",
    "ops.binary": "add div max min mul sub",
    "ops.unary": "broadcast_batch clip exp gelu log_softmax log_softmax_moreh mean polynorm3 relu silu",
    "ops.attention": "scaled_dot_product_attention scaled_dot_product_attention_composite",
    "ops.rope": "RopeScalingParams RotaryEmbeddingParams build_rope_params gen_freqs rope",
    "ops.distributed": "all_gather all_reduce broadcast reduce_scatter scatter "
        "vocab_parallel_cross_entropy_loss GradOutputType",
    "ops.loss": "cross_entropy_loss mse_loss nll_loss", "ops.ReduceType": "MEAN NONE SUM",
    "core": "clip_grad_norm distributed empty_like ones_like utils zeros_like TTProfiler",
    "core.distributed": "SocketManager SocketType all_gather all_reduce create_mesh_composer "
        "concat_mesh_to_tensor_composer disable_fabric enable_fabric reduce_scatter "
        "replicate_tensor_to_mesh_mapper shard_tensor_to_mesh_mapper synchronize_gradients",
    "core.utils.MemoryUsageTracker": "begin_capture clear end_capture get_dram_usage "
        "get_dram_usage_all get_l1_usage get_l1_usage_all get_trace_names print_memory_usage snapshot",
    "modules": "AbstractModuleBase Buffer ColumnParallelLinear Embedding InferenceMode LinearLayer "
        "ModuleBase ModuleDict ModuleList Parameter RowParallelLinear RunMode TensorMetadata",
    "init": "calculate_gain constant constant_ kaiming_normal kaiming_uniform_ manual_seed normal ones "
        "uniform uniform_ xavier_normal_ xavier_uniform zeros",
    "models": "KvCache KvCacheConfig RunnerType WeightTyingType memory_efficient_runner",
    "models.nanogpt": "GPTBlock NanoGPT NanoGPTConfig NanoGPTExperimentalConfig PositionalEmbedding "
        "TrainablePositionalEmbedding calculate_flops_per_token create_nanogpt",
    "models.llama": "CppLlama Llama LlamaConfig LlamaRopeScalingConfig load_from_safetensors",
    "optimizers": "AdamW AdamWConfig AdamWFullPrecision AdamWFullPrecisionConfig MuonComposite "
        "MuonConfig NoOp OptimizerBase RemoteOptimizer SGD SGDConfig create_optimizer "
        "register_optimizer",
    "common.config": "DeviceConfig MultiHostConfig SchedulerConfig TrainingConfig TransformerConfig "
        "get_device_config get_model_config get_multihost_config get_training_config load_config "
        "yaml_deep_update",
    "common.utils": "PerformanceMeter build_logits_mask create_optimizer "
        "get_available_device_memory_in_bytes get_loss_over_devices get_tt_metal_runtime_root "
        "initialize_device no_grad round_up_to_tile set_seed summary",
    "common.data": "CharTokenizer build_causal_mask get_batch load_shakespeare_text prepare_data",
    "common.schedulers": "CosineAnnealingScheduler LambdaScheduler LinearScheduler OptimParamSetter "
        "SequentialScheduler SpeedrunScheduler StepScheduler",
    "common.trainer": "get_batch_ttml train", "common.muon_optimizer": "MuonWithAdamW register",
    "common.model_factory": "TransformerModelFactory adjust_vocab_size map_runner_type",
}

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ttml"


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Ttml(unittest.TestCase):
    def setUp(self):
        self.context = ttml.autograd.AutoContext.get_instance()
        self.context.open_device()
        self.context.set_seed(1)

    def tearDown(self):
        self.context.close_device()
        self.context.set_gradient_mode(ttml.autograd.GradMode.ENABLED)

    def tensor(self, *shape, seed=0):
        values = numpy.random.default_rng(seed).uniform(-1, 1, shape)
        return self.made(values)

    @staticmethod
    def made(array):
        return ttml.autograd.Tensor.from_numpy(numpy.asarray(array, numpy.float32))

    @staticmethod
    def whole(array):
        return ttml.autograd.Tensor.from_numpy(numpy.asarray(array, numpy.uint32),
                                               layout=ttml.Layout.ROW_MAJOR)

    def expect_gradient(self, predict, target, parameter, step=0.1):
        """The loss, in float64 of the predictions, changes along the gradient as that says."""
        values = parameter.to_numpy().copy()
        parameter.clear_grad()
        ttml.ops.loss.mse_loss(predict(), target).backward(False)
        gradient = parameter.get_grad_tensor().to_numpy().astype(numpy.float64)
        way = step * gradient / numpy.abs(gradient).max()
        found = []
        for moved in (values + way, values - way):
            parameter.set_value(self.made(moved))
            difference = predict().to_numpy().astype(numpy.float64) - target.to_numpy()
            found.append(numpy.mean(difference**2))
            self.context.reset_graph()
        parameter.set_value(self.made(values))
        expected = 2 * numpy.sum(gradient * way)
        self.assertAlmostEqual(found[0] - found[1], expected, delta=0.05 * expected)

    def test_names_of_ttmls_package_are_there(self):
        for module, names in NAMES.items():
            found = ttml
            for part in filter(None, module.split(".")):
                found = getattr(found, part)
            for name in names.split():
                self.assertTrue(hasattr(found, name), f"{module}.{name}")

    def test_tensors_go_there_and_back(self):
        tensor = ttml.autograd.Tensor
        for shape in [(6,), (2, 3), (1, 2, 1, 3, 1)]:
            values = numpy.arange(6, dtype=numpy.float32).reshape(shape)
            x = tensor.from_numpy(values)
            self.assertEqual(x.shape(), list(shape))
            self.assertTrue(numpy.array_equal(x.to_numpy(), values))
        kinds = ttml.DataType
        for dtype in (numpy.int32, numpy.uint32):
            found = tensor.from_numpy(numpy.array([[1, 70000]], dtype)).to_numpy()
            self.assertEqual((found.tolist(), found.dtype), ([[1, 70000]], dtype))
        half = tensor.from_numpy(numpy.full((32, 32), 1.001, numpy.float32), new_type=kinds.BFLOAT16)
        self.assertEqual(half.get_value().dtype, kinds.BFLOAT16)
        self.assertEqual(half.to_numpy()[0, 0], 1.0)
        for array, new_type in [(numpy.zeros((2, 2)), None), (numpy.zeros((0, 2), numpy.float32), None),
                                (numpy.zeros((2, 2), numpy.float32), kinds.BFLOAT8_B)]:
            with self.assertRaises(TypeError):
                tensor.from_numpy(array, new_type=new_type)
        row = self.made([[0, 1, 2], [3, 5, 4]])
        self.assertEqual(ttnn.argmax(row.get_value(), dim=-1).to_list(), [2, 1])

    def test_functions_of_the_users_own_have_gradients(self):
        class Cube(ttml.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return ttnn.pow(x.get_value(), 3.0)

            @staticmethod
            def backward(ctx, gradient):
                square = ttnn.square(ctx.saved_tensors[0].get_value())
                return ttnn.multiply(ttnn.multiply(square, gradient), 3.0)

        class Wrong(Cube):
            @staticmethod
            def backward(ctx, gradient):
                return gradient, gradient

        layer = ttml.modules.LinearLayer(32, 32)
        x, target = self.tensor(1, 1, 32, 32), self.tensor(1, 1, 32, 32, seed=1)
        self.expect_gradient(lambda: Cube.apply(layer(x)), target, layer.weight.tensor, 0.01)
        with self.assertRaisesRegex(RuntimeError, "Error in backward of Wrong"):
            ttml.ops.unary.mean(Wrong.apply(layer(x))).backward(False)
        order = []
        y = ttml.autograd.callback(layer(x), lambda: order.append("now"))
        ttml.ops.unary.mean(y).backward(False)
        self.assertEqual(order, ["now"])

    def test_blocks_that_run_again_have_the_same_gradients(self):
        block = ttml.modules.LlamaBlock(64, 2, 1, 256)
        x = self.tensor(1, 1, 32, 64)
        found = []
        for run in (block, lambda a, m: ttml.models.memory_efficient_runner(block, a, m)):
            block.mlp.w1.weight.tensor.clear_grad()
            ttml.ops.unary.mean(run(x, None)).backward(False)
            self.context.reset_graph()
            found.append(block.mlp.w1.weight.tensor.get_grad_tensor().to_numpy())
        self.assertTrue(numpy.array_equal(*found))

    def test_a_qwen3_learns_and_reads_with_a_cache(self):
        qwen3 = ttml.models.qwen3
        config = qwen3.Qwen3Config(
            hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=32, vocab_size=90, max_position_embeddings=64,
            runner_type="memory_efficient", weight_tying="enabled")
        model = qwen3.Qwen3(config)
        names = list(model.parameters())
        self.assertIn("Qwen3/blocks/1/self_attn/q_norm/weight", names)
        self.assertNotIn("Qwen3/tok_emb/weight", names)
        optimizer = ttml.optimizers.create_optimizer({"lr": 0.01}, model.parameters())
        row = numpy.arange(33) % 7
        tokens, targets = self.whole(row[:-1].reshape(1, 1, 1, 32)), self.whole(row[1:].reshape(1, 32))
        losses = []
        for _ in range(8):
            optimizer.zero_grad()
            loss = ttml.ops.loss.cross_entropy_loss(model(tokens), targets)
            loss.backward(False)
            optimizer.step()
            self.context.reset_graph()
            losses.append(loss.get_value().item())
        self.assertLess(losses[-1], 0.8 * losses[0])
        with ttml.common.utils.no_grad():
            cache = ttml.models.KvCache(2, 1, 2, 64, 32)
            whole = model(tokens).to_numpy()
            cached = model(tokens, past_key_values=cache).to_numpy()
        self.assertLess(numpy.abs(whole - cached).max(), 0.05 * numpy.abs(whole).max())

    def test_ops_take_any_rank_and_broadcast(self):
        ops = ttml.ops
        x = self.tensor(2, 3, 4, 5, 6)
        ops.unary.mean(ops.unary.exp(ops.reshape.reshape(x, [6, 4, 30]))).backward(False)
        slope = numpy.exp(x.to_numpy()) / 720
        self.assertLess(numpy.abs(x.get_grad_tensor().to_numpy() - slope).max(), 0.02 * slope.max())
        a, b = self.tensor(2, 1, 32, 64), self.tensor(1, 3, 1, 64, seed=1)
        ops.unary.mean(ops.binary.mul(a, b)).backward(False)
        self.assertEqual(b.get_grad_tensor().shape(), [1, 3, 1, 64])
        expected = numpy.broadcast_to(a.to_numpy(), (2, 3, 32, 64)).sum((0, 2))[None, :, None] / 12288
        self.assertLess(numpy.abs(b.get_grad_tensor().to_numpy() - expected).max(),
                        0.03 * numpy.abs(expected).max())
        q, kv, pe = self.tensor(1, 1, 32, 384), self.tensor(1, 1, 32, 512), self.tensor(1, 1, 32, 32)
        parts = ops.mla.qkv_assemble(q, kv, pe, 4, 64, 32, 64)
        ops.unary.mean(ops.attention.scaled_dot_product_attention(*parts)).backward(False)
        self.assertEqual(pe.get_grad_tensor().shape(), [1, 1, 32, 32])
        self.assertAlmostEqual(ops.randn([64, 64], 2.0, 1.0, seed=3).to_numpy().mean(), 2, delta=0.1)
        table = ttml.modules.Embedding(100, 64)
        ops.unary.mean(table(self.tokens(1, 32))).backward(False)
        self.assertEqual(table.weight.tensor.get_grad_tensor().shape(), [1, 1, 100, 64])

    def test_devices_of_a_mesh_divide_weights_and_batches(self):
        self.context.close_device()
        ttml.open_device_mesh(ttml.Mesh([1, 2], ["dp", "tp"]))
        distributed = ttml.core.distributed
        device = self.context.get_device()
        column = ttml.modules.ColumnParallelLinear(64, 128)
        row = ttml.modules.RowParallelLinear(128, 64, input_is_parallel=True)
        x = self.tensor(1, 1, 32, 64)
        y = row(column(x))
        ttml.ops.unary.mean(y).backward(False)
        whole = [layer.weight.tensor.to_numpy(
            composer=distributed.concat_mesh_to_tensor_composer(device, dim))
            for layer, dim in ((column, 2), (row, 3))]
        bias = column.bias.tensor.to_numpy(
            composer=distributed.concat_mesh_to_tensor_composer(device, 3))
        self.assertEqual(whole[0].shape, (1, 1, 128, 64))
        hidden = x.to_numpy()[0, 0] @ whole[0][0, 0].T + bias[0, 0]
        expected = hidden @ whole[1][0, 0].T + row.bias.tensor.to_numpy()[0, 0]
        self.assertLess(numpy.abs(y.to_numpy()[0, 0] - expected).max(), 0.03 * numpy.abs(expected).max())
        mapper = distributed.shard_tensor_to_mesh_mapper(device, 0)
        layer = ttml.modules.LinearLayer(32, 32)
        halves = numpy.random.default_rng(0).random((4, 1, 32, 32)).astype(numpy.float32)
        batch = ttml.autograd.Tensor.from_numpy(halves, mapper=mapper)
        self.assertEqual(batch.shape(), [2, 1, 32, 32])
        ttml.ops.unary.mean(layer(batch)).backward(False)
        distributed.synchronize_gradients(layer.parameters(), [1])
        shards = layer.weight.tensor.get_grad().shards()
        self.assertTrue(numpy.array_equal(*shards))
        slope = halves.mean((0, 1, 2)) / 32
        self.assertLess(numpy.abs(shards[0][0, 0, 0] - slope).max(), 0.02 * slope.max())

    def test_divided_parameters_learn_as_whole_ones(self):
        self.context.close_device()
        ttml.open_device_mesh(ttml.Mesh([1, 2], ["dp", "fsdp"]))
        device, fsdp = self.context.get_device(), ttml.fsdp
        x, target = self.tensor(1, 1, 32, 64), self.tensor(1, 1, 32, 128, seed=1)
        found = []
        for divides in (False, True):
            self.context.set_seed(4)
            layer = ttml.modules.LinearLayer(64, 128)
            if divides:
                fsdp.fully_shard(layer)
                self.assertEqual(layer.weight.tensor.shape(), [1, 1, 64, 64])
                self.assertTrue(fsdp.is_fsdp_managed(layer.weight.tensor))
                with self.assertRaisesRegex(RuntimeError, "already"):
                    fsdp.fully_shard(layer)
            optimizer = ttml.optimizers.create_optimizer({"type": "SGD", "lr": 0.5},
                                                         layer.parameters())
            for _ in range(3):
                optimizer.zero_grad()
                ttml.ops.loss.mse_loss(layer(x), target).backward(False)
                optimizer.step()
            composer = ttml.core.distributed.concat_mesh_to_tensor_composer(device, 2)
            found.append(layer.weight.tensor.to_numpy(composer=composer if divides else None))
        self.assertEqual(found[1].shape, (1, 1, 128, 64))
        self.assertLess(numpy.abs(found[0] - found[1]).max(), 0.01 * numpy.abs(found[0]).max())
        with self.assertRaisesRegex(RuntimeError, "no axis 'tp'"):
            fsdp.fully_shard(ttml.modules.LinearLayer(64, 64), mesh_axis="tp")

    def test_the_clock_and_devices_are_those_of_ttnn(self):
        before = howard.now()
        x = self.tensor(1, 1, 64, 64)
        ttnn.add(x.get_value(), x.get_value())
        self.assertGreater(howard.now(), before)
        own = ttnn.ones([64, 64], device=self.context.get_device(), layout=ttnn.TILE_LAYOUT)
        self.assertEqual(ttml.ops.binary.add(x, own).shape(), [1, 1, 64, 64])

    def test_lazy_parameters_wait(self):
        with ttml.lazy_init():
            layer = ttml.modules.LinearLayer(32, 64)
        self.assertTrue(layer.weight.is_lazy)
        self.assertEqual(len(layer.parameters()), 0)
        with self.assertRaisesRegex(RuntimeError, "materialize_module"):
            layer.weight.tensor
        ttml.materialize_module(layer)
        self.assertEqual(layer.weight.tensor.shape(), [1, 1, 64, 32])

    def test_lora_and_fine_tuning_train_small_matrices(self):
        from ttml.datasets import InMemoryDataloader, sft_collate_fn
        from ttml.modules.lora import LoraConfig
        from ttml.trainers import SFTConfig, SFTTrainer

        examples = [{"input_ids": list(range(i, i + 20)),
                     "labels": [-100] * 5 + list(range(i + 6, i + 21))} for i in range(8)]
        loader = InMemoryDataloader(examples, lambda e: sft_collate_fn(e, 32, 0), 2)
        batch = next(iter(loader))
        self.assertEqual(batch.loss_mask.shape(), [2, 1, 32, 1])
        self.assertAlmostEqual(batch.loss_mask.to_numpy().sum(), 64, delta=0.3)
        trainer = SFTTrainer(self.llama(), loader, None,
                             SFTConfig(max_steps=8, save_interval=0, learning_rate=0.02),
                             peft_config=LoraConfig(rank=4, target_modules=["_linear$"]))
        trained = [n for n, t in trainer.model.parameters().items() if t.get_requires_grad()]
        self.assertTrue(trained and all("lora_" in name for name in trained), trained)
        losses = trainer.train()
        self.assertLess(losses[-1], losses[0])

    def test_muon_and_registered_optimizers_are_made(self):
        ttml.common.muon_optimizer.register()
        layer = ttml.modules.LinearLayer(64, 32)
        made = ttml.optimizers.create_optimizer({"type": "MuonWithAdamW", "muon": {"lr": 0.1}},
                                                layer.parameters())
        self.assertEqual(made.get_lr(), 0.1)
        self.assertEqual(list(made.adamw.parameters), ["LinearLayer/bias"])
        x, target = self.tensor(1, 1, 32, 64), self.tensor(1, 1, 32, 32, seed=1)
        losses = []
        for _ in range(6):
            made.zero_grad()
            loss = ttml.ops.loss.mse_loss(layer(x), target)
            loss.backward(False)
            made.step()
            losses.append(loss.get_value().item())
        self.assertLess(losses[-1], losses[0])
        self.assertIn("momentum_buffer", made.get_state_dict()["muon"])

    def test_gradients_are_slopes_of_the_loss(self):
        layer = ttml.modules.LinearLayer(32, 32)
        x, target = self.tensor(2, 1, 32, 32), self.tensor(2, 1, 32, 32, seed=1)
        for parameter in layer.parameters().values():
            self.expect_gradient(lambda: ttml.ops.unary.gelu(layer(x)), target, parameter)

    def test_gradients_flow_through_attention_and_positions(self):
        attention = ttml.modules.MultiHeadAttention(64, 2)
        norm = ttml.modules.LayerNormLayer(64)
        positions = ttml.modules.Parameter(self.tensor(1, 1, 32, 64, seed=4))
        mask = ttml.autograd.Tensor.from_numpy(ttml.common.data.build_causal_mask(32))
        x, target = self.tensor(2, 1, 32, 64), self.tensor(2, 1, 32, 64, seed=1)

        def predict():
            return attention(norm(ttml.ops.binary.add(x, positions.tensor)), mask)

        for parameter in (positions.tensor, norm.gamma.tensor, attention.qkv_linear.weight.tensor,
                          attention.out_linear.bias.tensor):
            self.expect_gradient(predict, target, parameter)

    def test_scaled_losses_accumulate(self):
        layer = ttml.modules.LinearLayer(32, 32)
        x, target = self.tensor(1, 1, 32, 32), self.tensor(1, 1, 32, 32, seed=1)
        weight = layer.weight.tensor
        ttml.ops.loss.mse_loss(layer(x), target).backward()
        whole = weight.get_grad_tensor().to_numpy()
        weight.clear_grad()
        for _ in range(2):
            loss = ttml.ops.binary.mul(ttml.ops.loss.mse_loss(layer(x), target), 0.5)
            loss.backward()
        self.assertTrue(numpy.allclose(weight.get_grad_tensor().to_numpy(), whole, rtol=0.02, atol=1e-5))

    def test_a_norm_and_a_feed_forward_part_have_two_forms(self):
        x, target = self.tensor(2, 1, 32, 64), self.tensor(2, 1, 32, 64, seed=1)
        norm, composite = (ttml.modules.RMSNormLayer(64, use_composite=form)
                           for form in (False, True))
        self.assertTrue(numpy.allclose(norm(x).to_numpy(), composite(x).to_numpy(), atol=0.03))
        self.expect_gradient(lambda: composite(x), target, composite.gamma.tensor)
        part = ttml.modules.LlamaMLP(64, 96)
        whole = part(x).to_numpy()
        for parameter in part.parameters().values():
            self.expect_gradient(lambda: part(x), target, parameter)
        with unittest.mock.patch.dict(os.environ, {"TTML_SWIGLU_FORCE_COMPOSITE": "1"}):
            self.assertTrue(numpy.allclose(part(x).to_numpy(), whole, atol=0.02))
        with self.assertRaisesRegex(RuntimeError, "weights"):
            ttml.ops.swiglu.swiglu(x, *(part.w1.weight.tensor for _ in range(3)))

    def test_an_nll_is_computed_and_refused_by_its_program(self):
        weight = ttml.modules.LinearLayer(32, 64, False).weight.tensor
        x, classes = self.tensor(2, 1, 32, 32), self.tokens(1, 64, 64).to_numpy().reshape(2, 32)
        targets = self.whole(classes)
        kinds, nll_loss = ttml.ops.ReduceType, ttml.ops.loss.nll_loss

        def logarithms():
            return ttml.ops.unary.log_softmax(ttml.ops.linear.linear(x, weight))

        loss = nll_loss(logarithms(), targets)
        loss.backward(False)
        by_nll = weight.get_grad_tensor().to_numpy()
        weight.clear_grad()
        logits = ttml.ops.linear.linear(x, weight)
        ttml.ops.loss.cross_entropy_loss(logits, targets).backward(False)
        by_logits = weight.get_grad_tensor().to_numpy()
        self.assertLess(numpy.abs(by_nll - by_logits).max(), 0.05 * numpy.abs(by_logits).max())
        each = nll_loss(logarithms(), targets, kinds.NONE)
        self.assertEqual(each.shape(), [2, 1, 32, 1])
        self.assertAlmostEqual(each.to_numpy().mean(), loss.get_value().item(), delta=0.03)
        with self.assertRaises(RuntimeError):
            beyond = self.whole(classes + 64)
            nll_loss(logarithms(), beyond).get_value()

    def updated(self, kind, steps=3, **options):
        """Returns a weight of ones after steps with gradients of a thousandth."""
        half = ttml.DataType.BFLOAT16
        weight = ttml.autograd.Tensor.from_numpy(numpy.ones((32, 64), numpy.float32), new_type=half)
        gradient = ttml.autograd.Tensor.from_numpy(numpy.full((32, 64), 1e-3, numpy.float32),
                                                   new_type=half)
        optimizer = ttml.optimizers.create_optimizer({"type": kind, **options}, {"w": weight})
        for _ in range(steps):
            weight.set_grad(gradient.get_value())
            optimizer.step()
        return weight.to_numpy()

    def test_optimizers_have_ttmls_options(self):
        adamw = dict(lr=1e-4, weight_decay=0.0)
        # Updates below half of the last bit of a bfloat16 are lost, unless chance rounds them.
        for kind in ("AdamW", "AdamWComposite", "MorehAdamW"):
            self.assertTrue((self.updated(kind, **adamw) == 1).all(), kind)
        rounded = self.updated("AdamW", 20, stochastic_rounding=True, **adamw)
        self.assertAlmostEqual(rounded.mean(), 1 - 20e-4, delta=2e-4)
        whole = self.updated("AdamWFullPrecision", 60, **adamw)
        self.assertAlmostEqual(whole.mean(), 1 - 60e-4, delta=4e-3)
        self.assertTrue((self.updated("AdamWComposite", 60, kahan_summation=True, **adamw) < 1).all())
        with self.assertRaisesRegex(RuntimeError, "kahan_summation"):
            self.updated("MorehAdamW", kahan_summation=True)
        sgd = dict(lr=50.0, momentum=0.5, dampening=0.5, weight_decay=0.001)
        composite, one = self.updated("SGDComposite", **sgd), self.updated("SGD", **sgd)
        self.assertTrue(numpy.allclose(one, composite, atol=0.01))
        self.assertLess(one.max(), 0.9)
        self.assertTrue((self.updated("NoOp") == 1).all())

    def test_a_files_optimizer_is_made(self):
        model = ttml.modules.LinearLayer(32, 32)
        make = ttml.common.utils.create_optimizer
        for settings, kind in [
                ({}, "AdamWComposite"), ({"use_moreh_adamw": True}, "MorehAdamW"),
                ({"use_no_op": True}, "NoOp"),
                ({"optimizer": {"type": "SGD", "lr": 0.5, "momentum": 0.9}}, "SGD"),
                ({"optimizer": {"amsgrad": True}}, "AdamW"),
                ({"optimizer": {"type": "SGDComposite"}}, "SGDComposite")]:
            made = make(model, {"training_config": settings})
            self.assertEqual(type(made).__name__, kind)
        self.assertEqual(make(model, {"type": "SGD", "lr": "1e-1"}).get_lr(), 0.1)
        with self.assertRaisesRegex(RuntimeError, "Unknown optimizer type: Lion"):
            make(model, {"training_config": {"optimizer": {"type": "Lion"}}})
        with self.assertRaises(ValueError):
            make(model, {})

    def test_tensors_may_have_gradients(self):
        x = self.made(numpy.ones((1, 1, 32, 32)))
        self.assertTrue(x.get_requires_grad())
        loss = ttml.ops.loss.mse_loss(x, self.tensor(1, 1, 32, 32))
        loss.backward(True)
        first = x.get_grad_tensor().to_numpy()
        self.assertEqual(list(x.get_grad().shape), [1, 1, 32, 32])
        x.set_grad(None)
        loss.clear_grad()
        loss.backward(False)
        self.assertFalse(numpy.array_equal(first, 0 * first))
        with self.assertRaisesRegex(RuntimeError, "ran already"):
            loss.backward(False)
        self.assertFalse(ttml.autograd.create_tensor(x.get_value(), False).get_requires_grad())

    def test_parameters_have_names_and_modules_two_modes(self):
        model = ttml.models.nanogpt.create_nanogpt(ttml.models.nanogpt.NanoGPTConfig(
            vocab_size=64, block_size=32, n_embd=64, n_layer=2, n_head=2))
        names = list(model.parameters())
        self.assertIn("NanoGPT/blocks/1/attention/qkv_linear/weight", names)
        self.assertIn("NanoGPT/ln_f_gamma", names)
        linear = ttml.models.linear_regression.create_linear_regression_model(2, 1)
        self.assertEqual(list(linear.parameters()), ["linear/bias", "linear/weight"])
        self.assertEqual(len(names), 2 + 2 * 12 + 2 + 1)
        model.eval()
        self.assertEqual(model.blocks[1].mlp.dropout.get_run_mode(), ttml.autograd.RunMode.EVAL)

    def test_schedules(self):
        layer = ttml.modules.LinearLayer(32, 32)
        optimizer = ttml.optimizers.SGD(layer.parameters(), ttml.optimizers.SGDConfig.make(lr=0.5))
        schedulers = ttml.schedulers

        def rates(scheduler, steps):
            optimizer.set_lr(0.5)
            made = scheduler(optimizer)
            found = []
            for _ in range(steps):
                made.step()
                found.append(round(optimizer.get_lr(), 6))
            optimizer.set_lr(0.5)
            return found

        self.assertEqual(rates(lambda o: schedulers.StepScheduler(o, 2, 0.5), 4),
                         [0.5, 0.25, 0.25, 0.125])
        self.assertEqual(rates(lambda o: schedulers.LinearScheduler(o, 0, 1, 2), 3),
                         [0.25, 0.5, 0.5])
        self.assertEqual(rates(lambda o: schedulers.CosineAnnealingScheduler(o, 2), 2), [0.25, 0])

    def tokens(self, batch, sequence, below=96, seed=3):
        drawn = numpy.random.default_rng(seed).integers(0, below, (batch, 1, 1, sequence))
        return self.whole(drawn)

    def test_gradients_flow_through_grouped_heads_and_rotary_positions(self):
        rope = ttml.ops.rope.build_rope_params(64, 32, 500000.0)
        block = ttml.modules.LlamaBlock(128, 4, 2, 256, rope_params=rope)
        x, target = self.tensor(2, 1, 32, 128), self.tensor(2, 1, 32, 128, seed=1)
        for name in ("attention/q_linear/weight", "attention/kv_linear/weight", "mlp/w1/weight",
                     "mlp/w3/weight", "attention_norm/gamma", "mlp_norm/gamma"):
            parameter = block.parameters()["LlamaBlock/" + name]
            step = 0.02 if "q_linear" in name else 0.1  # the loss is curved along q
            self.expect_gradient(lambda: block(x, None), target, parameter, step)

    def test_rotary_positions_keep_lengths(self):
        rope = ttml.ops.rope.build_rope_params(64, 32)
        x = self.tensor(1, 2, 64, 32)
        turned = ttml.ops.rope.rope(x, rope).to_numpy()
        before = numpy.linalg.norm(x.to_numpy(), axis=-1)
        self.assertTrue(numpy.allclose(numpy.linalg.norm(turned, axis=-1), before, rtol=0.02))
        self.assertTrue(numpy.allclose(turned[:, :, 0], x.to_numpy()[:, :, 0], atol=0.01))
        self.assertFalse(numpy.allclose(turned[:, :, 9], x.to_numpy()[:, :, 9], atol=0.01))

    def test_masked_losses_count_their_places_alone(self):
        weight = ttml.modules.LinearLayer(32, 64, False).weight.tensor
        x, targets = self.tensor(2, 1, 32, 32), self.tokens(1, 64, 64).to_numpy().reshape(2, 32)
        classes = self.whole(targets)
        mask = numpy.zeros((2, 1, 32, 1), dtype=numpy.float32)
        mask[0, 0, :8] = 1

        def loss(counted):
            losses = ttml.ops.loss.cross_entropy_loss(ttml.ops.linear.linear(x, weight), classes,
                                                      ttml.ops.ReduceType.NONE)
            self.assertEqual(losses.shape(), [2, 1, 32, 1])
            return ttml.ops.unary.mean(losses * self.made(counted))

        masked = loss(mask)
        logits = ttml.ops.linear.linear(x, weight).to_numpy().astype(numpy.float64)
        sums = numpy.log(numpy.exp(logits).sum(-1))
        own = numpy.take_along_axis(logits[:, 0], targets[..., None].astype(int), -1)[..., 0]
        expected = ((sums[:, 0] - own) * mask[..., 0].reshape(2, 32)).mean()
        self.assertAlmostEqual(masked.get_value().item(), expected, delta=0.02 * expected)
        masked.backward(False)
        found = weight.get_grad_tensor().to_numpy()[0, 0].astype(numpy.float64)
        share = numpy.exp(logits - sums[..., None])[:, 0]
        share[numpy.arange(2)[:, None], numpy.arange(32), targets] -= 1
        share *= mask.reshape(2, 32, 1) / 64
        slope = numpy.einsum("bsv,bsd->vd", share, x.to_numpy()[:, 0])
        self.assertLess(numpy.abs(found - slope).max(), 0.03 * numpy.abs(slope).max())

    def llama(self, **changes):
        config = {**dict(model_type="llama", num_heads=4, num_groups=2, embedding_dim=128,
                         num_blocks=2, max_sequence_length=64, vocab_size=90), **changes}
        factory = ttml.common.model_factory.TransformerModelFactory({"transformer_config": config})
        return factory.create_model()

    def test_the_factory_makes_ttmls_models(self):
        factory = ttml.common.model_factory.TransformerModelFactory
        nano = {"model_type": "llama", "vocab_size": 68}  # the rest are TTML's defaults
        parameters = factory({"transformer_config": nano}).create_model().parameters()
        self.assertEqual(len(parameters), 51)
        self.assertEqual(sum(numpy.prod(t.shape()) for t in parameters.values()), 9810816)
        self.assertIn("Llama/blocks/5/attention/kv_linear/weight", parameters)
        tied = self.llama(weight_tying="enabled").parameters()
        self.assertIn("Llama/fc/weight", tied)
        self.assertNotIn("Llama/tok_emb/weight", tied)
        gpt = factory({"transformer_config": {
            "model_type": "gpt2", "embedding_dim": 64, "num_heads": 2, "num_blocks": 1,
            "max_sequence_length": 32, "vocab_size": 68, "positional_embedding_type": "fixed"}})
        self.assertNotIn("NanoGPT/pos_emb", gpt.create_model().parameters())
        for config, words in [({"num_head": 4}, "num_heads"), ({"num_heads": 5}, "a divisor"),
                              ({"model_type": "qwen3"}, "gpt2, llama")]:
            with self.assertRaisesRegex(RuntimeError, words):
                factory({"transformer_config": config}).create_model()
        with self.assertRaisesRegex(RuntimeError, "transformer_config"):
            factory({}).create_model()

    def test_a_llama_sees_only_what_is_before(self):
        model = self.llama()
        model.eval()
        tokens = self.tokens(1, 5, 90).to_numpy()
        first = model(self.whole(tokens)).to_numpy()
        tokens = tokens.copy()
        tokens[..., 4] = (tokens[..., 4] + 1) % 90
        second = model(self.whole(tokens)).to_numpy()
        self.assertEqual(first.shape, (1, 1, 5, 90))
        self.assertTrue(numpy.array_equal(first[..., :4, :], second[..., :4, :]))
        self.assertFalse(numpy.array_equal(first[..., 4, :], second[..., 4, :]))

    def write_weights(self, path, tensors):
        """Writes a file of safetensors."""
        header, data = {}, b""
        for name, values in tensors.items():
            bytes_ = values.astype("<f4").tobytes()
            header[name] = {"dtype": "F32", "shape": list(values.shape),
                            "data_offsets": [len(data), len(data) + len(bytes_)]}
            data += bytes_
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data)

    def hugging_face_llama(self):
        """Returns the tensors of a Llama as Hugging Face's library names them."""
        draw = numpy.random.default_rng(5)
        shapes = {"model.embed_tokens.weight": (90, 128), "model.norm.weight": (128,),
                  "lm_head.weight": (90, 128)}
        for block in range(2):
            prefix = f"model.layers.{block}."
            shapes.update({
                prefix + "input_layernorm.weight": (128,),
                prefix + "post_attention_layernorm.weight": (128,),
                prefix + "self_attn.q_proj.weight": (128, 128),
                prefix + "self_attn.k_proj.weight": (64, 128),
                prefix + "self_attn.v_proj.weight": (64, 128),
                prefix + "self_attn.o_proj.weight": (128, 128),
                prefix + "mlp.gate_proj.weight": (512, 128),
                prefix + "mlp.up_proj.weight": (512, 128),
                prefix + "mlp.down_proj.weight": (128, 512)})
        return {name: draw.normal(0, 0.05, shape) for name, shape in shapes.items()}

    def test_weights_of_files_are_the_models(self):
        model, tensors = self.llama(), self.hugging_face_llama()
        parameters = model.parameters()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            self.write_weights(path, tensors)
            model.load_from_safetensors(folder)

            def values(name):
                return parameters["Llama/" + name].to_numpy()[0, 0]

            prefix = "model.layers.1."
            self.assertTrue(numpy.allclose(values("blocks/1/mlp/w3/weight"),
                                           tensors[prefix + "mlp.up_proj.weight"], rtol=0.01))
            self.assertTrue(numpy.allclose(values("tok_emb/weight")[:90],
                                           tensors["model.embed_tokens.weight"], rtol=0.01))
            # Of a head of 32 rows, row 2 i is row i of the file, and row 2 i + 1 is row 16 + i.
            rows = tensors[prefix + "self_attn.q_proj.weight"].reshape(4, 2, 16, 128)
            paired = rows.transpose(0, 2, 1, 3).reshape(128, 128)
            self.assertTrue(numpy.allclose(values("blocks/1/attention/q_linear/weight"), paired,
                                           rtol=0.01))
            keys_values = values("blocks/1/attention/kv_linear/weight")
            self.assertTrue(numpy.allclose(keys_values[64:],
                                           tensors[prefix + "self_attn.v_proj.weight"], rtol=0.01))
            del tensors["model.norm.weight"]
            self.write_weights(path, tensors)
            with self.assertRaisesRegex(RuntimeError, "llama/ln_fc/gamma"):
                model.load_from_safetensors(folder)
            path.write_bytes(path.read_bytes()[:1000])
            with self.assertRaisesRegex(RuntimeError, "model.safetensors"):
                model.load_from_safetensors(folder)
            path.unlink()
            with self.assertRaisesRegex(RuntimeError, "safetensors"):
                model.load_from_safetensors(folder)

    def cache(self, model, length=64, **changes):
        config = model.config
        sizes = dict(num_layers=config.num_hidden_layers, batch_size=1,
                     num_groups=config.num_key_value_heads, max_seq_len=length,
                     head_dim=config.head_dim)
        return ttml.models.KvCache(ttml.models.KvCacheConfig(**{**sizes, **changes}))

    def read(self, model, tokens, cache=None):
        """Returns the logits behind each of the tokens, which are padded to whole tiles."""
        padded = numpy.zeros((1, 1, 1, (len(tokens) + 31) // 32 * 32), dtype=numpy.uint32)
        padded[0, 0, 0, :len(tokens)] = tokens
        tensor = self.whole(padded)
        logits = (model(tensor) if cache is None else
                  model(tensor, kv_cache=cache, new_tokens=len(tokens)))
        found = logits.to_numpy()[0, 0, :len(tokens), :90]
        self.context.reset_graph()
        return found

    def loud_llama(self, **changes):
        """Returns a model whose logits differ by more than what rounding does."""
        model = self.llama(**changes)
        for name, tensor in model.parameters().items():
            if name.endswith("weight"):
                tensor.set_value(self.made(4 * tensor.to_numpy()))
        model.eval()
        return model

    def test_a_cache_says_what_the_whole_pass_says(self):
        tokens = [(i * i + 3 * i) % 90 for i in range(63)]
        for groups in (2, 4):
            model = self.loud_llama(num_groups=groups)
            with ttml.common.utils.no_grad():
                expected = self.read(model, tokens)
                bound = 0.04 * numpy.abs(expected).max()  # roundings of bfloat16
                cache = self.cache(model)
                for prompt in (1, 33):
                    cache.reset()
                    logits = list(self.read(model, tokens[:prompt], cache))
                    for token in tokens[prompt:]:
                        logits.append(self.read(model, [token], cache)[0])
                    self.assertEqual(cache.get_cache_position(), len(tokens))
                    self.assertLess(numpy.abs(numpy.array(logits) - expected).max(), bound)

    def test_a_cached_loop_writes_what_generate_writes(self):
        tensors = {name: 4 * values if values.ndim == 2 else 1 + values
                   for name, values in self.hugging_face_llama().items()}
        model, prompt, count = self.llama(), [3, 1, 4, 1, 5], 40
        with tempfile.TemporaryDirectory() as folder:
            self.write_weights(pathlib.Path(folder) / "model.safetensors", tensors)
            config = {"model_type": "llama", "hidden_size": 128, "num_attention_heads": 4,
                      "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 90,
                      "intermediate_size": 512, "max_position_embeddings": 64,
                      "rms_norm_eps": 1e-5, "rope_theta": 10000}
            (pathlib.Path(folder) / "config.json").write_text(json.dumps(config))
            found = subprocess.run(
                [os.environ["HOWARD_RUN_EXPERIMENT"], "generate", "--weights", folder, "--prompt",
                 ",".join(map(str, prompt)), "--max-tokens", str(count), "--cache", "ttml"],
                capture_output=True, text=True, check=False)
            self.assertEqual(found.returncode, 0, found.stderr)
            model.load_from_safetensors(folder)
        model.eval()
        with ttml.common.utils.no_grad():
            cache = self.cache(model, len(prompt) + count)
            text, read = list(prompt), prompt
            for _ in range(count):
                text.append(int(numpy.argmax(self.read(model, read, cache)[-1])))
                read = text[-1:]
        self.assertGreater(len(set(text[len(prompt):])), 10)
        self.assertEqual([int(number) for number in found.stdout.replace(",", " ").split()], text)

    def test_what_a_cache_does_not_take_is_said(self):
        model = self.llama()
        read = self.read
        with self.assertRaisesRegex(RuntimeError, "GradMode.DISABLED"):
            read(model, [1], self.cache(model))
        with ttml.common.utils.no_grad():
            cache = self.cache(model, 33)
            read(model, [1] * 33, cache)
            for attempt, words in [
                (lambda: read(model, [1], cache), "33 in all"),
                (lambda: read(model, [1], self.cache(model, num_layers=3)), "num_layers=2"),
                (lambda: read(model, [1], self.cache(model, num_groups=4)), "num_groups=2"),
                (lambda: read(model, [1], self.cache(model, batch_size=2)), "batch_size=1"),
                (lambda: read(model, [1], self.cache(model, 65)), "max_position_embeddings, 64"),
                (lambda: self.cache(model, 0), "1 or more"),
                (lambda: model(self.tokens(1, 32, 90), kv_cache=self.cache(model), new_tokens=33),
                 "33 new tokens of 32 rows"),
            ]:
                with self.assertRaisesRegex(RuntimeError, words):
                    attempt()
            self.assertEqual(cache.get_cache_position(), 33)

    def test_gpt2s_weights_have_their_names(self):
        model = ttml.models.nanogpt.create_nanogpt(ttml.models.nanogpt.NanoGPTConfig(
            vocab_size=64, block_size=32, n_embd=64, n_layer=1, n_head=2))
        names = {model.native_name(name) for name in model.parameters()}
        self.assertIn("blocks.0.query_key_value.bias", names)
        self.assertIn("position_embedding.weight", names)
        self.assertEqual(len(names), 17)

    def test_memory_has_the_segments_of_the_script(self):
        tracker = ttml.core.utils.MemoryUsageTracker
        with self.assertRaisesRegex(RuntimeError, "begin_capture"):
            tracker.snapshot("TOO_EARLY")
        with tracker.begin_capture():
            layer = ttml.modules.LinearLayer(1024, 512, False)
            tracker.snapshot("MODEL_CREATION")
            layer(self.tensor(1, 1, 32, 1024))
            tracker.end_capture("FORWARD_PASS")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            tracker.print_memory_usage()
        text = printed.getvalue()
        # Rows are uploaded, and the device makes tiles of them.
        self.assertIn("--- MODEL_CREATION ---\n  DRAM: Segment Peak 2.00 MB, Allocations", text)
        self.assertIn("Segment Change +1.00 MB", text)
        usage = tracker.get_dram_usage("MODEL_CREATION")
        self.assertEqual(usage["total_allocations"], 2 << 20)
        self.assertIn("--- FORWARD_PASS ---", text)
        self.assertNotIn("SEGMENT_", text)

    def test_the_trainer_lowers_the_loss_and_the_meter_counts(self):
        config = {"transformer_config": {
                      "model_type": "llama", "num_heads": 2, "num_groups": 1, "embedding_dim": 64,
                      "num_blocks": 1, "max_sequence_length": 32, "vocab_size": 32},
                  "training_config": {
                      "batch_size": 4, "max_steps": 25, "eval_every": 10, "learning_rate": 0.01,
                      "gradient_accumulation_steps": 2, "use_clip_grad_norm": True}}
        model = ttml.common.model_factory.TransformerModelFactory(config).create_model()
        settings = ttml.common.config.TrainingConfig(config)
        optimizer = ttml.common.utils.create_optimizer(model, config)
        numpy.random.seed(1)
        ids = numpy.arange(600, dtype=numpy.uint32) % 7
        losses, validation = ttml.common.trainer.train(settings, model, optimizer, ids, ids)
        self.assertEqual((len(losses), len(validation)), (25, 2))
        self.assertLess(losses[-1], 0.5 * losses[0])
        meter = ttml.common.utils.PerformanceMeter(settings)
        meter.step()
        self.assertEqual(meter.get_metrics(), (0.0, 0.0))
        optimizer.step()
        meter.step()
        samples, tokens = meter.get_metrics()
        self.assertGreater(samples, 0)
        self.assertAlmostEqual(tokens, 32 * samples)

    def test_what_cannot_be_done_is_said(self):
        layer = ttml.modules.LinearLayer(32, 32)
        x = self.tensor(1, 1, 32, 32)
        for attempt, words in [
            (lambda: x.backward(), "no graph"),
            (lambda: layer.weight.tensor.get_grad(), "no gradient"),
            (lambda: self.context.open_device(), "after"),
            (lambda: ttml.ops.loss.cross_entropy_loss(x, self.whole([[1]])), "accepted"),
            (lambda: ttml.ops.multi_head_utils.heads_creation(x, 5), "5 heads"),
            (lambda: ttml.ops.rope.build_rope_params(32, 24), "heads of 24"),
            (lambda: ttml.ops.rope.rope(x, ttml.ops.rope.build_rope_params(32, 64)), "d of 64"),
            (lambda: ttml.optimizers.RemoteOptimizer({}, 0), "--multihost"),
            (lambda: layer.weight.tensor.set_grad(x.get_value().reshape([1, 1, 1024])), "Shapes of"),
            (lambda: x / x, "unsupported operand"),
            (lambda: ttml.mesh(), "no mesh is open"),
            (lambda: ttml.models.RunnerType.from_string("fast"), "memory_efficient"),
        ]:
            with self.assertRaisesRegex((RuntimeError, TypeError), words):
                attempt()

    def test_the_guides_examples_run(self):
        for script, expected in [("linear_regression.py", "Prediction for [1, 1]: 0.99"),
                                 ("mnist_mlp.py", "Epoch 3/3"), ("nano_gpt.py", "Generated text"),
                                 ("llama.py", "Overall DRAM Peak"),
                                 ("kv_cache.py", "the last token is the same")]:
            with tempfile.TemporaryDirectory() as folder:
                found = subprocess.run(
                    [os.environ["HOWARD_RUN_EXPERIMENT"], "python", "--results", folder,
                     str(EXAMPLES / script)],
                    capture_output=True, text=True, check=False, cwd=EXAMPLES.parents[1])
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertIn(expected, found.stdout)
            self.assertIn("virtual time", found.stderr)


if __name__ == "__main__":
    unittest.main()
