import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import { deferred, readerOf, streamingApp, textOf } from "#test/streaming-app";
import { request } from "../http/index.ts";

let steps: string[] = [];
let log: MockInstance<typeof console.error>;
beforeEach(() => {
  steps = [];
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

describe("a client that disconnects from a stream", () => {
  const kinds = [
    [
      "a generator",
      function* () {
        try {
          yield 1;
          steps.push("after 1");
          yield 2;
          steps.push("after 2");
        } finally {
          steps.push("finally");
        }
      },
    ],
    [
      "an async generator",
      async function* () {
        try {
          yield 1;
          steps.push("after 1");
          yield 2;
          steps.push("after 2");
        } finally {
          await null;
          steps.push("finally");
        }
      },
    ],
  ] as const;

  it.each(kinds)("ends %s at its current yield, before the first read and after it", async (_, fn) => {
    const app = streamingApp(fn);
    await (await callOverHttp(app, "stream")).body?.cancel();
    expect(steps).toEqual(["finally"]);

    steps = [];
    const lines = readerOf(await callOverHttp(app, "stream"));
    await lines.read();
    await lines.cancel();
    expect(steps).toEqual(["finally"]);
  });

  it("lets a running step reach its yield and no further", async () => {
    const [gate, open] = deferred();
    const [started, start] = deferred();
    const app = streamingApp(async function* () {
      try {
        yield 1;
        start();
        await gate;
        steps.push("before 2");
        yield 2;
        steps.push("after 2");
      } finally {
        steps.push("finally");
      }
    });
    const lines = readerOf(await callOverHttp(app, "stream"));
    await lines.read();
    const pending = lines.read();
    await started;
    const cancelled = lines.cancel();
    open();
    await cancelled;
    expect((await pending).done).toBe(true);
    expect(steps).toEqual(["before 2", "finally"]);
    expect(log.mock.calls).toEqual([[expect.stringContaining("its client disconnected")]]);
  });

  it("is not logged as a failure if request.signal ended the function", async () => {
    const client = new AbortController();
    const [started, start] = deferred();
    const app = streamingApp(async function* () {
      try {
        yield 1;
        start();
        const { signal } = request;
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        yield 2;
      } finally {
        steps.push("finally");
      }
    });
    const lines = readerOf(await callOverHttp(app, "stream", {}, { signal: client.signal }));
    await lines.read();
    const pending = lines.read();
    await started;
    client.abort();
    expect(textOf(await pending)).toBe("\n");
    expect(steps).toEqual(["finally"]);
    expect(String(log.mock.calls)).toContain("its client disconnected");
    expect(String(log.mock.calls)).not.toContain("failed");
  });

  const leaving: readonly (readonly [where: string, fn: (reached: () => void) => AsyncGenerator<unknown>])[] = [
    [
      "at a yield",
      async function* (reached) {
        reached();
        yield 1;
      },
    ],
    [
      "while it waits for request.signal",
      async function* (reached) {
        reached();
        await sleep(60_000, null, { signal: request.signal });
        yield 1;
      },
    ],
    [
      "at a yield of a loop over a source that request.signal aborts",
      async function* (reached) {
        for await (const part of abortableSource(request.signal)) {
          reached();
          yield part;
        }
      },
    ],
    [
      "while it waits for a source that request.signal aborts, whose error it wraps",
      async function* (reached) {
        try {
          for await (const part of abortableSource(request.signal)) {
            yield part;
            reached();
          }
        } catch (cause) {
          throw new Error("the source failed", { cause });
        }
      },
    ],
  ];

  it.each(leaving)("is one line of the log without a stack, and is not passed to on_error, %s", async (_, fn) => {
    const client = new AbortController();
    const [reached, reach] = deferred();
    const onError = vi.fn();
    const feed = compiledServer("feed", () => fn(reach), { stream: true });
    const { log, lines } = recordedLog();
    const app = createTestApp({ feed }, { on_error: onError, log });
    void readTwiceUntil(reached, callOverHttp(app, "feed", {}, { signal: client.signal }));
    await reached;
    await new Promise(setImmediate);
    client.abort();
    await expect.poll(() => lines).not.toEqual([]);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    expect(lines).toEqual([
      {
        level: "info",
        fields: { id: expect.any(String), trace_id: expect.any(String) },
        message: "The stream of feed ended: its client disconnected",
      },
    ]);
    expect(onError).not.toHaveBeenCalled();
  });

  it("does not hide an error that request.signal has not caused", async () => {
    const client = new AbortController();
    const [started, start] = deferred();
    const app = streamingApp(async function* () {
      yield 1;
      start();
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      throw new Error("a real bug");
    });
    const lines = readerOf(await callOverHttp(app, "stream", {}, { signal: client.signal }));
    await lines.read();
    const pending = lines.read();
    await started;
    client.abort();
    await pending;
    expect(String(log.mock.calls)).toContain("The stream of stream failed");
    expect(String(log.mock.calls)).toContain("a real bug");
  });

  it("prevents the function from running, if it disconnects first, and is not counted as open", async () => {
    const endless = async function* () {
      steps.push("started");
      await new Promise(() => undefined);
      yield 1;
    };
    const app = streamingApp(endless);
    const signal = AbortSignal.abort();
    for (let n = 0; n <= app.config.maxStreamsPerClient; n++) {
      expect((await callOverHttp(app, "stream", {}, { signal })).status).toBe(200);
    }
    expect(steps).toEqual([]);
  });

  it("causes an error of the function's finally to be logged", async () => {
    const app = streamingApp(async function* () {
      try {
        yield 1;
      } finally {
        await Promise.reject(new Error("the disk is full"));
      }
    });
    const lines = readerOf(await callOverHttp(app, "stream"));
    await lines.read();
    await lines.cancel();
    expect(String(log.mock.calls)).toContain("the disk is full");
  });
});

/** Yields parts for ever. Like the body of a fetched response, it fails with the reason of an aborted signal, also when it is closed. */
function abortableSource(signal: AbortSignal): AsyncIterable<number> {
  let part = 0;
  const next = async () => {
    if (part > 0) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return { done: false, value: ++part };
  };
  const close = async () => {
    signal.throwIfAborted();
    return { done: true as const, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: close }) };
}

/** Reads a response, which may never come, up to its second value, unless `reached` has resolved before that. */
async function readTwiceUntil(reached: Promise<void>, response: Promise<Response>): Promise<void> {
  const reader = readerOf(await response);
  await reader.read();
  const isReached = await Promise.race([
    reached.then(() => true),
    new Promise((resolve) => setImmediate(resolve, false)),
  ]);
  if (!isReached) await reader.read();
}
