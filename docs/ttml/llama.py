# SPDX-License-Identifier: Apache-2.0
"""A small Llama by TTML's model factory and trainer, with its memory. Needs NumPy."""

import ttml
from ttml.common.config import TrainingConfig
from ttml.common.data import prepare_data
from ttml.common.model_factory import TransformerModelFactory
from ttml.common.trainer import train
from ttml.common.utils import create_optimizer, initialize_device, set_seed

# What load_config("training.yaml") would give of a file.
config = {
    "device_config": {"mesh_shape": [1, 1]},
    "training_config": {"data_path": "data/sonnets.txt", "batch_size": 4, "max_steps": 60,
                        "eval_every": 20, "learning_rate": 3e-3},
    "transformer_config": {"model_type": "llama", "num_heads": 2, "num_groups": 1,
                           "embedding_dim": 64, "num_blocks": 2, "max_sequence_length": 32},
}
set_seed(42)
initialize_device(config)
train_ids, val_ids, vocab_size, decode = prepare_data(config)
config["transformer_config"]["vocab_size"] = vocab_size

tracker = ttml.core.utils.MemoryUsageTracker
tracker.begin_capture()
model = TransformerModelFactory(config).create_model()
tracker.snapshot("MODEL_CREATION")
optimizer = create_optimizer(model, config)
tracker.snapshot("OPTIMIZER_CREATION")

cfg = TrainingConfig(config)
losses, val_losses = train(cfg, model, optimizer, train_ids, val_ids)
tracker.end_capture("TRAINING")

print(f"Total parameters: {sum(t.to_numpy().size for t in model.parameters().values())}")
print(f"Loss: {losses[0]:.3f} -> {losses[-1]:.3f}, held out:", [f"{v:.3f}" for v in val_losses])
tracker.print_memory_usage()
