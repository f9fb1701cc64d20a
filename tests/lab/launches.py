# SPDX-License-Identifier: Apache-2.0
"""`trainyard launch` on the hosts of a lab."""
import json
import pathlib
import subprocess
import time

import doctor

# The keys of the examples in the specification of CURVE: public and secret.
KEY = ("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6")
OTHER_KEY = ("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs")


class Launch:
    """`trainyard launch` on one host of a lab. Its output goes to a file."""

    def __init__(self, lab, number, arguments, environment=None, program=None):
        self.host = lab.hosts[number]
        self.folder = lab.shared / f"launch{len(list(lab.shared.glob('launch*')))}"
        self.folder.mkdir()
        variables = {"TRAINYARD_HOST_NUMBER": str(number), "TRAINYARD_HOST_NAMES": "h0,h1",
                     "TRAINYARD_KEY_FILE": "/mnt/key", **(environment or {})}
        with open(self.folder / "output", "w", encoding="utf-8") as output:
            self.process = self.host.start([program or doctor.PROGRAM, *arguments], variables, folder=f"/mnt/{self.folder.name}",
                                           stdout=output, stderr=subprocess.STDOUT)

    def output(self):
        return (self.folder / "output").read_text(encoding="utf-8")

    def says(self, text, seconds=120):
        until = time.monotonic() + seconds
        while text not in self.output():
            if time.monotonic() > until or (self.process.poll() is not None and text not in self.output()):
                raise AssertionError(f"{self.host.name} did not say '{text}':\n{self.output()}")
            time.sleep(0.05)

    def end(self, seconds=120):
        """The exit code, when the launch has ended."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the launch on {self.host.name} did not end:\n{self.output()}") from None

    def signal(self, number, program):
        """Sends a signal to a process of this launch: its "guard", or its "launcher", which is a child of the guard."""
        pids = [int(line.split()[0]) for line in self.host.run(["ps", "-e", "-o", "pid=,comm="])[0].splitlines()
                if line.split()[1] == pathlib.Path(doctor.PROGRAM).name[:15]]
        self.host.run(["kill", f"-{number}", str(pids[0] if program == "guard" else pids[1])])

    def metrics(self):
        """The losses of the training steps."""
        path = next(self.folder.glob("runs/*/metrics.jsonl"))
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [(line["step"], line["values"]["loss"]) for line in lines if line.get("stage") == "train"]


def write_key(lab, name="key", key=KEY, mode=0o600):
    """Writes a key file that all hosts see; returns its path there."""
    path = lab.shared / name
    path.write_text(f"trainyard-key-file 1\nname host\nrole member\npublic {key[0]}\nsecret {key[1]}\n", encoding="utf-8")
    path.chmod(mode)
    return f"/mnt/{name}"


def nothing_is_left(test, *hosts):
    """Fails the test unless the programs of the hosts end soon and have removed their files."""
    for host in hosts:
        until = time.monotonic() + 30
        while (left := host.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        test.assertEqual(left, [], host.name)
        test.assertEqual(host.run(["find", "/run/lab", "-mindepth", "2"])[0], "", host.name)
