# SPDX-License-Identifier: Apache-2.0
"""Tests how the planner reads the declarations of members (docs/wire_format.md, section 9)."""
import json
import sys
import unittest

try:
    import numpy
    import zmq
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from harness import PROGRAMS, PYTHON, MembersTest

SOURCE = """
[component.ticker]
plugin = "ticker"
params = { count = 0 }
"""
PY_SINK = """
[component.tally]
command = ["PYTHON", "PROGRAMS/tally.py"]
declaration = "describe"
params = { finish_after = 300 }
"""


class DeclarationsTest(MembersTest):
    """Tests that the planner checks everything that a program prints."""

    def plan_error(self, program, extra=""):
        """Returns the error of `trainyard plan` for a member that prints what the shell command prints."""
        path = self.file(f"[component.x]\ncommand = {json.dumps(['sh', '-c', program])}\ndeclaration = \"describe\"\n{extra}")
        text = self.trainyard("plan", path, code=2)
        self.assertTrue(text.startswith(f"trainyard: {path}:3: component.x.declaration: "), text)
        return text

    def test_what_is_wrong_is_named_with_its_place(self):
        good = '{"name": "x", "outputs": [{"name": "a", "schema": "A {\\n  u64 b\\n}\\n"}]}'
        for wrong, right, words in (
                ('"name": "x"', '"nam": "x"', "unknown key 'nam'; did you mean 'name'?"),
                ('"name": "x", ', "", "name: must be given"),
                ('"name": "x"', '"name": "x y"', 'name: "x y" is not allowed; a name of letters'),
                ('{"name": "a"', '{"name": 5', "outputs[0].name: 5 is not allowed; a string"),
                ("u64 b", "u65 b", "outputs[0].schema: "),
                (', "schema"', ', "scheme": "", "schema"', "outputs[0]: unknown key 'scheme'; did you mean 'schema'?"),
                ('"outputs": [', '"outputs": [{"name": "a", "schema": "A {\\n}\\n"}, ', "outputs[1]: there are two ports"),
                ('"outputs"', '"inputs": [{"name": "i", "schema": "A {\\n}\\n", "policy": "hold"}], "outputs"',
                 'inputs[0].policy: "hold" is not allowed; one of: block, latest, drop_oldest'),
                ('"outputs"', '"parameters": [{"name": "p", "kind": "number", "default": "true"}], "outputs"',
                 "parameters[0].default: p: true is not allowed; a number"),
                ('"outputs"', '"parameters": [{"name": "p", "kind": "numbre"}], "outputs"', 'parameters[0].kind: "numbre"'),
                ('"outputs"', '"traits": {"per_rank": 1}, "outputs"', "traits.per_rank: 1 is not allowed; true or false"),
                ("}]}", "}]", "it is not JSON"),
                ("}]}", "}]} and more", "it is not JSON")):
            with self.subTest(right=right):
                (self.folder / "out").write_text(good.replace(wrong, right).replace("\\n", "\\\\n").replace("\\\\n", "\\n"))
                self.assertIn(words, self.plan_error("cat out"))

    def test_a_program_that_fails_prints_too_much_or_nothing(self):
        self.assertIn("failed: no database", self.plan_error("echo no database >&2; exit 3"))
        self.assertIn("it ended with code 4", self.plan_error("exit 4"))
        self.assertIn("it crashed (Killed)", self.plan_error("kill -9 $$$$"))
        self.assertIn("it wrote more than is allowed", self.plan_error("yes"))
        self.assertIn("it is not JSON", self.plan_error("true"))

    def test_a_file_declares_a_member(self):
        (self.folder / "x.json").write_text('{"name": "x"}')
        path = self.file('[component.x]\ncommand = ["sleep", "9"]\ndeclaration = "x.json"\n')
        self.assertIn("process x\n", self.trainyard("plan", path))
        (self.folder / "x.json").unlink()
        self.assertIn("x.json", self.trainyard("plan", path, code=2))

    def test_keys_that_are_not_for_members_or_programs_are_refused(self):
        for key in ('process = "p"', 'thread = "t"'):
            path = self.file(PY_SINK + key + "\n" + SOURCE)
            self.assertIn("is not for a member", self.trainyard("plan", path, code=2))
        path = self.file('[component.x]\ncommand = ["true"]\nremap = { a = "b" }\n')
        self.assertIn("or for a program with the key 'declaration'", self.trainyard("plan", path, code=2))
        path = self.file('[component.x]\nplugin = "tally"\ndeclaration = "describe"\n')
        self.assertIn("is not for a plugin", self.trainyard("plan", path, code=2))
        path = self.file('[topology]\nplacement = { io = ["tally"] }\n' + SOURCE + PY_SINK)
        self.assertIn("'tally' cannot be placed", self.trainyard("plan", path, code=2))
        path = self.file(SOURCE + 'process = "tally"\n' + PY_SINK)
        self.assertIn("the process 'tally' is that of a member", self.trainyard("plan", path, code=2))

    def test_parameters_and_ports_are_checked(self):
        path = self.file(SOURCE + PY_SINK)
        for word, error in (("component.tally.params.factor=2", "factor: 2 is not allowed; a number >= 0 and <= 1"),
                            ("component.tally.params.facto=1", "unknown parameter; did you mean 'factor'?"),
                            ("component.tally.inputs.tick.policy=block", "'tally' has no input 'tick'; did you mean 'ticks'?"),
                            ("component.tally.remap.ticks=/nothing", "input 'ticks' is not connected")):
            with self.subTest(word=word):
                self.assertIn(error, self.trainyard("plan", path, word, code=2))

    def test_types_that_differ_are_shown_with_the_field(self):
        for field, words in (("  string name\n  bool data\n", "they differ in the field 'data' of ArenaBlock: Tensor here, bool there"),
                             ("  string name\n", "they differ in the field 'data' of ArenaBlock, which is only here")):
            declaration = {"name": "x", "inputs": [{"name": "ticks", "schema": f"ArenaBlock {{\n{field}}}\n"}]}
            (self.folder / "x.json").write_text(json.dumps(declaration))
            path = self.file(SOURCE + '[component.x]\ncommand = ["true"]\ndeclaration = "x.json"\n')
            text = self.trainyard("plan", path, code=2)
            self.assertIn(words, text)
            self.assertIn("--- sent:\nArenaBlock {\n  string name\n  Tensor data\n}\n", text)

    def test_plan_and_check_show_it(self):
        path = self.file(SOURCE + PY_SINK)
        self.assertIn("ok (2 components in 2 processes, 1 edges)", self.trainyard("check", path))
        plan = self.trainyard("plan", path)
        self.assertIn("process tally\n", plan)
        self.assertIn("finish_after = 300", plan)
        self.assertIn("/ticks: ticker.ticks -> tally.ticks", plan)
        processes = json.loads(self.trainyard("plan", path, "--json"))["processes"]
        self.assertEqual([process["member"] for process in processes], [True, False])


class ProgramsTest(MembersTest):
    """Tests programs that are not members."""

    def test_a_member_of_another_version_is_refused(self):
        text = self.finish(self.file('[component.new]\ncommand = ["PYTHON", "PROGRAMS/newer.py"]\ndeclaration = "describe"\n'),
                           code=1)
        self.assertIn("the member 'new' implements 'wire 9', and this launcher 'wire 1' (docs/wire_format.md)", text)

    def test_a_program_that_does_not_exist_or_ends_at_once_is_named(self):
        declaration = self.folder / "tally.json"
        declaration.write_text(self.completed(PYTHON, PROGRAMS / "tally.py", "--describe").stdout)
        for command, words in ((["no_such_program"], "no_such_program"), (["true"], "ended with exit code 0"),
                               (["sh", "-c", "exit 3"], "ended with exit code 3")):
            with self.subTest(command=command):
                path = self.file(f"{SOURCE}\n[component.tally]\ncommand = {json.dumps(command)}\n"
                                 'declaration = "tally.json"\n')
                self.assertIn(words, self.finish(path, code=1))

    def test_a_program_without_keys_or_arguments_says_what_it_is(self):
        program = PROGRAMS / "tally.py"
        alone = self.completed(PYTHON, program)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("name this program in a launch file", alone.stderr)
        without = self.completed(PYTHON, program, "--control", "ipc:///nowhere", "--process", "x")
        self.assertEqual(without.returncode, 1)
        self.assertIn("tally.py: the standard input has 0 bytes; the launcher writes the keys", without.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
