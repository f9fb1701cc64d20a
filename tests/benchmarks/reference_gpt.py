#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The character GPT of launch/files/shakespeare_char.toml, trained by PyTorch alone: the other side of the benchmark.

    reference_gpt.py TEXT [--steps 2000] [--compile] [--bf16] [--only-steps]

Same model, same data, same schedule, same evaluations (20 batches of both splits before the first step and every 250
steps), one thread, as nanoGPT (https://github.com/karpathy/nanoGPT) does it on a CPU. Like Trainyard, it treats denormal
numbers as zero. `--compile` uses torch.compile, which needs PyTorch 2 and a C++ compiler. `--bf16` uses autocast to bfloat16.
`--only-steps` leaves out the evaluations. Prints one JSON line at the end: wall time of training with its evaluations, the
median time of a step, and the last losses. The first tenth of the steps, which contains the compilation, does not count
for the median.
"""
import argparse
import json
import contextlib
import math
import statistics
import time

import numpy
import torch
from torch import nn
from torch.nn import functional

LAYERS, HEADS, WIDTH, CONTEXT, BATCH = 4, 4, 128, 64, 12
WARMUP, PEAK, FLOOR = 100, 1e-3, 1e-4


class Norm(nn.Module):
    """Layer norm with a gain and no bias."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x_BTD):
        return functional.layer_norm(x_BTD, (WIDTH,), self.weight, None, 1e-5)


class Block(nn.Module):
    """Causal self-attention and a feed-forward part, each behind a norm and added to what came in."""

    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = Norm(), Norm()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.register_buffer("past", torch.tril(torch.ones(CONTEXT, CONTEXT, dtype=torch.bool)))

    def attend(self, x_BTD):
        b, t, d = x_BTD.shape
        q, k, v = (part.view(b, t, HEADS, d // HEADS).transpose(1, 2) for part in self.qkv(x_BTD).split(d, dim=2))
        if hasattr(functional, "scaled_dot_product_attention"):
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.shape[-1])
            mixed = functional.softmax(scores.masked_fill(~self.past[:t, :t], float("-inf")), dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(b, t, d))

    def forward(self, x_BTD):
        x_BTD = x_BTD + self.attend(self.norm_1(x_BTD))
        return x_BTD + self.down(functional.gelu(self.up(self.norm_2(x_BTD))))


class Gpt(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = Norm()
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                residual = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * LAYERS) if residual else 0.02)

    def forward(self, x_BT, y_BT):
        h_BTD = self.tokens(x_BT) + self.places(torch.arange(x_BT.shape[1]))
        for block in self.blocks:
            h_BTD = block(h_BTD)
        logits = functional.linear(self.norm(h_BTD), self.tokens.weight)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), y_BT.reshape(-1))


def rate(step, steps):
    if step < WARMUP:
        return PEAK * (step + 1) / (WARMUP + 1)
    done = (step - WARMUP) / (steps - WARMUP)
    return FLOOR + 0.5 * (1 + math.cos(math.pi * done)) * (PEAK - FLOOR)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--only-steps", action="store_true")
    arguments = parser.parse_args()
    torch.set_flush_denormal(True)  # This comes first, because threads inherit the setting.
    torch.manual_seed(1337)
    torch.set_num_threads(1)

    text = open(arguments.text, encoding="utf-8").read()
    letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
    codes = numpy.array([letters[letter] for letter in text], dtype=numpy.uint16)
    cut = int(0.9 * len(codes))
    splits = {"train": codes[:cut], "validate": codes[cut:]}

    def batch(split):
        data = splits[split]
        starts = torch.randint(len(data) - CONTEXT, (BATCH,)).tolist()
        take = lambda shift: torch.stack(  # noqa: E731
            [torch.from_numpy(data[i + shift:i + shift + CONTEXT].astype(numpy.int64)) for i in starts])
        return take(0), take(1)

    model = Gpt(len(letters))
    forward = torch.compile(model) if arguments.compile else model
    precision = (lambda: torch.autocast("cpu", torch.bfloat16)) if arguments.bf16 else contextlib.nullcontext
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=PEAK, betas=(0.9, 0.99))

    @torch.no_grad()
    def evaluate():
        model.eval()
        with precision():
            losses = {s: sum(forward(*batch(s)).item() for _ in range(20)) / 20 for s in splits}
        model.train()
        return losses

    began = time.perf_counter()
    losses = {"train": None, "validate": None}
    step_ends = []
    x, y = batch("train")
    for step in range(arguments.steps + 1):
        if step % 250 == 0 and not arguments.only_steps:
            losses = evaluate()
        if step == arguments.steps:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate(step, arguments.steps)
        with precision():
            loss = forward(x, y)
        x, y = batch("train")
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()  # nanoGPT prints it after every step.
        step_ends.append(time.perf_counter())
    counted = step_ends[len(step_ends) // 10:]
    step_ms = 1000 * statistics.median(b - a for a, b in zip(counted, counted[1:]))
    print(json.dumps({"seconds": time.perf_counter() - began, "step_ms": step_ms, **losses}))


if __name__ == "__main__":
    main()
