# SPDX-License-Identifier: Apache-2.0
"""Makes the packages for the tests of the model aoti: make_packages.py FOLDER

    net.pt2         a small network, with a description of its state
    plain.pt2       the same without the description
    cuda.pt2        the same, marked as compiled for CUDA
    tied.pt2        another small network, which uses one weight in two places
    incomplete.pt2, integers.pt2, type.pt2, shape.pt2, negative.pt2, trained.pt2, unnamed.pt2
                    net.pt2 with descriptions that do not fit it
    expected.json   PyTorch's losses for an input, the names in the states, and whether a batch may have one sample
"""
import json
import pathlib
import sys
import zipfile

import torch

FOLDER = pathlib.Path(sys.argv[1])
FOLDER.mkdir(parents=True, exist_ok=True)
TAKES_ONE_SAMPLE = hasattr(torch._inductor.config.aot_inductor, "check_lowerbound")  # From PyTorch 2.10 on.


class Net(torch.nn.Module):
    """For samples of 6 numbers and 3 classes, like those of the contract test."""

    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(6, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.output = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.output(torch.relu(self.norm(self.hidden(x))))


class Tied(torch.nn.Module):
    """Two layers have the same weight."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 6)
        self.second = torch.nn.Linear(6, 6)
        self.second.weight = self.first.weight
        self.output = torch.nn.Linear(6, 3)

    def forward(self, x):
        return self.output(torch.relu(self.second(torch.relu(self.first(x)))))


def describe(network):
    names = {}
    for name, tensor in [*network.named_parameters(remove_duplicate=False),
                         *network.named_buffers(remove_duplicate=False)]:
        names.setdefault(tensor, []).append(name)
    return [[all_names, str(tensor.dtype).removeprefix("torch."), list(tensor.shape), tensor.requires_grad]
            for tensor, all_names in names.items()]


def compile_package(network, target):
    batch = torch.export.Dim("batch", min=1, max=4096)
    exported = torch.export.export(network, (torch.rand(4, 6),), dynamic_shapes={"x": {0: batch}})
    configs = {"always_keep_tensor_constants": True,
               "aot_inductor.metadata": {"state": json.dumps(describe(network))}}
    if TAKES_ONE_SAMPLE:
        configs["aot_inductor.check_lowerbound"] = False
    torch._inductor.aoti_compile_and_package(exported, package_path=str(FOLDER / target), inductor_configs=configs)


def loss_of(network):
    x = torch.arange(24, dtype=torch.float32).view(4, 6) / 24
    return torch.nn.functional.cross_entropy(network(x), torch.tensor([0, 2, 1, 1])).item()


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


def with_state(target, state):
    with_metadata("net.pt2", target, lambda metadata: metadata.update(state=json.dumps(state)))


torch.manual_seed(3)
net = Net()
net(torch.rand(16, 6))  # Moves the running means away from zero.
net.eval()
compile_package(net, "net.pt2")
with_metadata("net.pt2", "plain.pt2", lambda metadata: metadata.pop("state"))
with_metadata("net.pt2", "cuda.pt2", lambda metadata: metadata.update(AOTI_DEVICE_KEY="cuda"))

described = describe(net)
others = [entry for entry in described if entry[0] != ["hidden.weight"]]
with_state("incomplete.pt2", described + [[["output.scale"], "float32", [3], True]])
with_state("integers.pt2", described + [[["output.order"], "int64", [3], False]])
with_state("type.pt2", others + [[["hidden.weight"], "float64", [8, 6], True]])
with_state("shape.pt2", others + [[["hidden.weight"], "float32", [6, 8], True]])
with_state("negative.pt2", others + [[["hidden.weight"], "float32", [8, -6], True]])
with_state("trained.pt2", described + [[["steps"], "int64", [], True]])
with_state("unnamed.pt2", described + [[[], "int64", [], False]])

tied = Tied().eval()
compile_package(tied, "tied.pt2")

(FOLDER / "expected.json").write_text(json.dumps({
    "loss": loss_of(net), "parameters": [name for name, _ in net.named_parameters()],
    "buffers": [name for name, _ in net.named_buffers()], "tied_loss": loss_of(tied),
    "tied_parameters": [name for name, _ in tied.named_parameters()], "takes_one_sample": TAKES_ONE_SAMPLE}))
