// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "archive/run_record.h"
#include "viewer/book.h"

namespace trainyard::viewer {

/// The phase of a launch, and the reason why it ended, if it has.
struct Ending {
  RunPhase phase = RunPhase::kUnknown;
  std::string message;
};

/// Returns what the newest launch of a run is doing, or how it ended, as its record says.
Ending ending_of(const archive::RunRecord& record);

/// Returns the record of the run in an output directory if its newest launch has the full name `run`.
std::optional<archive::RunRecord> record_of_launch(const std::string& output_directory, const std::string& run);

/// Returns the hyperparameters of the newest launch, by their names; an empty object if it has kept none. Throws
/// kCorrupt.
nlohmann::json hyperparameters_of(const archive::RunRecord& record);

/// Enters what the records of a run say into a book: how it ended, and its hyperparameters. The log of the book says
/// what could not be read.
void enter_record(const archive::RunRecord& record, Book& book);

/// Enters what a run has left in its output directory apart from the records, which can be much: metrics, log records,
/// predictions, changes, and the alerts that follow from the metrics. If several launches have written to the
/// directory, steps that a later launch has repeated are left out. What cannot be read is left out, too, and the log of
/// the book says so.
///
/// If the recorder has recorded the run there, the graph comes from the recording. So does all the rest if the logger
/// has written nothing.
void read_output_directory(const Identity& identity, Book& book, const std::stop_token& stop);

/// Calls a function that reads something. If the function throws an Error, writes its text to the log of the book.
void read_or_say(Book& book, const std::function<void()>& read);

}  // namespace trainyard::viewer
