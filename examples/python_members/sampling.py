# SPDX-License-Identifier: Apache-2.0
"""The order of samples, exactly as the standard data loader has it (components/data_loader/batch_plan.h), so that a run
with a loader in Python sees the same batches. Numbers are 64-bit and wrap around."""
import numpy as np

_ALL = 0xFFFFFFFFFFFFFFFF


def random_bits(counter, key):
    """A random number of 64 bits for each counter: the finalizer of SplitMix64. Takes numbers or arrays of uint64."""
    with np.errstate(over="ignore"):
        bits = (np.uint64(1) + counter) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def random_key(seed, name, number=0):
    """The key of the random stream with this seed, name and number."""
    key = random_bits(np.uint64(seed), 0)
    for letter in name.encode():
        key = random_bits(np.uint64(letter), key)
    return random_bits(np.uint64(number), key)


def random_below(bits, bound):
    """Integers in [0, bound): the upper half of the product of 128 bits."""
    high, low = bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
    return (high * np.uint64(bound) + (low * np.uint64(bound) >> np.uint64(32))) >> np.uint64(32)


def random_unit(bits):
    """Numbers in (0, 1)."""
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


class Permutation:
    """A shuffled order of the numbers below `size`: a Feistel network of six rounds, with cycle walking."""

    def __init__(self, size, key):
        bits = max(2, int(size - 1).bit_length())
        self.size, self.low_bits = size, np.uint64(bits // 2)
        self.low, self.high = np.uint64((1 << bits // 2) - 1), np.uint64((1 << bits - bits // 2) - 1)
        self.keys = [random_bits(np.uint64(round), key) for round in range(6)]

    def __call__(self, places):
        numbers = self._pass(np.asarray(places, np.uint64))
        while (over := numbers >= self.size).any():
            numbers[over] = self._pass(numbers[over])
        return numbers

    def _pass(self, numbers):
        low, high = numbers & self.low, numbers >> self.low_bits
        for round in range(0, 6, 2):
            low = low ^ (random_bits(high, self.keys[round]) & self.low)
            high = high ^ (random_bits(low, self.keys[round + 1]) & self.high)
        return high << self.low_bits | low


class Plan:
    """How one split is divided into batches for one rank. A place is the number of samples of the epoch before a batch,
    on all ranks together."""

    def __init__(self, split, samples, batch_size, rank, world, seed, training):
        self.split, self.samples, self.batch_size, self.rank, self.world = split, samples, batch_size, rank, world
        self.shuffled = self.drop_last = self.training = training
        self.step = batch_size * world  # The samples that full batches of all ranks have together.
        self.key = random_key(random_key(seed, "train" if training else "evaluate"), split)
        self.batches = samples // self.step + (0 if self.drop_last or samples % self.step == 0 else 1)

    def rows(self, place):
        if self.drop_last:
            return self.batch_size
        left = max(self.samples - place, 0)
        return min(self.batch_size, left // self.world + (1 if self.rank < left % self.world else 0))

    def world_rows(self, place):
        return self.step if self.drop_last else min(self.step, max(self.samples - place, 0))

    def batches_from(self, place):
        left = max(self.samples - place, 0)
        return left // self.step + (0 if self.drop_last or left % self.step == 0 else 1)

    def samples_of(self, epoch, place):
        """The samples of this rank's batch, in order."""
        places = np.uint64(place + self.rank) + np.uint64(self.world) * np.arange(self.rows(place), dtype=np.uint64)
        if not self.shuffled:
            return places
        return Permutation(self.samples, random_bits(np.uint64(epoch), self.key))(places)

    def advance(self, epoch, place, batches):
        """The place that is so many batches further, if necessary in a later epoch."""
        left = self.batches_from(place)
        if batches < left:
            return epoch, place + batches * self.step
        batches -= left
        return epoch + 1 + batches // self.batches, batches % self.batches * self.step
