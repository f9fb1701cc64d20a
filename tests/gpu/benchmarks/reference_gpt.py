#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The GPT of tests/gpu/benchmarks/run.py, trained by PyTorch alone. Prints one JSON line.

    reference_gpt.py LAYERS HEADS WIDTH CONTEXT VOCABULARY BATCH PRECISION [--steps 30] [--compile]
"""
import argparse
import contextlib
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def attend(self, x_BTD):
        b, t, d = x_BTD.shape
        q, k, v = (part.view(b, t, self.heads, d // self.heads).transpose(1, 2) for part in self.qkv(x_BTD).split(d, dim=2))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(b, t, d))

    def forward(self, x_BTD):
        x_BTD = x_BTD + self.attend(self.norm_1(x_BTD))
        return x_BTD + self.down(functional.gelu(self.up(self.norm_2(x_BTD))))


class Gpt(nn.Module):
    def __init__(self, layers, heads, width, context, vocabulary):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, x_BT, y_BT):
        h_BTD = self.tokens(x_BT) + self.places(torch.arange(x_BT.shape[1], device=x_BT.device))
        for block in self.blocks:
            h_BTD = block(h_BTD)
        logits = functional.linear(self.norm(h_BTD), self.tokens.weight)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), y_BT.reshape(-1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("layers", "heads", "width", "context", "vocabulary", "batch"):
        parser.add_argument(name, type=int)
    parser.add_argument("precision", choices=["32-true", "bf16-mixed"])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--compile", action="store_true")
    a = parser.parse_args()
    torch.manual_seed(1)
    model = Gpt(a.layers, a.heads, a.width, a.context, a.vocabulary).cuda()
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.99), fused=True)
    batches = [torch.randint(a.vocabulary, (2, a.batch, a.context), device="cuda") for _ in range(8)]
    run = torch.compile(model) if a.compile else model
    mixed = torch.autocast("cuda", dtype=torch.bfloat16) if a.precision == "bf16-mixed" else contextlib.nullcontext()

    def step(i):
        optimizer.zero_grad(set_to_none=True)
        with mixed:
            loss = run(*batches[i % len(batches)])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    for i in range(10):
        step(i)
    times = []
    for _ in range(3):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for i in range(a.steps):
            step(i)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - began) / a.steps)
    print(json.dumps({"name": "pytorch compiled" if a.compile else "pytorch", "step_ms": 1000 * statistics.median(times)}))


if __name__ == "__main__":
    main()
