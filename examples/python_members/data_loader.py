#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A data loader in Python, in place of the standard data loader. It generates the samples of the dataset `synthetic`
with numpy. The batches, and therefore the losses, are bit-identical to those of the standard data loader. Replace the
class Clusters with your own data."""
import collections
import math

import numpy as np

import trainyard
from sampling import Plan, random_below, random_bits, random_key, random_unit

_PLACES = 1 << 15


def _normal_numbers(count, deviation, key):
    """Draws from the normal distribution with the Box-Muller method. Uses the math functions of the C library, because
    numpy's own functions round differently."""
    first = random_unit(random_bits(np.arange(0, 2 * count, 2, dtype=np.uint64), key))
    second = random_unit(random_bits(np.arange(1, 2 * count, 2, dtype=np.uint64), key))
    return np.array([deviation * math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b)
                     for a, b in zip(first.tolist(), second.tolist())], np.float32)


class Clusters:
    """Generates the samples of the dataset `synthetic`: Gaussian clusters, in which a tenth of the samples has the
    label of another class."""

    fields = [{"name": "input", "dtype": 7, "shape": [784]}, {"name": "target", "dtype": 4, "shape": []}]
    width, classes, mislabelled = 784, 10, 0.1

    def __init__(self, seed, samples):
        self.seed, self.splits = seed, {"train": samples, "validate": 1000}
        self.centres = _normal_numbers(self.classes * self.width, 1, random_key(seed, "synthetic centres"))
        self.centres = self.centres.reshape(self.classes, self.width)
        table = _normal_numbers(_PLACES + self.width, math.sqrt(2) / 2, random_key(seed, "synthetic noise"))
        self.noise = np.lib.stride_tricks.sliding_window_view(table, self.width)

    def read(self, split, samples, inputs, targets):
        """Writes the given samples of a split into the two tensors of a batch."""
        own = samples % np.uint64(self.classes)
        bits = random_bits(samples, random_key(self.seed, split))
        np.add(self.centres[own], self.noise[bits % np.uint64(_PLACES)], out=inputs)
        np.add(inputs, self.noise[(bits >> np.uint64(32)) % np.uint64(_PLACES)], out=inputs)
        key = random_key(self.seed, "synthetic labels", random_key(0, split))
        wrong = random_unit(random_bits(np.uint64(2) * samples, key)) < self.mislabelled
        others = random_below(random_bits(np.uint64(2) * samples + np.uint64(1), key), self.classes - 1)
        targets[:] = np.where(wrong, (own + np.uint64(1) + others) % np.uint64(self.classes), own)


class Wanted:
    """The part of an order that has not been carried out yet. `batches` is the number of batches that are still to be
    sent."""

    def __init__(self, order, plan, epoch, place, batches):
        self.order, self.plan, self.epoch, self.place, self.batches = order, plan, epoch, place, batches


class DataLoader(trainyard.Component):
    """Sends the batches that the orders of the strategy manager request."""

    per_rank = True
    restartable = False

    orders = trainyard.Input("/orders", "Order", "the orders, which request batches")
    dataset = trainyard.Output("dataset", "DatasetInfo", "what the batches will contain", latched=True)
    batches = trainyard.Output("batches", "Batch", "the batches, in the sequence of the orders")

    samples = trainyard.Parameter(10000, "samples of the split 'train'", positive=True)
    batch_size = trainyard.Parameter(64, "samples in a batch of this rank", between=(1, 1 << 24))

    def on_configure(self):
        self.data = Clusters(self.seed, self.samples)
        self.train = self.plan("train", True)
        self.evaluate = {split: self.plan(split, False) for split in self.data.splits}
        self.wanted, self.sent, self.cursor = collections.deque(), 0, {"epoch": 0, "samples": 0}
        self.batches.on_ready(self.pump)

    def plan(self, split, training):
        return Plan(split, self.data.splits[split], self.batch_size, self.rank, self.world_size, self.seed, training)

    def on_activate(self):
        plans = {**self.evaluate, "train": self.train}
        splits = [{"name": split, "samples": plan.samples, "batches": plan.batches,
                   "evaluation_batches": self.evaluate[split].batches, "batch_samples": plan.step,
                   "short_last": not plan.drop_last} for split, plan in sorted(plans.items())]
        self.dataset.send({"dataset": "clusters", "batch_size": self.batch_size, "splits": splits,
                           "fields": self.data.fields, "classes": self.data.classes, "vocabulary": [],
                           "unit": "sample", "units_per_sample": 1, "attributes": {}, "learnt": {}, "seed": self.seed,
                           "sampling": "shuffle"})

    @orders.handler
    def on_order(self, order):
        if order["kind"] == "stop":
            self.wanted.clear()
        elif order["kind"] == "train":
            epoch, place = self.train.advance(order["cursor"]["epoch"], order["cursor"]["samples"], 0)
            batches = order["batches"] or self.train.batches_from(place)
            self.wanted.append(Wanted(order, self.train, epoch, place, batches))
        elif order["kind"] in ("evaluate", "predict"):
            plan = self.evaluate[order["split"]]
            self.wanted.append(Wanted(order, plan, order["epoch"], 0, order["batches"] or plan.batches))
        self.pump()

    def pump(self):
        """Sends batches until none are requested or the receivers have no room. In the latter case, the method is
        called again as soon as they have room."""
        while self.wanted and self.batches.ready():
            self.send(self.wanted[0])
            if self.wanted[0].batches == 0:
                self.wanted.popleft()

    def send(self, wanted):
        plan, place, epoch = wanted.plan, wanted.place, wanted.epoch
        rows = plan.rows(place)
        # The inputs are in shared memory, so the accelerator host can read them without a copy.
        inputs = self.allocate((rows, self.data.width), np.float32)
        targets = np.empty(rows, np.int64)
        self.data.read(plan.split, plan.samples_of(epoch, place), inputs, targets)
        wanted.batches -= 1
        if plan.training:
            wanted.epoch, wanted.place = plan.advance(epoch, place, 1)
            self.cursor = {"epoch": wanted.epoch, "samples": wanted.place}
            last = wanted.epoch != epoch
        else:
            wanted.place += plan.step
            last = wanted.batches == 0
        # All messages that are sent because of this batch carry its number, so that `trainyard trace` can show them.
        self.sent += 1
        self.trace = (self.rank + 1) << 48 | self.sent
        self.batches.send({"order": wanted.order["id"], "split": plan.split, "epoch": epoch,
                           "index": place // plan.step, "samples": rows, "world_samples": plan.world_rows(place),
                           "last_in_epoch": last, "next": self.cursor, "tensors": [inputs, targets]})
        self.trace = 0


trainyard.run_member(DataLoader)
