# SPDX-License-Identifier: Apache-2.0
"""Reads the folder that write_sample.cpp has written with TensorBoard's own code, and checks the content.
readers_test.py runs this program."""
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator, TENSORS
from tensorboard.plugins.hparams import metadata as hyperparameters
from tensorboard.util import tensor_util


def values(accumulator, tag):
    return [(event.step, tensor_util.make_ndarray(event.tensor_proto)) for event in accumulator.Tensors(tag)]


def main():
    accumulator = EventAccumulator(sys.argv[1], size_guidance={TENSORS: 0})
    accumulator.Reload()
    plugins = {
        tag: accumulator.SummaryMetadata(tag).plugin_data.plugin_name for tag in accumulator.Tags()["tensors"]
    }
    # TensorBoard converts the scalars of older versions, such as ours, while it reads.
    scalars = [(event.step, event.value) for event in accumulator.Scalars("train/loss")]
    assert scalars == [(10, 2.5)], scalars
    assert plugins.pop("predict/generated text") == "text"
    assert values(accumulator, "predict/generated text")[0][1].tolist() == [b"to be"]

    for tag in ("weights/w", "gradients/w", "activations/layer"):
        assert plugins.pop(tag) == "histograms", plugins
        found = values(accumulator, tag)
        assert [step for step, _ in found] == [10, 20], found
        assert found[0][1].tolist() == [[-0.5, -0.25, 3], [-0.25, 0, 0], [0, 0.25, 4]], found[0][1]

    # TensorBoard keeps one plugin for each tag, so a picture and its table have tags of their own.
    for tag, count in (("confusion/validate", 1), ("samples/validate", 1)):
        assert plugins.pop(tag) == "images", plugins
        width, height, *files = values(accumulator, tag)[0][1].tolist()
        assert int(width) > 0 and int(height) > 0 and len(files) == count, (width, height, files)
        assert all(file.startswith(b"\x89PNG\r\n") for file in files), files
    assert plugins.pop("confusion/validate/table") == "text", plugins
    assert plugins.pop("samples/validate/table") == "text", plugins
    assert b"| **cat** | 5 | 1 |" in values(accumulator, "confusion/validate/table")[0][1].tolist()[0]
    assert b"| 0 | cat | **dog** | 0.500 |" in values(accumulator, "samples/validate/table")[0][1].tolist()[0]

    assert plugins.pop(hyperparameters.SESSION_START_INFO_TAG) == hyperparameters.PLUGIN_NAME, plugins
    content = accumulator.SummaryMetadata(hyperparameters.SESSION_START_INFO_TAG).plugin_data.content
    session = hyperparameters.parse_session_start_info_plugin_data(content)
    found = {name: getattr(value, value.WhichOneof("kind")) for name, value in session.hparams.items()}
    assert found == {"optimizer.lr": 0.25, "accelerator_host.model.plugin": "mlp", "logger.csv": True}, found
    assert not plugins, plugins
    print("TensorBoard reads scalars, texts, histograms, images and hyper-parameters")


main()
