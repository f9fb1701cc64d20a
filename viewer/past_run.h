// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "archive/run_record.h"
#include "viewer/book.h"

namespace trainyard::viewer {

/// The phase of a launch: what it is doing, or how it ended, and why.
struct Ending {
  RunPhase phase = RunPhase::kUnknown;
  std::string message;
};

/// Returns the phase of a run's newest launch, according to its launch record. The phase is kUnknown if there is no
/// launch record.
Ending ending_of(const archive::RunRecord& record);

/// Returns the record of the run in an output directory if the full name of its newest launch is `run`, otherwise an
/// empty optional.
std::optional<archive::RunRecord> record_of_launch(const std::string& output_directory, const std::string& run);

/// Returns the hyperparameters of the newest launch as a JSON object; the object is empty if none are recorded. Throws
/// kCorrupt if the plan cannot be read.
nlohmann::json hyperparameters_of(const archive::RunRecord& record);

/// Enters how a run ended, and its hyperparameters, into the run's book (everything that the viewer knows about it).
/// Both are in the launch records of the run. If something cannot be read, a message is added to the log in the book.
void enter_record(const archive::RunRecord& record, Book& book);

/// Enters the contents of `identity.directory`, the output directory of a run, into the run's book: metrics, log
/// records, samples, histograms, confusion matrices, changes, and the alerts that follow from the metrics. Does not
/// read the launch records; see enter_record(). The amount of data can be large. Stops early if `stop` is requested. If
/// several launches have written to the directory, steps that a later launch has repeated are left out. If something
/// cannot be read, it is left out and a message is added to the log in the book.
///
/// If the directory contains a recording of the run, the graph is taken from the recording. If the logger has written
/// no metrics, everything else that the recording contains is taken from it, too.
void read_output_directory(const Identity& identity, Book& book, const std::stop_token& stop);

/// Calls `read`. If it throws an Error, the text of the error is added to the log in the book.
void read_or_say(Book& book, const std::function<void()>& read);

}  // namespace trainyard::viewer
