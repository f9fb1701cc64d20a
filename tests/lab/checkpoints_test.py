# SPDX-License-Identifier: Apache-2.0
"""Tests checkpoints of runs on several hosts. Their files must be the same as those of a run on one host, and every run
must be able to resume from every checkpoint with bit-identical losses."""
import json
import sys
import unittest

sys.dont_write_bytecode = True
import digits
import doctor
from lab import Lab, missing
from launches import Launch, nothing_is_left, write_key

SAVED, END = 3, 5


@unittest.skipIf(missing(), missing())
class CheckpointsTest(unittest.TestCase):
    # The ranks of these have everything, divide the optimizer's state, everything or the layers, or have optimizer state
    # of their own.
    STRATEGIES = ("ddp", "zero1", "zero2", "fsdp", "pipeline", "local_sgd", "diloco")

    # Other hosts have nothing that host 0 lacks; a part of the optimizer's state; a part of everything.
    SHARED_STRATEGIES = ("ddp", "zero1", "fsdp")

    def start(self, lab, hosts, devices, *arguments):
        """Runs a training to its end; returns the launch of host 0."""
        names = ",".join(f"h{number}" for number in range(hosts)) if hosts > 1 else ""
        launches = [Launch(lab, number, [*digits.RUN, f"nodes={hosts}", f"devices={devices}", *arguments],
                           {"TRAINYARD_HOST_NAMES": names, "TRAINYARD_HOST_NUMBER": str(number) if hosts > 1 else ""})
                    for number in range(hosts)]
        codes = [launch.end() for launch in launches]
        self.assertEqual(codes, [0] * hosts, "\n".join(launch.output() for launch in launches))
        return launches[0]

    @staticmethod
    def checkpoint(launch, step):
        return next(launch.folder.glob(f"runs/*/checkpoints/step-{step:08}"))

    @staticmethod
    def visible(path, lab):
        return f"/mnt/{path.relative_to(lab.shared)}"

    def same_files(self, one, other):
        """Every tensor of both checkpoints has the same bytes: the hashes of the files are equal."""
        listed = [json.loads((path / "manifest.json").read_text())["files"] for path in (one, other)]
        tensors = [{name: facts for name, facts in files.items() if name.endswith(".safetensors")} for files in listed]
        self.assertIn("optimizer.safetensors", tensors[0])
        self.assertEqual(tensors[0], tensors[1])

    def test_every_kind_of_state_is_saved_and_restored(self):
        with Lab(hosts=2, visible=doctor.visible()) as lab:
            write_key(lab)
            digits.write_digits(lab)
            for strategy in self.STRATEGIES:
                with self.subTest(strategy):
                    chosen = f"strategy={strategy}"
                    save = (chosen, f"run.checkpoint_every_steps={SAVED}", "component.checkpoint_writer.params.keep_last=0")
                    alone = self.start(lab, 1, 4, *save, f"max_steps={END}")
                    self.assertEqual(len(alone.metrics()), END)
                    together = self.start(lab, 2, 2, *save, f"max_steps={END}")
                    self.assertEqual(together.metrics(), alone.metrics())
                    for step in (SAVED, END):
                        self.same_files(self.checkpoint(together, step), self.checkpoint(alone, step))
                    # From one host to two, from two to two, and from two to one.
                    for source, hosts in ((alone, 2), (together, 2), (together, 1)):
                        path = self.visible(self.checkpoint(source, SAVED), lab)
                        resumed = self.start(lab, hosts, 4 // hosts, *save, f"max_steps={END}",
                                             f"component.checkpoint_writer.params.resume={path}")
                        self.assertEqual(resumed.metrics(), alone.metrics()[SAVED:], f"{hosts} hosts")
                        self.same_files(self.checkpoint(resumed, END), self.checkpoint(alone, END))
            nothing_is_left(self, *lab.hosts)

    def test_hosts_write_their_parts_into_a_shared_folder(self):
        """The files are those of a run whose other host has sent its state, and those of a run on one host."""
        with Lab(hosts=2, visible=doctor.visible()) as lab:
            write_key(lab)
            digits.write_digits(lab)
            for strategy in self.SHARED_STRATEGIES:
                with self.subTest(strategy):
                    folder = f"/mnt/{strategy}"
                    save = (f"strategy={strategy}", f"run.checkpoint_every_steps={SAVED}", f"max_steps={END}",
                            "component.checkpoint_writer.params.keep_last=0")
                    write = ("component.checkpoint_writer.params.other_hosts=write",
                             f"component.checkpoint_writer.params.directory={folder}")
                    sent = self.start(lab, 2, 2, *save)
                    written = self.start(lab, 2, 2, *save, *write)
                    self.assertEqual(written.metrics(), sent.metrics())
                    for step in (SAVED, END):
                        path = lab.shared / strategy / f"step-{step:08}"
                        self.same_files(path, self.checkpoint(sent, step))
                        said, code = lab.hosts[1].run([doctor.PROGRAM, "ckpt", "verify", f"{folder}/step-{step:08}"])
                        self.assertEqual(code, 0, said)
                    self.assertEqual([path.name for path in (lab.shared / strategy).iterdir() if path.name[0] == "."], [])
                    # The other number of hosts, and the other way to save, can go on from it.
                    for hosts, more in ((2, write), (1, ())):
                        resumed = self.start(lab, hosts, 4 // hosts, *save, *more,
                                             f"component.checkpoint_writer.params.resume={folder}/step-{SAVED:08}")
                        self.assertEqual(resumed.metrics(), sent.metrics()[SAVED:], f"{hosts} hosts")
            nothing_is_left(self, *lab.hosts)


if __name__ == "__main__":
    unittest.main()
