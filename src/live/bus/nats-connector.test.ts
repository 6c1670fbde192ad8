import { afterEach, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { NatsConnector } from "./nats-connector.ts";

type StatusType = "disconnect" | "reconnecting" | "reconnect";

afterEach(() => {
  vi.doUnmock("@nats-io/transport-node");
  vi.doUnmock("@nats-io/jetstream");
});

/** Replaces the NATS client by one whose status events the test emits. */
function mockClient() {
  let emit: (type: StatusType) => void = () => undefined;
  let options: { reconnectDelayHandler?: () => number } = {};
  async function* status() {
    for (;;) yield { type: await new Promise<StatusType>((resolve) => (emit = resolve)) };
  }
  vi.doMock("@nats-io/transport-node", () => ({
    connect: async (connectionOptions: typeof options) => {
      options = connectionOptions;
      return { status, close: async () => undefined };
    },
    createInbox: () => "inbox",
  }));
  const config = { ...STREAM, retention: "limits", discard: "old", deny_delete: true, deny_purge: true };
  const streams = { info: async () => ({ created: "2026-11-21T11:43:55Z", config }) };
  vi.doMock("@nats-io/jetstream", () => ({ jetstream: () => ({}), jetstreamManager: async () => ({ streams }) }));
  return {
    reconnectDelayMs: () => options.reconnectDelayHandler?.() ?? Number.NaN,
    /** Emits status events, each after the one before was handled. */
    async emitAll(...types: readonly StatusType[]) {
      for (const type of types) {
        emit(type);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const STREAM = { name: "s", subjects: ["s.*"], max_msgs_per_subject: -1 };

function openConnector() {
  const { log, lines } = recordedLog();
  const onReconnect = vi.fn();
  const beforeUse = async () => undefined;
  const connector = new NatsConnector("nats://127.0.0.1:1", {
    stream: STREAM,
    replicas: undefined,
    log,
    beforeUse,
    onReconnect,
  });
  return { connector, onReconnect, logged: () => lines.map(({ message }) => message) };
}

it("doubles the bound of the reconnect delay with each attempt, and starts again after a reconnect", async () => {
  const { emitAll, reconnectDelayMs } = mockClient();
  const { connector } = openConnector();
  await connector.context();
  const expectDelay = (bound: number) => {
    const delay = reconnectDelayMs();
    expect(delay).toBeGreaterThanOrEqual(bound / 2);
    expect(delay).toBeLessThanOrEqual(bound);
  };
  await emitAll("disconnect", "reconnecting");
  expectDelay(50);
  await emitAll("reconnecting", "reconnecting");
  expectDelay(200);
  for (let attempt = 4; attempt <= 20; attempt++) await emitAll("reconnecting");
  expectDelay(2_000);
  await emitAll("reconnect", "disconnect", "reconnecting");
  expectDelay(50);
});

it("rejects while it is disconnected, and reports the reconnect once", async () => {
  const { emitAll } = mockClient();
  const { connector, onReconnect, logged } = openConnector();
  const { untilDisconnect } = await connector.context();
  const pending = expect(untilDisconnect(new Promise(() => undefined))).rejects.toThrow(
    "NATS at 127.0.0.1:1 is unreachable.",
  );
  await emitAll("disconnect");
  await pending;
  await expect(connector.context()).rejects.toThrow("NATS at 127.0.0.1:1 is unreachable.");
  await emitAll("reconnecting", "reconnecting", "reconnect");
  expect((await connector.context()).epoch).toMatch(/^[0-9a-z]{13}$/);
  expect(onReconnect).toHaveBeenCalledTimes(1);
  expect(logged()).toEqual(["NATS is unreachable; retrying", "NATS is reachable again"]);
});
