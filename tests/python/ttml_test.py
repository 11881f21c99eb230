# SPDX-License-Identifier: Apache-2.0
"""TTML's Python names over the autograd engine: the guide's examples, and gradients."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    import numpy

    import howard.ttml as ttml
except ImportError:
    numpy = None

# What TTML's package has for scripts, by module.
NAMES = {
    "autograd": "AutoContext Tensor create_tensor GradMode PreferredPrecision",
    "autograd.AutoContext": "get_instance open_device close_device get_device reset_graph "
        "set_gradient_mode set_seed initialize_parallelism_context",
    "autograd.Tensor": "from_numpy to_numpy backward get_value get_grad set_grad add_grad shape "
        "get_requires_grad",
    "ops": "binary unary matmul linear layernorm rmsnorm rope attention multi_head_utils dropout "
        "embedding reshape loss sample distributed ReduceType",
    "ops.binary": "add sub mul div",
    "ops.unary": "relu gelu silu mean softmax log_softmax broadcast_batch",
    "ops.matmul": "matmul_op", "ops.linear": "linear",
    "ops.layernorm": "layernorm composite_layernorm", "ops.rmsnorm": "rmsnorm rmsnorm_composite",
    "ops.rope": "rope build_rope_params gen_freqs",
    "ops.attention": "scaled_dot_product_attention",
    "ops.multi_head_utils": "heads_creation heads_fusion grouped_heads_creation",
    "ops.dropout": "dropout", "ops.embedding": "embedding", "ops.reshape": "reshape",
    "ops.loss": "mse_loss cross_entropy_loss nll_loss", "ops.ReduceType": "MEAN SUM",
    "ops.sample": "sample_op",
    "ops.distributed": "all_reduce all_gather reduce_scatter scatter broadcast",
    "modules": "AbstractModuleBase Parameter Linear LinearLayer Embedding LayerNorm LayerNormLayer "
        "RunMode", "modules.RunMode": "TRAIN EVAL",
    "optimizers": "AdamW MorehAdamW SGD RemoteOptimizer AdamWConfig SGDConfig",
    "schedulers": "StepScheduler LambdaScheduler LinearScheduler SequentialScheduler "
        "CosineAnnealingScheduler",
    "core": "clip_grad_norm distributed utils", "core.utils": "MemoryUsageTracker",
    "core.distributed": "enable_fabric synchronize_gradients shard_tensor_to_mesh_mapper "
        "concat_mesh_to_tensor_composer",
    "common": "config model_factory data trainer utils", "common.config": "load_config",
    "common.model_factory": "TransformerModelFactory", "common.data": "prepare_data get_batch",
    "common.trainer": "train", "common.utils": "initialize_device",
}

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ttml"


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Ttml(unittest.TestCase):
    def setUp(self):
        os.environ["HOWARD_DEVICE"] = "host"
        self.context = ttml.autograd.AutoContext.get_instance()
        self.context.open_device()
        self.context.set_seed(1)

    def tearDown(self):
        self.context.close_device()
        self.context.set_gradient_mode(ttml.autograd.GradMode.ENABLED)

    def tensor(self, *shape, seed=0):
        values = numpy.random.default_rng(seed).uniform(-1, 1, shape)
        return ttml.autograd.Tensor.from_numpy(values)

    def expect_gradient(self, predict, target, parameter, step=0.1):
        """The loss, in float64 of the predictions, changes along the gradient as that says."""
        values = parameter.to_numpy().copy()
        parameter._variable.set_gradient(None)
        ttml.ops.loss.mse_loss(predict(), target).backward(False)
        gradient = parameter.get_grad().to_numpy().astype(numpy.float64)
        way = step * gradient / numpy.abs(gradient).max()
        found = []
        for moved in (values + way, values - way):
            parameter.set_value(ttml.autograd.Tensor.from_numpy(moved))
            difference = predict().to_numpy().astype(numpy.float64) - target.to_numpy()
            found.append(numpy.mean(difference**2))
            self.context.reset_graph()
        parameter.set_value(ttml.autograd.Tensor.from_numpy(values))
        expected = 2 * numpy.sum(gradient * way)
        self.assertAlmostEqual(found[0] - found[1], expected, delta=0.05 * expected)

    def test_names_of_ttmls_package_are_there(self):
        for module, names in NAMES.items():
            found = ttml
            for part in module.split("."):
                found = getattr(found, part)
            for name in names.split():
                self.assertTrue(hasattr(found, name), f"{module}.{name}")

    def test_tensors_go_there_and_back(self):
        x = ttml.autograd.Tensor.from_numpy(numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
        self.assertEqual(x.shape(), [1, 1, 2, 3])
        self.assertEqual(x.to_numpy().tolist(), [[[[0, 1, 2], [3, 4, 5]]]])
        tokens = ttml.autograd.Tensor.from_numpy(
            numpy.array([[1, 70000]]), layout=ttml.Layout.ROW_MAJOR,
            new_type=ttml.DataType.UINT32)
        self.assertEqual(tokens.to_numpy().tolist(), [[[[1, 70000]]]])
        self.assertEqual(ttml.argmax(x.get_value(), dim=-1).to_numpy().tolist(), [[[2, 2]]])

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
        whole = weight.get_grad().to_numpy()
        weight._variable.set_gradient(None)
        for _ in range(2):
            loss = ttml.ops.binary.mul(ttml.ops.loss.mse_loss(layer(x), target), 0.5)
            loss.backward()
        self.assertTrue(numpy.allclose(weight.get_grad().to_numpy(), whole, rtol=0.02, atol=1e-5))

    def test_a_sum_is_as_many_means(self):
        logits, targets = self.tensor(2, 1, 32, 64), numpy.arange(64).reshape(2, 32)
        tokens = ttml.autograd.Tensor.from_numpy(targets)
        kinds = ttml.ops.ReduceType
        loss = ttml.ops.loss.cross_entropy_loss
        mean = loss(logits, tokens, kinds.MEAN).get_value().item()
        self.assertAlmostEqual(loss(logits, tokens, kinds.SUM).get_value().item(), 64 * mean,
                               delta=0.01 * 64 * mean)
        logarithms = ttml.ops.unary.log_softmax(logits)
        nll = ttml.ops.loss.nll_loss(logarithms, tokens).get_value().item()
        self.assertAlmostEqual(nll, mean, delta=0.02 * mean)

    def test_a_norm_and_a_feed_forward_part_have_two_forms(self):
        x, target = self.tensor(2, 1, 32, 64), self.tensor(2, 1, 32, 64, seed=1)
        norm, composite = (ttml.modules.RMSNormLayer(64, use_composite=form)
                           for form in (False, True))
        self.assertTrue(numpy.allclose(norm(x).to_numpy(), composite(x).to_numpy(), atol=0.03))
        self.expect_gradient(lambda: composite(x), target, composite.gamma.tensor)
        part = ttml.modules.LlamaMLP(64, 96, use_fused_swiglu=True)
        fused = part(x).to_numpy()
        for parameter in part.parameters().values():
            self.expect_gradient(lambda: part(x), target, parameter)
        part._fused = False
        self.assertTrue(numpy.allclose(part(x).to_numpy(), fused, atol=0.02))
        with self.assertRaisesRegex(RuntimeError, "weights"):
            ttml.ops.swiglu.swiglu(x, *(part.w1.weight.tensor for _ in range(3)))

    def test_forms_of_a_llama_are_settings(self):
        plain = self.llama()
        keys = ("use_composite_rmsnorm", "use_fused_swiglu", "use_fused_attention")
        other = self.llama(experimental={key: True for key in keys})
        for name, tensor in plain.parameters().items():
            other.parameters()[name].set_value(tensor)
        tokens = self.tokens(1, 32, 90)
        expected = plain(tokens).to_numpy()
        found = other(tokens).to_numpy()
        self.assertFalse(numpy.array_equal(found, expected))
        self.assertLess(numpy.abs(found - expected).max(), 0.03 * numpy.abs(expected).max())
        with self.assertRaisesRegex(RuntimeError, "no mask"):
            other(tokens, ttml.autograd.Tensor.from_numpy(ttml.common.data.build_causal_mask(32)))

    def test_an_nll_is_computed_and_refused_by_its_program(self):
        weight = ttml.modules.LinearLayer(32, 64, False).weight.tensor
        x, classes = self.tensor(2, 1, 32, 32), self.tokens(1, 64, 64).to_numpy().reshape(2, 32)
        targets = ttml.autograd.Tensor.from_numpy(classes)
        kinds, nll_loss = ttml.ops.ReduceType, ttml.ops.loss.nll_loss

        def logarithms():
            return ttml.ops.unary.log_softmax(ttml.ops.linear.linear(x, weight))

        loss = nll_loss(logarithms(), targets)
        loss.backward(False)
        by_nll = weight.get_grad().to_numpy()
        weight._variable.set_gradient(None)
        logits = ttml.ops.linear.linear(x, weight)
        ttml.ops.loss.cross_entropy_loss(logits, targets).backward(False)
        by_logits = weight.get_grad().to_numpy()
        self.assertLess(numpy.abs(by_nll - by_logits).max(), 0.05 * numpy.abs(by_logits).max())
        each = nll_loss(logarithms(), targets, kinds.NONE)
        self.assertEqual(each.shape(), [2, 1, 32, 1])
        self.assertAlmostEqual(each.to_numpy().mean(), loss.get_value().item(), delta=0.03)
        with self.assertRaises(RuntimeError):
            beyond = ttml.autograd.Tensor.from_numpy(classes + 64)
            nll_loss(logarithms(), beyond).get_value()

    def updated(self, kind, steps=3, **options):
        """Returns a weight of ones after steps with gradients of a thousandth."""
        weight = ttml.modules.Parameter(ttml.autograd.Tensor.from_numpy(numpy.ones((32, 64))))
        optimizers = ttml.optimizers
        config = optimizers.SGDConfig if "SGD" in kind.__name__ else optimizers.AdamWConfig
        optimizer = kind({"w": weight.tensor}, config.make(**options))
        for _ in range(steps):
            weight.tensor.set_grad(
                ttml.autograd.Tensor.from_numpy(numpy.full((32, 64), 1e-3, numpy.float32)))
            optimizer.step()
        return weight.tensor.to_numpy()

    def test_optimizers_have_ttmls_options(self):
        optimizers = ttml.optimizers
        adamw = dict(lr=1e-4, weight_decay=0.0)
        # Updates below half of the last bit of a bfloat16 are lost, unless chance rounds them.
        self.assertTrue((self.updated(optimizers.AdamW, **adamw) == 1).all())
        rounded = self.updated(optimizers.AdamW, 20, stochastic_rounding=True, **adamw)
        self.assertAlmostEqual(rounded.mean(), 1 - 20e-4, delta=2e-4)
        self.assertFalse(numpy.array_equal(
            self.updated(optimizers.AdamW, 20, lr=0.1, amsgrad=True, beta2=0.1),
            self.updated(optimizers.AdamW, 0)))
        with self.assertRaisesRegex(RuntimeError, "amsgrad"):
            self.updated(optimizers.MorehAdamW, amsgrad=True)
        sgd = dict(lr=50.0, momentum=0.5, dampening=0.5, weight_decay=0.001)
        composite = self.updated(optimizers.SGD, **sgd)
        one = self.updated(optimizers.TYPES["SGD"], **sgd)
        self.assertTrue(numpy.allclose(one, composite, atol=0.01))
        self.assertLess(one.max(), 0.9)
        self.assertTrue((self.updated(optimizers.NoOp) == 1).all())

    def test_a_files_optimizer_is_made(self):
        model = ttml.modules.LinearLayer(32, 32)
        make = ttml.common.utils.create_optimizer
        for settings, kind in [
                ({}, "AdamW"), ({"use_moreh_adamw": True}, "MorehAdamW"), ({"use_no_op": True}, "NoOp"),
                ({"optimizer": {"type": "SGD", "lr": 0.5, "momentum": 0.9}}, "_FusedSGD"),
                ({"optimizer": {"type": "AdamW", "amsgrad": True}}, "_FusedAdamW"),
                ({"optimizer": {"type": "SGDComposite"}}, "SGD")]:
            made = make(model, {"training_config": settings})
            self.assertEqual(type(made).__name__, kind)
        self.assertEqual(make(model, {"training_config": {"optimizer": {
            "type": "SGD", "lr": 0.5}}}).get_lr(), 0.5)
        for settings, words in [({"type": "Lion"}, "Lion"),
                                ({"type": "SGD", "amsgrad": True}, "amsgrad with a type of SGD")]:
            with self.assertRaisesRegex(RuntimeError, words):
                make(model, {"training_config": {"optimizer": settings}})

    def test_tensors_may_have_gradients(self):
        x = ttml.autograd.create_tensor(numpy.ones((1, 1, 32, 32), dtype=numpy.float32))
        self.assertTrue(x.get_requires_grad())
        ttml.ops.loss.mse_loss(x, self.tensor(1, 1, 32, 32)).backward(False)
        self.assertEqual(x.get_grad().shape, [1, 1, 32, 32])
        self.assertFalse(ttml.autograd.create_tensor(x.get_value(), False).get_requires_grad())
        self.assertFalse(ttml.autograd.create_tensor(numpy.ones((1, 32), int)).get_requires_grad())

    def test_parameters_have_names_and_modules_two_modes(self):
        model = ttml.models.nanogpt.create_nanogpt(ttml.models.nanogpt.NanoGPTConfig(
            vocab_size=64, block_size=32, n_embd=64, n_layer=2, n_head=2))
        names = list(model.parameters())
        self.assertEqual(names, sorted(names))
        self.assertIn("NanoGPT/blocks/1/attention/qkv_linear/weight", names)
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
        return ttml.autograd.Tensor.from_numpy(drawn)

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
        frequencies = ttml.ops.rope.gen_freqs(32, 10000.0)
        self.assertTrue(numpy.allclose(frequencies, 10000.0**(-numpy.arange(16) / 16)))

    def test_masked_losses_count_their_places_alone(self):
        weight = ttml.modules.LinearLayer(32, 64, False).weight.tensor
        x, targets = self.tensor(2, 1, 32, 32), self.tokens(1, 64, 64).to_numpy().reshape(2, 32)
        classes = ttml.autograd.Tensor.from_numpy(targets)
        mask = numpy.zeros((2, 1, 32, 1), dtype=numpy.float32)
        mask[0, 0, :8] = 1

        def loss(counted):
            losses = ttml.ops.loss.cross_entropy_loss(ttml.ops.linear.linear(x, weight), classes,
                                                      ttml.ops.ReduceType.NONE)
            self.assertEqual(losses.shape(), [2, 1, 32, 1])
            return ttml.ops.unary.mean(losses * ttml.autograd.Tensor.from_numpy(counted))

        masked = loss(mask)
        logits = ttml.ops.linear.linear(x, weight).to_numpy().astype(numpy.float64)
        sums = numpy.log(numpy.exp(logits).sum(-1))
        own = numpy.take_along_axis(logits[:, 0], targets[..., None].astype(int), -1)[..., 0]
        expected = ((sums[:, 0] - own) * mask[..., 0].reshape(2, 32)).mean()
        self.assertAlmostEqual(masked.get_value().item(), expected, delta=0.02 * expected)
        masked.backward(False)
        found = weight.get_grad().to_numpy()[0, 0].astype(numpy.float64)
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
        first = model(ttml.autograd.Tensor.from_numpy(tokens)).to_numpy()
        tokens = tokens.copy()
        tokens[..., 4] = (tokens[..., 4] + 1) % 90
        second = model(ttml.autograd.Tensor.from_numpy(tokens)).to_numpy()
        self.assertEqual(first.shape, (1, 1, 5, 96))
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
        sizes = dict(num_layers=config.num_blocks, batch_size=1, num_groups=config.num_groups,
                     max_seq_len=length, head_dim=config.embedding_dim // config.num_heads)
        return ttml.models.KvCache(ttml.models.KvCacheConfig(**{**sizes, **changes}))

    def read(self, model, tokens, cache=None):
        """Returns the logits behind each of the tokens, which are padded to whole tiles."""
        padded = numpy.zeros((1, 1, 1, (len(tokens) + 31) // 32 * 32), dtype=numpy.uint32)
        padded[0, 0, 0, :len(tokens)] = tokens
        tensor = ttml.autograd.Tensor.from_numpy(padded)
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
                tensor.set_value(ttml.autograd.Tensor.from_numpy(4 * tensor.to_numpy()))
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
                (lambda: read(model, [1], self.cache(model, 65)), "max_sequence_length, 64"),
                (lambda: self.cache(model, 0), "1 or more"),
                (lambda: model(self.tokens(1, 32, 90), kv_cache=self.cache(model), new_tokens=33),
                 "33 new tokens of 32 rows"),
                (lambda: model(self.tokens(1, 32, 90), self.tensor(1, 1, 32, 64),
                               self.cache(model)), "a mask"),
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
        self.assertIn("--- MODEL_CREATION ---\n  DRAM: Segment Peak 1.00 MB, Allocations", text)
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
        loss = ttml.ops.loss.mse_loss(layer(x), x)
        for attempt, words in [
            (lambda: loss.backward(True), "retain_graph"),
            (lambda: ttml.ops.binary.add(loss, loss), "a loss"),
            (lambda: x.backward(), "graph that is gone"),
            (lambda: ttml.optimizers.SGD({"x": x}, ttml.optimizers.SGDConfig()), "no parameter"),
            (lambda: layer.weight.tensor.get_grad(), "no gradient"),
            (lambda: ttml.autograd.Tensor.from_numpy(numpy.zeros((1, 1, 1, 1, 1))), "dimensions"),
            (lambda: self.context.open_device(), "after"),
            (lambda: ttml.modules.Embedding(65, 32), "multiples"),
            (lambda: ttml.ops.binary.add(x, self.tensor(1, 1, 64, 32)), "equal shapes"),
            (lambda: ttml.ops.binary.mul(x, self.tensor(2, 1, 32, 32)), "equal shapes"),
            (lambda: ttml.ops.matmul.matmul_op(x, self.tensor(2, 1, 32, 32)), "matrices"),
            (lambda: ttml.ops.layernorm.layernorm(x, x), "gamma"),
            (lambda: ttml.ops.multi_head_utils.heads_creation(x, 5), "5 heads"),
            (lambda: ttml.ops.rope.build_rope_params(32, 24), "heads of 24"),
            (lambda: ttml.ops.rope.rope(x, ttml.ops.rope.build_rope_params(32, 64)), "d of 64"),
            (lambda: ttml.core.distributed.enable_fabric(8), "8 devices"),
            (lambda: ttml.optimizers.RemoteOptimizer({}, 0), "--multihost"),
            (lambda: self.context.initialize_parallelism_context([1, 2]), "one device"),
            (lambda: layer.weight.tensor.set_grad(self.tensor(1, 1, 32, 64)), "set_grad"),
        ]:
            with self.assertRaisesRegex(RuntimeError, words):
                attempt()
        loss.backward()
        with self.assertRaisesRegex(RuntimeError, "graph that is gone"):
            loss.backward()

    def test_the_guides_examples_run(self):
        for script, expected in [("linear_regression.py", "Prediction for [1, 1]: 0.99"),
                                 ("mnist_mlp.py", "Epoch 3/3"), ("nano_gpt.py", "Generated text"),
                                 ("llama.py", "Overall DRAM Peak"),
                                 ("kv_cache.py", "the last token is the same")]:
            with tempfile.TemporaryDirectory() as folder:
                found = subprocess.run(
                    [os.environ["HOWARD_RUN_EXPERIMENT"], "python", "--results", folder,
                     str(EXAMPLES / script)],
                    capture_output=True, text=True, check=False, cwd=EXAMPLES.parents[1],
                    env={k: v for k, v in os.environ.items() if k != "HOWARD_DEVICE"})
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertIn(expected, found.stdout)
            self.assertIn("virtual time", found.stderr)


if __name__ == "__main__":
    unittest.main()
