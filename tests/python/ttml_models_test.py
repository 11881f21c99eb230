# SPDX-License-Identifier: Apache-2.0
"""TTML's models over the names of ttnn: their losses, weights, caches and trainers, and the guide's
examples."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from ttml_case import TtmlCase, numpy, ttml

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ttml"


class Ttml(TtmlCase):
    def test_attention_is_the_same_by_the_engine_by_numpy_and_by_small_calls(self):
        ops, rows = ttml.ops.attention, 64
        far = numpy.subtract.outer(numpy.arange(rows), numpy.arange(rows))
        before, near = self.made((far >= 0)[None, None]), self.made((abs(far) < 9)[None, None])
        weights = self.tensor(2, 4, rows, 64, seed=9)
        for mask, small in ((None, before), (before, before), (near, near)):
            found = []
            for call, given in ((ops.scaled_dot_product_attention, mask),
                                (ops.scaled_dot_product_attention_composite, small)):
                q, k, v = (self.tensor(2, heads, rows, size, seed=size + heads)
                           for heads, size in ((4, 32), (2, 32), (2, 64)))
                made = call(q, k, v, given)
                ttml.ops.unary.mean(ttml.ops.binary.mul(made, weights)).backward(False)
                found.append([made.to_numpy(), *(one.get_grad_tensor().to_numpy() for one in (q, k, v))])
            for one, other in zip(*found):
                self.assertLess(abs(one - other).max(), 0.02 * abs(other).max())

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

    def test_a_mixture_of_experts_routes_and_learns(self):
        deepseek = ttml.models.deepseek
        for changes in ({}, {"q_lora_rank": 0, "score_func": "softmax",
                             "runner_type": "memory_efficient"}):
            config = deepseek.DeepSeekConfig(**{**dict(
                vocab_size=96, dim=64, inter_dim=96, moe_inter_dim=32, n_layers=2, n_dense_layers=1,
                n_heads=2, q_lora_rank=64, kv_lora_rank=32, qk_nope_head_dim=32,
                v_head_dim=32, max_seq_len=32), **changes})
            model = deepseek.DeepSeek(config)
            self.assertIn("DeepSeek/blocks/1/ffn/experts/7/w2/weight", model.parameters())
            layer, = model.get_moe_layers()
            optimizer = ttml.optimizers.create_optimizer({"lr": 0.01}, model.parameters())
            row = numpy.arange(33) % 7
            tokens = self.whole(row[:-1].reshape(1, 1, 1, 32))
            targets = self.whole(row[1:].reshape(1, 32))
            losses = []
            for _ in range(6):
                optimizer.zero_grad()
                loss = ttml.ops.loss.cross_entropy_loss(model(tokens), targets)
                loss.backward(False)
                optimizer.step()
                self.context.reset_graph()
                losses.append(loss.get_value().item())
            self.assertLess(losses[-1], 0.6 * losses[0])
            self.assertTrue(all(t.is_grad_initialized() for t in model.parameters().values()))
            chosen = layer.read_activation_probabilities()
            self.assertAlmostEqual(chosen.sum(), 2)  # experts of a token
            weights, mask = layer.compute_routing(self.tensor(1, 1, 32, 64))
            counts = ttml.autograd.Tensor(mask, False).to_numpy().reshape(32, 2, 4)
            self.assertTrue((counts.sum((1, 2)) == 2).all())
            self.assertTrue(((counts.sum(2) > 0).sum(1) == 1).all(), "one group of experts")
            layer.update_expert_bias(0.5)
            self.assertEqual(layer.read_activation_probabilities().sum(), 0)

    def test_gradients_flow_through_the_choice_of_experts(self):
        config = ttml.models.deepseek.DeepSeekConfig(
            dim=64, moe_inter_dim=32, n_routed_experts=4, n_activated_experts=2, n_expert_groups=1)
        layer = ttml.models.deepseek.MoE(config)
        x, target = self.tensor(1, 1, 32, 64), self.tensor(1, 1, 32, 64, seed=1)
        for name in ("experts/1/w2/weight", "shared_experts/w1/weight"):
            self.expect_gradient(lambda: layer(x), target, layer.parameters()["MoE/" + name])
        # All experts are taken, so that no step changes the choice.
        config.n_activated_experts = 4
        gate = layer.parameters()["MoE/gate/weight"]
        self.expect_gradient(lambda: layer(x), target, gate)

    def test_the_names_of_cpp_models_are_theirs(self):
        gpt2 = ttml.models.gpt2
        model = gpt2.create_gpt2_model(gpt2.GPT2TransformerConfig(
            num_heads=2, embedding_dim=64, num_blocks=1, vocab_size=96, max_sequence_length=32))
        for name in ("transformer/gpt_block_0/mlp/fc1/weight", "transformer/ln_fc/gamma",
                     "transformer/pos_emb/weight"):
            self.assertIn(name, model.parameters())
        self.assertEqual(model.native_name("transformer/gpt_block_0/attention/qkv_linear/bias"),
                         "blocks.0.query_key_value.bias")
        self.assertEqual(model(self.tokens(1, 32)).shape(), [1, 1, 32, 96])

    def test_a_llama_whose_layers_devices_divide_is_that_of_one_device(self):
        llama = ttml.models.llama
        config = llama.LlamaConfig(hidden_size=128, num_hidden_layers=1, num_attention_heads=4,
                                   num_key_value_heads=2, vocab_size=96, max_position_embeddings=32)
        tokens = numpy.arange(32).reshape(1, 1, 1, 32) % 9
        model = llama.Llama(config)
        whole = {name: tensor.to_numpy() for name, tensor in model.parameters().items()}
        expected = model(self.whole(tokens)).to_numpy()
        self.context.reset_graph()
        self.context.close_device()
        names = ttml.Mesh([1, 2], ["dp", "tp"])
        ttml.open_device_mesh(names)
        device, make = self.context.get_device(), ttml.autograd.Tensor.from_numpy
        divided = ttml.models.distributed.llama.create_llama_model(config)
        cuts = {"q_linear": 2, "kv_linear": 2, "out_linear": 3, "w1": 2, "w3": 2, "w2": 3, "fc": 2}
        for name, tensor in divided.parameters().items():
            values, layer = whole[name], name.split("/")[-2]
            if layer == "kv_linear":  # a device has its keys, and then its values
                values = values.reshape(1, 2, 2, 32, 128).swapaxes(1, 2).reshape(1, 1, 128, 128)
            mapper = names.axis_mapper("tp", cuts[layer]) if layer in cuts else \
                ttml.core.distributed.replicate_tensor_to_mesh_mapper(device)
            tensor.set_value(make(numpy.ascontiguousarray(values), new_type=ttml.DataType.BFLOAT16,
                                  mapper=mapper))
        found = divided(make(tokens.astype(numpy.uint32), layout=ttml.Layout.ROW_MAJOR, mapper=ttml
                             .core.distributed.replicate_tensor_to_mesh_mapper(device)))
        self.assertEqual(found.shape(), [1, 1, 32, 48])
        joined = found.to_numpy(composer=ttml.core.distributed.concat_mesh_to_tensor_composer(device, 3))
        self.assertLess(numpy.abs(joined - expected).max(), 0.02 * numpy.abs(expected).max())

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

    def test_a_llama_has_biases_and_drops_where_its_attention_says_so(self):
        llama = ttml.models.llama
        sizes = dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=2,
                     num_key_value_heads=1, vocab_size=64, max_position_embeddings=32)
        tokens = self.tokens(1, 32, 64)
        for share, same in ((0.0, True), (0.5, False)):
            model = llama.Llama(llama.LlamaConfig(attention_bias=True, attention_dropout=share, **sizes))
            self.assertIn("Llama/blocks/0/attention/kv_linear/bias", model.parameters())
            twice = [model(tokens).to_numpy() for _ in range(2)]
            self.assertEqual((twice[0] == twice[1]).all(), same)
        cpp = llama.create_cpp_llama_model(llama.CppLlamaConfig(
            num_heads=2, num_groups=1, embedding_dim=64, num_blocks=1, vocab_size=64,
            max_sequence_length=32))
        head = cpp.parameters()["llama/fc/weight"].to_numpy()
        self.assertAlmostEqual(head.std(), 0.02, delta=0.001)
        self.assertNotIn("llama/llama_block_0/attention/kv_linear/bias", cpp.parameters())

    def test_the_factory_makes_ttmls_models(self):
        factory = ttml.common.model_factory.TransformerModelFactory
        nano = {"model_type": "llama", "vocab_size": 68}  # the rest are TTML's defaults
        parameters = factory({"transformer_config": nano}).create_model().parameters()
        self.assertEqual(len(parameters), 51)
        self.assertEqual(sum(numpy.prod(t.shape()) for t in parameters.values()), 9810816)
        self.assertIn("llama/llama_block_5/attention/kv_linear/weight", parameters)
        tied = self.llama(weight_tying="enabled").parameters()
        self.assertIn("llama/fc/weight", tied)
        self.assertNotIn("llama/tok_emb/weight", tied)
        gpt = factory({"transformer_config": {
            "model_type": "gpt2", "embedding_dim": 64, "num_heads": 2, "num_blocks": 1,
            "max_sequence_length": 32, "vocab_size": 68, "positional_embedding_type": "fixed"}})
        self.assertNotIn("transformer/pos_emb/weight", gpt.create_model().parameters())
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
                return parameters["llama/" + name].to_numpy()[0, 0]

            prefix = "model.layers.1."
            self.assertTrue(numpy.allclose(values("llama_block_1/mlp/w3/weight"),
                                           tensors[prefix + "mlp.up_proj.weight"], rtol=0.01))
            self.assertTrue(numpy.allclose(values("tok_emb/weight")[:90],
                                           tensors["model.embed_tokens.weight"], rtol=0.01))
            # Of a head of 32 rows, row 2 i is row i of the file, and row 2 i + 1 is row 16 + i.
            rows = tensors[prefix + "self_attn.q_proj.weight"].reshape(4, 2, 16, 128)
            paired = rows.transpose(0, 2, 1, 3).reshape(128, 128)
            self.assertTrue(numpy.allclose(values("llama_block_1/attention/q_linear/weight"), paired,
                                           rtol=0.01))
            keys_values = values("llama_block_1/attention/kv_linear/weight")
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
                                 ("kv_cache.py", "the last token is the same"),
                                 ("grpo.py", "c -> cccccccc")]:
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
