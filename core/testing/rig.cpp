// SPDX-License-Identifier: Apache-2.0
#include "core/testing/rig.h"

#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <filesystem>
#include <map>

#include "core/edge/local_edge.h"
#include "core/loop/event_loop.h"
#include "core/memory/shared_pool.h"
#include "core/plugin/loader.h"
#include "core/process/denormals.h"
#include "messages/error.h"

namespace trainyard::testing {

namespace {

/// A component that represents the test: its outputs send the messages of Rig::send(), and its inputs store the
/// messages that other components send.
class Probe final : public Component {
 public:
  explicit Probe(ComponentContext& context) : Component(context) {}

  /// An output whose type is known only at run time.
  class AnyOutput final : public OutputBase {
   public:
    AnyOutput(Component& owner, const std::string& topic, const MessageType& type)
        : OutputBase(owner, topic, "", type, {}) {}
    void send(std::shared_ptr<const void> message) { send_erased(std::move(message)); }
  };

  /// An input that stores all messages.
  class AnyInput final : public InputBase {
   public:
    AnyInput(Component& owner, const std::string& topic, const MessageType& type)
        : InputBase(owner, topic, "", type, {}) {}
    void handle(const core::Envelope& envelope) override { messages.push_back(envelope.message); }
    std::vector<std::shared_ptr<const void>> messages;
  };
};

/// An edge to the probe that lets messages wait at the sender as Rig::set_window() and Rig::take() require.
class ProbeReceiver final : public core::Edge {
 public:
  ProbeReceiver(OutputBase& output, Probe::AnyInput& input, const std::map<std::string, std::size_t>& windows)
      : core::Edge(output, 0, Policy::kBlock, 1u << 30, 1ull << 60), input_(input), windows_(windows) {}
  // A message that is transmitted is handled immediately, so no message is ever in flight.
  bool drained() const override { return waiting() == 0; }
  std::size_t allowed = 0;  ///< The number of messages that take() has permitted in addition to the window.

 private:
  // The limit is the number of messages that the probe has stored, not credit, because the test determines how many are
  // read.
  bool has_room() const override {
    const auto limit = windows_.find(input_.name());
    return limit == windows_.end() || input_.messages.size() < limit->second + allowed;
  }
  void transmit(const core::Envelope& envelope) override { input_.handle(envelope); }

  Probe::AnyInput& input_;
  const std::map<std::string, std::size_t>& windows_;
};

std::string topic_of(const std::string& port, const std::string& topic) { return topic.empty() ? port : topic; }

}  // namespace

struct Rig::Impl {
  World world;
  bool own_directory = false;
  core::EventLoop loop{"test"};
  core::SharedPool pool;
  std::unique_ptr<core::PluginLoader> plugins;
  std::shared_ptr<spdlog::logger> log;
  std::vector<std::unique_ptr<Component>> components;
  std::unique_ptr<Probe> probe;
  std::map<std::string, std::unique_ptr<Probe::AnyOutput>> probe_outputs;
  std::map<std::string, std::unique_ptr<Probe::AnyInput>> probe_inputs;
  std::vector<std::unique_ptr<core::Edge>> edges;
  std::vector<ProbeReceiver*> receivers;
  std::map<std::string, std::size_t> windows;
  std::string finished;
  std::string failure;

  /// Connects an output to an input, with the policy and the windows that the input declares.
  void connect(OutputBase& output, InputBase& input) {
    if (&output.type() != &input.type() && output.type().fingerprint != input.type().fingerprint) {
      throw Error(Code::kTypeMismatch, "output '{}' sends {}, input '{}' takes {}", output.name(), output.type().name,
                  input.name(), input.type().name);
    }
    const InputOptions& options = input.options();
    edges.push_back(std::make_unique<core::LocalEdge>(output, input, loop, static_cast<std::uint32_t>(edges.size()),
                                                      options.policy, options.window_messages, options.window_bytes));
    edges.back()->set_receiver(input.owner().context().index);
    output.add_edge(*edges.back());
    input.set_connections(input.connections() + 1);
    input.add_sender(output.owner().context().index);
  }

  /// Connects the output to the inputs of all other components that listen to its topic, and to the probe.
  void wire_output(Component& from, OutputBase& output) {
    const std::string topic = topic_of(output.name(), output.options().topic);
    for (auto& to : components) {
      if (to.get() == &from) continue;
      for (InputBase* input : to->inputs()) {
        if (topic_of(input->name(), input->options().topic) == topic) connect(output, *input);
      }
    }
    auto& kept = probe_inputs[topic];
    if (kept == nullptr) kept = std::make_unique<Probe::AnyInput>(*probe, topic, output.type());
    auto receiver = std::make_unique<ProbeReceiver>(output, *kept, windows);
    receiver->set_receiver(probe->context().index);
    receivers.push_back(receiver.get());
    edges.push_back(std::move(receiver));
    output.add_edge(*edges.back());
  }

  /// Connects an input to an output of the probe, so that the test can send messages to it. Inputs that also have a
  /// sender in the rig are included, because the test may send on any topic.
  void wire_unconnected_input(InputBase& input) {
    const std::string topic = topic_of(input.name(), input.options().topic);
    auto& source = probe_outputs[topic];
    if (source == nullptr) source = std::make_unique<Probe::AnyOutput>(*probe, topic, input.type());
    connect(*source, input);
  }

  void wire() {
    for (auto& component : components) {
      for (OutputBase* output : component->outputs()) wire_output(*component, *output);
    }
    for (auto& component : components) {
      for (InputBase* input : component->inputs()) wire_unconnected_input(*input);
    }
  }
};

// Denormal numbers are treated as in the processes of a run.
Rig::Rig() : impl_(std::make_unique<Impl>()) {
  core::flush_denormals();
  impl_->world.plugin_directories = core::PluginLoader::default_directories();
  impl_->log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::stderr_sink_mt>());
}

// The components are destroyed first, because they may still write into the directory.
Rig::~Rig() {
  impl_->components.clear();
  if (impl_->own_directory) std::filesystem::remove_all(impl_->world.output_directory);
}

Rig::World& Rig::world() { return impl_->world; }

ComponentContext Rig::make_context(const std::string& name, const std::string& parameters_json) {
  World& world = impl_->world;
  if (world.output_directory.empty()) {
    // The directory is made when the first component is added, so that the test can set another one before.
    std::string pattern = (std::filesystem::temp_directory_path() / "trainyard-rig-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(Code::kIo, "cannot make a directory like {}", pattern);
    world.output_directory = pattern;
    impl_->own_directory = true;
  }
  // The loader is made when the first component is added, so that the test can set the directories before.
  if (impl_->plugins == nullptr) impl_->plugins = std::make_unique<core::PluginLoader>(world.plugin_directories);
  ComponentContext context;
  context.where = "component '" + name + "'";
  context.parameters = parameters_json;
  context.seed = world.seed;
  context.rank = world.rank;
  context.world_size = world.world_size;
  context.output_directory = world.output_directory;
  context.log = impl_->log;
  context.plugins = impl_->plugins.get();
  context.pool = &impl_->pool;
  if (world.rendezvous == nullptr) world.rendezvous = core::make_local_rendezvous();
  context.rendezvous = world.rendezvous.get();
  context.name = name;
  context.index = static_cast<std::uint32_t>(impl_->components.size());
  context.loop = &impl_->loop;
  context.finish_run = [this](const std::string& reason, bool) {
    // Only the first reason is kept, as in a real run.
    if (impl_->finished.empty()) impl_->finished = reason;
  };
  return context;
}

void Rig::adopt(std::unique_ptr<Component> component) {
  component->on_error(
      [this, name = component->name()](const std::string& what) { impl_->failure = name + ": " + what; });
  impl_->components.push_back(std::move(component));
}

void Rig::start() {
  ComponentContext context = make_context("probe", "{}");
  impl_->probe = std::make_unique<Probe>(context);
  impl_->wire();
  impl_->probe->transition(State::kInactive);
  impl_->probe->transition(State::kActive);
  for (auto& component : impl_->components) component->transition(State::kInactive);
  // Components are activated in reverse order of addition, so that receivers, which are usually added later, are active
  // first.
  for (auto it = impl_->components.rbegin(); it != impl_->components.rend(); ++it) (*it)->transition(State::kActive);
}

// Components are deactivated in the order in which they were added, so that senders stop before their receivers.
void Rig::stop() {
  for (auto& component : impl_->components) {
    if (component->state() == State::kActive) component->transition(State::kInactive);
    run_until_idle();
  }
  for (auto& component : impl_->components) {
    if (component->state() == State::kInactive) component->transition(State::kFinalized);
  }
}

void Rig::send_erased(const std::string& topic, std::shared_ptr<const void> message, const MessageType& type) {
  const auto found = impl_->probe_outputs.find(topic);
  if (found == impl_->probe_outputs.end()) throw Error(Code::kNotFound, "no input listens to '{}'", topic);
  if (found->second->type().fingerprint != type.fingerprint) {
    throw Error(Code::kTypeMismatch, "'{}' takes {}, not {}", topic, found->second->type().name, type.name);
  }
  found->second->send(std::move(message));
}

std::vector<std::shared_ptr<const void>> Rig::received_erased(const std::string& topic, const MessageType& type) const {
  const auto found = impl_->probe_inputs.find(topic);
  if (found == impl_->probe_inputs.end()) throw Error(Code::kNotFound, "no output sends '{}'", topic);
  if (found->second->type().fingerprint != type.fingerprint) {
    throw Error(Code::kTypeMismatch, "'{}' carries {}, not {}", topic, found->second->type().name, type.name);
  }
  return found->second->messages;
}

void Rig::run_until(const std::function<bool()>& done, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!done()) {
    // The condition is checked after every round of the loop, so a test does not wait longer than necessary.
    const bool worked = impl_->loop.run_once();
    // The component has caught the exception of its handler. It is reported to the test here, where the test waits.
    if (!impl_->failure.empty()) throw Error(Code::kInternal, "{}", std::exchange(impl_->failure, {}));
    if (std::chrono::steady_clock::now() > end) {
      throw Error(Code::kTimeout, "the condition did not come true in {} ms", deadline.count());
    }
    if (!worked && !done()) impl_->loop.wait(std::chrono::milliseconds(10));
  }
}

void Rig::run_until_idle() {
  while (impl_->loop.run_once()) {
  }
  if (!impl_->failure.empty()) throw Error(Code::kInternal, "{}", std::exchange(impl_->failure, {}));
}

const std::string& Rig::finished() const { return impl_->finished; }

void Rig::set_window(const std::string& topic, std::size_t window) { impl_->windows[topic] = window; }

// The call of on_room() sends messages that have waited.
void Rig::take(const std::string& topic, std::size_t count) {
  for (ProbeReceiver* receiver : impl_->receivers) {
    if (topic_of(receiver->output().name(), receiver->output().options().topic) != topic) continue;
    receiver->allowed += count;
    receiver->on_room();
  }
}

}  // namespace trainyard::testing
