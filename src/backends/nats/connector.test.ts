import { expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { NatsConnector } from "./connector.ts";

type StatusType = "disconnect" | "reconnecting" | "reconnect";

/** Replaces the NATS client, and the one of an earlier test, by one whose status events the test emits. */
function mockClient(info: { readonly cluster?: string; readonly version?: string } = {}) {
  const events: StatusType[] = [];
  let wake: () => void = () => undefined;
  let allHandled: () => void = () => undefined;
  let options: { reconnectDelayHandler?: () => number; servers?: readonly string[] } = {};
  async function* status() {
    for (;;) {
      const type = events.shift();
      if (type !== undefined) yield { type };
      else {
        allHandled();
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  }
  vi.doMock("@nats-io/transport-node", () => ({
    connect: async (connectionOptions: typeof options) => {
      options = connectionOptions;
      return { status, close: async () => undefined, info };
    },
    createInbox: () => "inbox",
  }));
  const config = { ...STREAM, retention: "limits", discard: "old", deny_delete: true, deny_purge: true };
  const created = { created: "2026-11-21T11:43:55Z", config, state: { last_seq: 0 } };
  const notFound = Object.assign(new Error("stream not found"), { name: "StreamNotFoundError" });
  const add = vi.fn<(config: object) => Promise<typeof created>>(async () => created);
  const streams = { info: async () => (info.cluster ? Promise.reject(notFound) : created), add };
  vi.doMock("@nats-io/jetstream", () => ({ jetstream: () => ({}), jetstreamManager: async () => ({ streams }) }));
  return {
    add,
    /** Replaces the stream by one that was created later. */
    recreateStream: () => {
      created.created = "2026-11-22T00:00:00Z";
    },
    servers: () => options.servers,
    reconnectDelayMs: () => options.reconnectDelayHandler?.() ?? Number.NaN,
    /** Emits status events, each after the one before was handled. */
    async emitAll(...types: readonly StatusType[]) {
      for (const type of types) {
        events.push(type);
        const handled = new Promise<void>((resolve) => (allHandled = resolve));
        wake();
        await handled;
      }
    },
  };
}

const STREAM = { name: "s", subjects: ["s.*"], max_msgs_per_subject: -1 };

function openConnector(url = "nats://127.0.0.1:1", replicas?: number) {
  const { log, lines } = recordedLog();
  const onReset = vi.fn();
  const beforeUse = async () => undefined;
  const connector = new NatsConnector(url, {
    stream: STREAM,
    markerSubject: "s.-",
    replicas,
    log,
    beforeUse,
    onReset,
  });
  return { connector, onReset, logged: () => lines.map(({ message }) => message) };
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
  const { connector, onReset, logged } = openConnector();
  const { untilDisconnect } = await connector.context();
  const pending = expect(untilDisconnect(new Promise(() => undefined))).rejects.toThrow(
    "NATS at 127.0.0.1:1 is unreachable.",
  );
  await emitAll("disconnect");
  await pending;
  await expect(connector.context()).rejects.toThrow("NATS at 127.0.0.1:1 is unreachable.");
  await emitAll("reconnecting", "reconnecting", "reconnect");
  expect((await connector.context()).epoch).toMatch(/^[0-9a-z]{13}$/);
  expect(onReset).toHaveBeenCalledTimes(1);
  expect(logged()).toEqual(["NATS is unreachable; retrying", "NATS is reachable again"]);
});

it("reports that the stream has another epoch, because deliveries of the one before may be incomplete", async () => {
  const { recreateStream } = mockClient();
  const { connector, onReset } = openConnector();
  const { epoch } = await connector.context();
  connector.invalidateStream();
  expect((await connector.context()).epoch).toBe(epoch);
  expect(onReset).not.toHaveBeenCalled();
  recreateStream();
  connector.invalidateStream();
  expect((await connector.context()).epoch > epoch).toBe(true);
  expect(onReset).toHaveBeenCalledTimes(1);
});

it("connects to the hosts of its URL, with the port 4222 if it has none", async () => {
  const { servers } = mockClient();
  const { connector } = openConnector("tls://user:mellon@a,b:4223,[::1],[::1]:4224");
  await connector.context();
  expect(servers()).toEqual(["a:4222", "b:4223", "[::1]:4222", "[::1]:4224"]);
  expect(connector.address).toBe("a,b:4223,[::1],[::1]:4224");
});

it.each([
  ["3 copies in a cluster", undefined, 3],
  ["as many copies as its option says", 5, 5],
])("creates a stream with %s", async (_, replicas, stored) => {
  const { add } = mockClient({ cluster: "test" });
  await openConnector("nats://a", replicas).connector.context();
  expect(add).toHaveBeenCalledExactlyOnceWith({ ...STREAM, num_replicas: stored });
});

it("says what to do if a cluster has too few servers for the copies of a stream", async () => {
  const { add } = mockClient({ cluster: "test" });
  add.mockRejectedValue(Object.assign(new Error("no suitable peers for placement"), { code: 10_005 }));
  await expect(openConnector().connector.context()).rejects.toThrow(
    /The stream s needs 3 servers of the NATS cluster .*replicas: 1/,
  );
});

it.each([
  ["2.10.29", "test", "is a NATS cluster of version 2.10.29, at 127.0.0.1:1. "],
  ["2.9.10", "test", "is a NATS cluster of version 2.9.10, at 127.0.0.1:1. "],
  ["2.11.0", "test", undefined],
  ["3.0.0-beta.1", "test", undefined],
  ["2.9.10", undefined, undefined],
])(
  "warns once if servers of version %s in the cluster %s may lose messages in a fail-over",
  async (version, cluster, problem) => {
    mockClient(cluster === undefined ? { version } : { version, cluster });
    const { connector, logged } = openConnector();
    await connector.connect();
    await connector.connect();
    const problems = await connector.clusterProblems();
    expect(problems).toEqual(
      problem === undefined ? [] : [expect.objectContaining({ problem: expect.stringContaining(problem) })],
    );
    expect(logged()).toEqual(problems.map((each) => `The bus ${each.problem}`));
  },
);
