import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it } from "vitest";
import { readToEnd } from "#test/raw-http";
import { closePort } from "./stoppable.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

it("serves the connections that wait to be accepted at the moment of the call, and refuses later ones", async () => {
  const server = createServer((_, response) => response.end("served")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  const sockets = Array.from({ length: 50 }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) socket.write(REQUEST);
  const responses = sockets.map((socket) => readToEnd(socket));
  // The system has completed these connections, and this process, which is running this test, has accepted none.
  const { ended } = await closePort(server);
  const refused = await once(connect(port, "127.0.0.1"), "connect").catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  for (const socket of sockets) socket.end();
  const texts = (await Promise.all(responses)).map(({ text }) => text.slice(-6));
  expect(texts).toEqual(sockets.map(() => "served"));
  await ended;
});

it("keeps open connections, idle ones too", async () => {
  const server = createServer((_, response) => response.end("served")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1"); // it listens on a port
  socket.write(REQUEST);
  await once(socket, "data");
  const { ended } = await closePort(server);
  socket.write(REQUEST);
  expect(String(await once(socket, "data"))).toContain("served");
  socket.end();
  await ended;
});

it("resolves for a server that does not listen", async () => {
  const { ended } = await closePort(createServer());
  await ended;
});
