#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the Python and JavaScript clients with tools from PyPI and npm: checks their types, runs their tests, and
# installs the packages in the same way as users do. tools/check.sh runs this script after the stage `build`.
#
#   tools/stages/clients.sh BUILD
set -euo pipefail
build="$(realpath "$1")"
python="$PWD/tools/clients/python"
javascript="$PWD/tools/clients/javascript"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export TRAINYARD_CLIENT_SAMPLES="$build/bin/trainyard_client_samples" TRAINYARD_PROGRAM="$build/bin/trainyard"
export TRAINYARD_PLUGIN_PATH="$build/test_plugins:$build/plugins"

echo "-- Python: types, and the tests with the newest pyzmq"
python3 -m venv "$work/venv"
cp -r "$python" "$work/python"
"$work/venv/bin/pip" install --quiet "$work/python[arrays,mlflow,wandb]" mypy
(cd "$work/python" && "$work/venv/bin/mypy" --strict trainyard)
rm -r "$work/python/trainyard"  # From here on, the installed package is meant.
for test in trainyard codec session bridges; do
  # The tests expect to be inside the source tree.
  "$work/venv/bin/python" -B - "$python/${test}_test.py" <<'PYTHON'
import runpy, sys, pathlib
test = pathlib.Path(sys.argv[1])
import trainyard
assert "site-packages" in trainyard.__file__, trainyard.__file__
sys.argv = [str(test)]
sys.path.append(str(test.parent))
runpy.run_path(str(test), run_name="__main__")
PYTHON
done

echo "-- Python: the bridges with the newest packages of Weights & Biases and MLflow"
# Newer versions of wandb cannot read their own files in Python.
python3 -m venv "$work/wandb_reader"
"$work/wandb_reader/bin/pip" install --quiet "wandb==0.23.1"
TRAINYARD_TRACKERS_PYTHON="$work/venv/bin/python" TRAINYARD_WANDB_READER="$work/wandb_reader/bin/python" \
  /usr/bin/python3 -B tests/members/trackers_test.py

echo "-- JavaScript: types and tests"
if grep -q '"resolved"' "$javascript/package-lock.json"; then
  echo "package-lock.json names the host of a registry; delete it and run npm install in $javascript" >&2
  exit 1
fi
# The tests expect to be inside a source tree, so they run in a copy, because npm must not write into the real source
# tree.
mkdir -p "$work/tree/tools/clients" "$work/tree/tests"
cp -r "$javascript" "$work/tree/tools/clients/"
ln -s "$PWD/docs" "$PWD/launch" "$PWD/examples" "$work/tree/"
cp -r tests/members tests/python "$work/tree/tests/"
ln -s "$python" "$work/tree/tools/clients/python"
cd "$work/tree/tools/clients/javascript"
rm -rf node_modules types
npm ci --no-fund --no-audit --loglevel=error
npm test
npm pack --loglevel=error --pack-destination "$work"

echo "-- JavaScript: members, with the cases that C++ and Python pass"
for test in contract javascript; do
  TRAINYARD_MEMBER_LANGUAGES=javascript /usr/bin/python3 -B "$work/tree/tests/members/${test}_test.py"
done

echo "-- JavaScript: a TypeScript program that uses the package"
mkdir "$work/user"
cat >"$work/user/package.json" <<'JSON'
{ "type": "module", "private": true }
JSON
cat >"$work/user/user.ts" <<'TYPESCRIPT'
import { findRun, Timeout, type Header, type Received } from "trainyard";
import { Schema } from "trainyard/codec";
import { Component, runMember, Tensor } from "trainyard/member";

const name: string = new Schema("A {\n  u8 a\n}\n").name;
findRun(name).then(async (run) => {
  for await (const { header, message } of run.subscribe(["/metrics"], { integers: "number", timeout: null })) {
    const known: Header = header;
    console.log(known.sequence + 1n, message.step);
  }
}, (error: Error) => console.log(error instanceof Timeout, error.message));
export type Again = Received;
class Member extends Component {
  static override inputs = { metrics: { topic: "/metrics", type: "Metrics", policy: "latest" as const } };
  static override outputs = { sums: { type: "Sum {\n  Tensor sum\n}\n" } };
  onMetrics(message: { step: bigint }): void { this.outputs.sums.send({ sum: Tensor.from(new Float32Array(2)) }); }
}
export const run = (): Promise<never> => runMember(Member);
// @ts-expect-error A policy is a text.
class Wrong extends Component { static override inputs = { metrics: { type: "Metrics", policy: 7 } }; }
// @ts-expect-error There is no such policy.
findRun().then((run) => run.subscribe("/metrics", { policy: "block" }), () => {});
TYPESCRIPT
cd "$work/user"
npm install --no-fund --no-audit --loglevel=error "$work"/trainyard-*.tgz typescript@5 @types/node@20
npx tsc --strict --target es2022 --module nodenext --skipLibCheck --types node user.ts
XDG_RUNTIME_DIR="$work" node user.js | grep -q "no run named 'A'"
