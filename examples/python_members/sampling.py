# SPDX-License-Identifier: Apache-2.0
"""Determines the order of the samples, exactly as the standard data loader does (components/data_loader/batch_plan.h),
so that a run with a data loader in Python uses the same batches. All numbers are unsigned 64-bit integers, and
arithmetic wraps around."""
import numpy as np

_ALL = 0xFFFFFFFFFFFFFFFF


def random_bits(counter, key):
    """Returns 64 random bits for each counter, computed with the finalizer of SplitMix64. Accepts numbers or arrays of
    uint64."""
    with np.errstate(over="ignore"):
        bits = (np.uint64(1) + counter) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def random_key(seed, name, number=0):
    """Returns the key for the sequence of random numbers with this seed, name and number."""
    key = random_bits(np.uint64(seed), 0)
    for letter in name.encode():
        key = random_bits(np.uint64(letter), key)
    return random_bits(np.uint64(number), key)


def random_below(bits, bound):
    """Converts random bits to integers in [0, bound): returns the upper 64 bits of the 128-bit product bits * bound."""
    high, low = bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
    return (high * np.uint64(bound) + (low * np.uint64(bound) >> np.uint64(32))) >> np.uint64(32)


def random_unit(bits):
    """Converts random bits to numbers in (0, 1)."""
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


class Permutation:
    """A random permutation of the numbers below `size`, which needs no memory for a list: a Feistel network of six
    rounds, with cycle walking. Calling the object maps positions to numbers."""

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
    """Divides one split into batches for one rank. A place is the position of a batch in the epoch: the number of
    samples that all ranks together have used before the batch."""

    def __init__(self, split, samples, batch_size, rank, world, seed, training):
        self.split, self.samples, self.batch_size, self.rank, self.world = split, samples, batch_size, rank, world
        self.shuffled = self.drop_last = self.training = training
        self.step = batch_size * world  # The number of samples in the full batches of all ranks together.
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
        """Returns the numbers of the samples in this rank's batch, in order."""
        places = np.uint64(place + self.rank) + np.uint64(self.world) * np.arange(self.rows(place), dtype=np.uint64)
        if not self.shuffled:
            return places
        return Permutation(self.samples, random_bits(np.uint64(epoch), self.key))(places)

    def advance(self, epoch, place, batches):
        """Returns the epoch and the place that are `batches` batches further on, if necessary in a later epoch."""
        left = self.batches_from(place)
        if batches < left:
            return epoch, place + batches * self.step
        batches -= left
        return epoch + 1 + batches // self.batches, batches % self.batches * self.step
