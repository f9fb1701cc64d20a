# SPDX-License-Identifier: Apache-2.0
"""Replaces the part of the package wandb that the bridge uses, in tests. Arguments that the real package does not
accept raise an error."""
import fake_service


class Settings:
    def __init__(self, *, console, silent, disable_git, save_code, init_timeout, x_disable_stats):
        pass


class Html:
    def __init__(self, data):
        self.data = data


class _Config:
    def update(self, values, *, allow_val_change):
        fake_service.call("config", values=values)


class _Summary:
    def update(self, values):
        fake_service.call("summary", values=values)


class Run:
    def __init__(self, id, folder):
        self.id, self.dir, self.url = id, folder + "/wandb/run-fake/files", f"https://fake/runs/{id}"
        self.offline, self.config, self.summary = False, _Config(), _Summary()

    def define_metric(self, name, *, step_metric=None, hidden=None):
        fake_service.call("define_metric", name=name, step_metric=step_metric)

    def log(self, data):
        shown = {name: value.data if isinstance(value, Html) else value for name, value in data.items()}
        fake_service.call("log", data=shown)

    def finish(self, *, exit_code):
        fake_service.call("finish", exit_code=exit_code)


def init(*, id, resume, name, project, entity, group, notes, tags, dir, mode, config, settings):
    fake_service.call("init", id=id, resume=resume, name=name, project=project, entity=entity, group=group, notes=notes,
                      tags=tags, dir=dir, mode=mode, config=config)
    return Run(id, dir)
