# SPDX-License-Identifier: Apache-2.0
"""Tests every strategy on several hosts. The losses must be bit-identical to those with all ranks on one host, or the
launch must be refused."""
import sys
import unittest

sys.dont_write_bytecode = True
import digits
import doctor
from lab import Lab, missing
from launches import Launch, write_key

STEPS = 4
RUN = [*digits.RUN, f"max_steps={STEPS}", "component.checkpoint_writer.when=false"]


@unittest.skipIf(missing(), missing())
class StrategiesTest(unittest.TestCase):
    # What the ranks of these share does not exist between hosts.
    ON_ONE_HOST = {"dp": "whose ranks share a process", "parameter_server": "whose ranks share memory",
                   "single_device": "which serves 1"}

    def train(self, hosts, devices):
        """`devices` is the number of ranks on each host, or a list with the number on each."""
        given = f"devices={devices}" if isinstance(devices, int) else f"ranks_per_host={devices}"
        ranks = hosts * devices if isinstance(devices, int) else sum(devices)
        with Lab(hosts=hosts, visible=doctor.visible()) as lab:
            write_key(lab)
            digits.write_digits(lab)
            names = ",".join(f"h{number}" for number in range(hosts))
            for strategy in digits.registered_strategies():
                with self.subTest(strategy, hosts=hosts, devices=devices):
                    arguments = [*RUN, f"strategy={strategy}"]
                    together = [Launch(lab, number, [*arguments, f"nodes={hosts}", given],
                                       {"TRAINYARD_HOST_NAMES": names}) for number in range(hosts)]
                    codes = [launch.end() for launch in together]
                    said = "\n".join(launch.output() for launch in together)
                    if strategy in self.ON_ONE_HOST:
                        self.assertEqual(codes, [2] * hosts, said)
                        self.assertIn(self.ON_ONE_HOST[strategy], said)
                        continue
                    self.assertEqual(codes, [0] * hosts, said)
                    alone = Launch(lab, 0, [*RUN, f"strategy={self.alone(strategy, devices)}", f"devices={ranks}"],
                                   {"TRAINYARD_HOST_NAMES": "", "TRAINYARD_HOST_NUMBER": ""})
                    self.assertEqual(alone.end(), 0, alone.output())
                    self.assertEqual(len(alone.metrics()), STEPS)
                    if strategy == "hierarchical" and not isinstance(devices, int):
                        self.close(together[0].metrics(), alone.metrics())
                    else:
                        self.assertEqual(together[0].metrics(), alone.metrics())

    @staticmethod
    def alone(strategy, devices):
        """The strategy with which a run on one host adds gradients in the same order. `hierarchical` adds up those of
        each host first, and on one host it can only act as if all hosts had the same number of ranks."""
        if strategy == "hierarchical" and isinstance(devices, int):
            return f"{{plugin='hierarchical', ranks_per_host={devices}}}"
        return strategy

    def close(self, measured, expected):
        """The same steps, with losses that differ only by rounding."""
        self.assertEqual([step for step, _ in measured], [step for step, _ in expected])
        for (_, loss), (_, wanted) in zip(measured, expected):
            self.assertAlmostEqual(loss, wanted, delta=1e-5)

    def test_two_ranks_on_each_of_two_hosts(self):
        self.train(hosts=2, devices=2)

    def test_hosts_with_unlike_numbers_of_ranks(self):
        self.train(hosts=2, devices=[1, 3])

    def test_one_rank_on_each_of_three_hosts(self):
        self.train(hosts=3, devices=1)


if __name__ == "__main__":
    unittest.main()
