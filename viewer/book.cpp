// SPDX-License-Identifier: Apache-2.0
#include "viewer/book.h"

#include <utility>

namespace trainyard::viewer {

Book::Book(Identity identity) { shelves_.identity = std::move(identity); }

void Book::set_identity(Identity identity) {
  const std::lock_guard lock(mutex_);
  shelves_.identity = std::move(identity);
}

void Book::set_phase(RunPhase phase, const std::string& message) {
  const std::lock_guard lock(mutex_);
  shelves_.phase = phase;
  shelves_.message = message;
}

void Book::set_message(const std::string& message) {
  const std::lock_guard lock(mutex_);
  shelves_.message = message;
}

void Book::set_graph(nlohmann::json graph) {
  const std::lock_guard lock(mutex_);
  shelves_.graph.set(std::move(graph));
}

void Book::set_hyperparameters(nlohmann::json map) {
  const std::lock_guard lock(mutex_);
  shelves_.hyperparameters = std::move(map);
}

bool Book::add(const Metrics& metrics) {
  const std::lock_guard lock(mutex_);
  return shelves_.curves.add(metrics);
}

bool Book::add(const LogRecord& record) {
  const std::lock_guard lock(mutex_);
  return shelves_.log.add(record);
}

void Book::add(Sample sample) {
  const std::lock_guard lock(mutex_);
  shelves_.samples.add(std::move(sample));
}

void Book::add(const SampleResults& results) {
  const std::lock_guard lock(mutex_);
  shelves_.samples.add(results);
}

void Book::add(const Histograms& histograms) {
  const std::lock_guard lock(mutex_);
  shelves_.histograms.add(histograms);
}

void Book::add(const Confusion& confusion) {
  const std::lock_guard lock(mutex_);
  shelves_.confusion.add(confusion);
}

void Book::add(Change change) {
  const std::lock_guard lock(mutex_);
  shelves_.changes.add(std::move(change));
}

void Book::add(Alert alert) {
  const std::lock_guard lock(mutex_);
  shelves_.alerts.add(std::move(alert));
}

void Book::drop_repeated_steps() {
  const std::lock_guard lock(mutex_);
  shelves_.curves.drop_repeated_steps();
}

}  // namespace trainyard::viewer
