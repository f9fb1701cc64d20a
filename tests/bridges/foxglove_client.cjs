// SPDX-License-Identifier: Apache-2.0
// Lets the client that Foxglove has published (@foxglove/ws-protocol) use the bridge in every way that the protocol has,
// and prints what it has seen as JSON: foxglove_client.cjs NODE_MODULES URL
"use strict";
const [, , modules, url] = process.argv;
const { FoxgloveClient } = require(`${modules}/@foxglove/ws-protocol`);
const { WebSocket } = require(`${modules}/ws`);

const socket = new WebSocket(url, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]);
const client = new FoxgloveClient({ ws: socket });
const text = (data) => new TextDecoder().decode(data);
const fail = (error) => {
  console.error(error);
  process.exit(1);
};
client.on("error", fail);
socket.on("unexpected-response", (_, answer) => fail(`refused: ${answer.statusCode}`));
setTimeout(() => fail("not everything has arrived in time"), 100_000).unref();

/** The next event of this name that passes the check. */
function next(name, check = () => true) {
  return new Promise((resolve) => {
    const listener = (event) => {
      if (!check(event)) return;
      client.off(name, listener);
      resolve(event);
    };
    client.on(name, listener);
  });
}

async function main() {
  const channels = new Promise((resolve) => {
    client.on("advertise", (list) => list.length > 0 && resolve(new Map(list.map((each) => [each.topic, each]))));
  });
  const services = new Promise((resolve) => {
    client.on("advertiseServices", (list) => list.length > 0 && resolve(new Map(list.map((each) => [each.name, each]))));
  });
  const seen = {};
  client.subscribe((await channels).get("/metrics").id);
  const message = await next("message");
  seen.step = JSON.parse(text(message.data)).step;
  seen.time = Number((await next("time")).timestamp / 1_000_000_000n);

  // The change is known when all parameters have been read once, so it is repeated until it is seen.
  client.subscribeParameterUpdates(["/optimizer/lr"]);
  const update = next("parameterValues", (event) => event.id === undefined);
  let known = false;
  update.then((event) => {
    known = true;
    seen.update = event.parameters[0].name;
  });
  for (let i = 0; !known; ++i) {
    client.setParameters([{ name: "/optimizer/lr", value: 0.001 + i * 1e-6 }], "early");
    await next("parameterValues", (event) => event.id === "early");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  client.setParameters([{ name: "/optimizer/lr", value: 0.0625 }], "set");
  await next("parameterValues", (event) => event.id === "set");
  client.getParameters(["/optimizer/lr"], "get");
  seen.lr = (await next("parameterValues", (event) => event.id === "get")).parameters[0].value;

  const call = (serviceId, callId) =>
    client.sendServiceCallRequest({ serviceId, callId, encoding: "json", data: new TextEncoder().encode("{}") });
  call((await services).get("/strategy_manager/checkpoint").id, 1);
  seen.checkpoint = JSON.parse(text((await next("serviceCallResponse")).data));
  call(99999, 2);
  seen.failure = (await next("serviceCallFailure")).message;

  client.subscribeConnectionGraph();
  const graph = await next("connectionGraphUpdate");
  seen.publishers = graph.publishedTopics.find((each) => each.name === "/metrics").publisherIds;
  socket.send(JSON.stringify({ op: "subscrib" }));
  seen.status = (await next("status")).message;
  console.log(JSON.stringify(seen));
  client.close();
}

main().catch(fail);
