# SPDX-License-Identifier: Apache-2.0
"""Makes the packages for the tests of the model aoti: make_packages.py FOLDER

    net.pt2         a small network, with a description of its state
    plain.pt2       the same without the description
    cuda.pt2        the same, marked as compiled for CUDA
    incomplete.pt2  the same with a description that has a tensor which the package lacks
    expected.json   PyTorch's loss for an input, the names in the state, and whether a batch may have one sample
"""
import json
import pathlib
import sys
import zipfile

import torch

FOLDER = pathlib.Path(sys.argv[1])
FOLDER.mkdir(parents=True, exist_ok=True)


class Net(torch.nn.Module):
    """For samples of 6 numbers and 3 classes, like those of the contract test."""

    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(6, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.output = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.output(torch.relu(self.norm(self.hidden(x))))


def describe(network):
    return [[name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape), tensor.requires_grad]
            for name, tensor in network.state_dict(keep_vars=True).items()]


def with_metadata(source, target, change):
    """Copies a package and changes its metadata."""
    with zipfile.ZipFile(FOLDER / source) as old, zipfile.ZipFile(FOLDER / target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("_metadata.json"):
                metadata = json.loads(data)
                change(metadata)
                data = json.dumps(metadata)
            new.writestr(name, data)


torch.manual_seed(3)
net = Net()
net(torch.rand(16, 6))  # Moves the running means away from zero.
net.eval()
state = describe(net)
batch = torch.export.Dim("batch", min=1, max=4096)
exported = torch.export.export(net, (torch.rand(4, 6),), dynamic_shapes={"x": {0: batch}})
configs = {"always_keep_tensor_constants": True, "aot_inductor.metadata": {"state": json.dumps(state)}}
takes_one_sample = hasattr(torch._inductor.config.aot_inductor, "check_lowerbound")  # From PyTorch 2.10 on.
if takes_one_sample:
    configs["aot_inductor.check_lowerbound"] = False
torch._inductor.aoti_compile_and_package(exported, package_path=str(FOLDER / "net.pt2"), inductor_configs=configs)
with_metadata("net.pt2", "plain.pt2", lambda metadata: metadata.pop("state"))
with_metadata("net.pt2", "cuda.pt2", lambda metadata: metadata.update(AOTI_DEVICE_KEY="cuda"))
more = state + [["output.scale", "float32", [3], True]]
with_metadata("net.pt2", "incomplete.pt2", lambda metadata: metadata.update(state=json.dumps(more)))

x = torch.arange(24, dtype=torch.float32).view(4, 6) / 24
loss = torch.nn.functional.cross_entropy(net(x), torch.tensor([0, 2, 1, 1]))
(FOLDER / "expected.json").write_text(json.dumps({
    "loss": loss.item(), "parameters": [name for name, _ in net.named_parameters()],
    "buffers": [name for name, _ in net.named_buffers()], "takes_one_sample": takes_one_sample}))
