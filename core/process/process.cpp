#include "core/process/process.h"

#include <unistd.h>

#include <algorithm>

#include "core/component/boundary.h"
#include "core/edge/local_edge.h"
#include "core/edge/queue_edge.h"
#include "core/plugin/abi.h"
#include "messages/error.h"

namespace trainyard::core {

namespace {

/// The launcher reports a silence of thirty of these.
constexpr auto kHeartbeat = std::chrono::milliseconds(1000);

Policy policy_of(const std::string& name) {
  if (name == "block") return Policy::kBlock;
  if (name == "latest") return Policy::kLatest;
  if (name == "drop_oldest") return Policy::kDropOldest;
  throw Error(Code::kInvalidArgument, "edge policy '{}' is not allowed; one of: block, latest, drop_oldest", name);
}

/// The plan was made from a description of the plugin; the library may have been built anew since.
template <class Port>
Port& find_port(const Component& component, const std::vector<Port*>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, [](const Port* port) { return port->name(); });
  if (found != ports.end()) return **found;
  throw Error(Code::kNotFound, "{} has no port '{}', which the plan connects; was its plugin replaced?",
              component.where(), name);
}

}  // namespace

Process::Process(std::string name, const std::string& control_endpoint)
    : name_(std::move(name)), link_(zmq_, name_, control_endpoint) {
  loop_.add(link_);
  link_.on<ProcessPlan>([this](const ProcessPlan& plan) { on_plan(plan); });
  link_.on<Connect>([this](const Connect& connect) { on_connect(connect); });
  link_.on<Transition>([this](const Transition& transition) { on_transition(transition); });
  link_.on<Request>([this](const Request& request) { on_request(request); });
  link_.on<PeerGone>([this](const PeerGone& peer) { on_peer_gone(peer); });
}

// Workers first, by hand: their threads use the pool, the plugins and this object's loop. Log lines must not reach the
// gateway while it goes.
Process::~Process() {
  if (logs_ != nullptr) logs_->listen({});
  for (auto& [thread, worker] : workers_) worker->stop();
}

// The first word is ours: the launcher answers it with the plan.
int Process::run() {
  link_.send(Hello{name_, ::getpid(), std::string(host_abi_tag())});
  loop_.after(kHeartbeat, [this] { beat(); });
  loop_.run();
  return exit_code_;
}

void Process::beat() {
  link_.send(Heartbeat{name_, beats_++});
  loop_.after(kHeartbeat, [this] { beat(); });
}

void Process::on_plan(const ProcessPlan& plan) {
  plan_ = plan;
  logs_ = std::make_unique<LogHub>(plan.log_level);
  // One loader for the process: a library that two components need is loaded once.
  plugins_ =
      std::make_unique<PluginLoader>(plan.plugin_path.empty() ? PluginLoader::default_directories() : plan.plugin_path);
  pool_ = std::make_unique<SharedPool>();
  rendezvous_ = make_folder_rendezvous(plan.run_directory + "/rendezvous");
  // Whom to blame: the component that is being made, or (empty) the process.
  std::string at;
  try {
    make_workers();
    for (const ComponentPlan& component : plan_.components) {
      at = component.name;
      // The plan lists all components of the run; the others are only known by name here.
      if (component.process == name_) make_component(component);
    }
    at.clear();
    for (const EdgePlan& edge : plan_.edges) make_edge(edge);
    for (const EdgePlan& edge : log_edges()) input_of(edge).set_connections(input_of(edge).connections() + 1);
    open_gateway();
    configure_all();
  } catch (...) {
    // The process stays and answers: the launcher decides when it ends.
    link_.send(StateChanged{at, "error", describe_current_exception()});
    exit_code_ = 1;
  }
}

// All of them before the first component, since components refer to their loops.
void Process::make_workers() {
  for (const ComponentPlan& component : plan_.components) {
    if (component.process != name_) continue;
    auto& worker = workers_[component.thread];
    if (worker == nullptr) worker = std::make_unique<Worker>(name_, component.thread);
  }
}

// Constructed on the control thread, before the worker's thread exists; all that follows runs on the worker's.
void Process::make_component(const ComponentPlan& plan) {
  Worker& worker = *workers_.at(plan.thread);
  ComponentContext context;
  context.where = "component '" + plan.name + "'";
  context.places = plan.places;
  context.parameters = plan.parameters;
  context.seed = plan_.seed;
  context.rank = plan.rank;
  context.world_size = plan.world_size;
  context.output_directory = plan_.output_directory;
  context.log = logs_->logger(plan.name);
  context.plugins = plugins_.get();
  context.pool = pool_.get();
  context.rendezvous = rendezvous_.get();
  context.name = plan.name;
  context.index = plan.index;
  context.loop = &worker.loop;
  // May be called from any loop; the link is the control loop's.
  context.finish_run = [this, name = plan.name](const std::string& reason, bool success) {
    loop_.post([this, name, reason, success] { link_.send(RunFinished{name, reason, success}); });
  };
  // As the launcher found it: all processes of a run load the same file.
  const std::string library = plan.library.empty() ? plugins_->find(Component::kKind, plan.plugin) : plan.library;
  auto* made = static_cast<Component*>(PluginLoader::create(plugins_->load(library), &context, context.where));
  worker.components.emplace_back(made);
  components_[plan.index] = made;
  // Called on the component's loop; the link belongs to the control loop.
  made->on_error([this, made](const std::string& what) {
    loop_.post([this, made, what] { report_state(*made, "error", what); });
  });
}

// Called for every edge that touches this process. The receiving end of a remote edge is made later, in on_connect(),
// when its publisher's address is known; all that is done for it here is to count it.
void Process::make_edge(const EdgePlan& edge) {
  const Policy policy = policy_of(edge.policy);
  if (is_mine(edge.to)) {
    InputBase& input = input_of(edge);
    input.set_connections(input.connections() + 1);
  }
  if (!is_mine(edge.from)) return;
  Component& from = *components_.at(edge.from);
  Worker& sender = *workers_.at(component_plan(edge.from).thread);
  OutputBase& output = find_port(from, from.outputs(), edge.output);
  // To another process: the sender's thread publishes, and whoever it is for will subscribe.
  if (!is_mine(edge.to)) {
    Outlet& outlet = sender.open_outlet(zmq_, address_of(component_plan(edge.from).thread), *pool_);
    output.add_edge(outlet.add_edge(output, edge.topic, edge.id, policy, edge.window_messages, edge.window_bytes));
    return;
  }
  Worker& receiver = *workers_.at(component_plan(edge.to).thread);
  InputBase& input = input_of(edge);
  if (&sender == &receiver) {
    sender.edges.push_back(std::make_unique<LocalEdge>(output, input, sender.loop, edge.id, policy,
                                                       edge.window_messages, edge.window_bytes));
  } else {
    auto made = std::make_unique<QueueEdge>(output, input, sender.loop, receiver.loop, edge.id, policy,
                                            edge.window_messages, edge.window_bytes);
    sender.loop.add(made->credit_source());
    receiver.loop.add(made->message_source());
    sender.edges.push_back(std::move(made));
  }
  output.add_edge(*sender.edges.back());
}

InputBase& Process::input_of(const EdgePlan& edge) const {
  const Component& to = *components_.at(edge.to);
  return find_port(to, to.inputs(), edge.input);
}

/// Who of mine listens to the log. It has no sender that a plan could name, since every process publishes it; so each
/// reader subscribes at every gateway, its own included, as a visitor does: over the socket, and never holding up
/// anybody.
std::vector<EdgePlan> Process::log_edges() const {
  std::vector<EdgePlan> edges;
  for (const auto& [index, component] : components_) {
    for (const InputBase* input : component->inputs()) {
      const auto topic = component_plan(index).topics.find(input->name());
      if (topic == component_plan(index).topics.end() || topic->second != kLogTopic) continue;
      if (input->type().fingerprint != message_type<LogRecord>().fingerprint) continue;
      edges.push_back({.id = kVisitorEdge,
                       .topic = kLogTopic,
                       .to = index,
                       .input = input->name(),
                       .policy = "drop_oldest",
                       .window_messages = input->options().window_messages,
                       .window_bytes = input->options().window_bytes,
                       .transport = "tcp"});
    }
  }
  return edges;
}

// Not described by any plugin, so its context is made by hand.
void Process::open_gateway() {
  ComponentContext context;
  context.where = "process '" + name_ + "'";
  context.parameters = "{}";
  context.name = name_;
  context.log = logs_->logger(name_);
  context.loop = &loop_;
  context.pool = pool_.get();
  gateway_ = std::make_unique<Gateway>(context, zmq_, address_of("gateway"),
                                       [this](const std::string& topic) { return find_outputs(topic); });
  logs_->listen([this](const LogRecord& record) { gateway_->publish(record); });
}

void Process::configure_all() {
  for (auto& [index, component] : components_) {
    // Filled before the first component is asked, so that the last answer is known as such.
    unconfigured_.insert(component->name());
    unfinished_.insert(component->name());
  }
  for (auto& [thread, worker] : workers_) {
    std::vector<std::uint32_t> cpus;
    for (const auto& component : worker->components) {
      const auto& wanted = component_plan(component->context().index).cpus;
      cpus.insert(cpus.end(), wanted.begin(), wanted.end());
    }
    // A thread may run wherever one of its components may.
    worker->start(std::move(cpus));
  }
  for (auto& [index, component] : components_) {
    Component* each = component;
    // on_configure runs on the component's own thread, so components that take long to configure do so side by side.
    each->loop().post([this, each] { bring(*each, "inactive"); });
  }
}

// The launcher gives an address for every thread; what it does not name, like the gateway, lies in the run's directory.
std::string Process::address_of(const std::string& thread) const {
  const auto given = plan_.bind.find(thread);
  if (given != plan_.bind.end()) return given->second;
  std::string file = name_ + "." + thread;
  std::ranges::replace(file, '/', '~');
  return "ipc://" + plan_.run_directory + "/" + file;
}

Component* Process::find_component(const std::string& name) const {
  const auto found = std::ranges::find(components_, name, [](const auto& entry) { return entry.second->name(); });
  return found == components_.end() ? nullptr : found->second;
}

// On the control thread; the lists that it walks are complete before the gateway opens.
std::vector<OutputBase*> Process::find_outputs(const std::string& topic) const {
  std::vector<OutputBase*> found;
  for (const auto& [index, component] : components_) {
    for (OutputBase* output : component->outputs()) {
      const auto named = component_plan(index).topics.find(output->name());
      if (named != component_plan(index).topics.end() && named->second == topic) found.push_back(output);
    }
  }
  return found;
}

}  // namespace trainyard::core
