// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "components/accelerator_host/arena_readers.h"
#include "components/accelerator_host/histogram_report.h"
#include "components/accelerator_host/reporter.h"
#include "components/accelerator_host/run_position.h"
#include "components/accelerator_host/runner.h"
#include "components/accelerator_host/snapshots.h"
#include "components/accelerator_host/validation_report.h"
#include "core/component/component.h"
#include "messages/metrics.h"
#include "messages/prediction.h"
#include "messages/step.h"

namespace trainyard::host {

/// The objects that all orders of an accelerator host share, such as the runner, the settings, the position of the run
/// and the outputs for results. The accelerator host owns the Workplace, which outlives every order.
struct Workplace {
  /// Those inputs and outputs of the accelerator host that its orders use.
  struct Ports {
    Output<Snapshot>& snapshot;
    Output<ArenaReadable>& arena_readable;
    const InputBase& arena_read;
    Output<Gradients>& gradients;
    Output<Prediction>& predictions;
    Reporter::Outputs reports;
    Output<Histograms>& histograms;
    Output<Confusion>& confusion;
    Output<SampleResults>& samples;
    Snapshots::RunLater run_later;
  };

  /// Parameters of the accelerator host, which are read again in every step, because users can change most of them
  /// during the run.
  struct Settings {
    const Parameter<double>& clip_norm;
    const Parameter<double>& clip_value;
    const Parameter<std::int64_t>& log_every_steps;
    const Parameter<bool>& log_device_stats;
    const Parameter<std::int64_t>& histograms_every_steps;
    const Parameter<std::int64_t>& samples_per_validation;
    const Parameter<bool>& confusion_matrix;
  };

  Workplace(const ComponentContext& host_context, Runner& host_runner, const Ports& ports, const Settings& parameters)
      : context(host_context),
        runner(host_runner),
        settings(parameters),
        gradients(ports.gradients),
        predictions(ports.predictions),
        snapshots(runner, ports.snapshot, context.rank, ports.run_later),
        readers(runner, ports.arena_readable, ports.arena_read, context.rank),
        reporter(runner, position, ports.reports, context, parameters.log_device_stats),
        histograms(runner, position, ports.histograms, context, parameters.histograms_every_steps),
        validation(runner, position,
                   {.confusion = ports.confusion, .samples = ports.samples, .texts = ports.predictions}, context,
                   {.samples = parameters.samples_per_validation, .confusion = parameters.confusion_matrix}) {}
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  /// Returns true while the checkpoint writer or another component still reads the parameters, so that the optimizer
  /// must wait.
  bool arena_is_read() const { return snapshots.pending() || readers.pending(); }
  /// Returns true if even the next forward pass must wait, because it would change buffers that another component still
  /// reads.
  bool hold_computing() const { return snapshots.hold_computing() || readers.hold_computing(); }

  const ComponentContext& context;
  Runner& runner;
  Settings settings;
  Output<Gradients>& gradients;
  Output<Prediction>& predictions;
  RunPosition position;
  Snapshots snapshots;
  ArenaReaders readers;
  // Declared after `position`, to which they refer.
  Reporter reporter;
  HistogramReport histograms;
  ValidationReport validation;
};

}  // namespace trainyard::host
