/** The bodies of routes with a `max_body` above 1 MiB: what is counted, and that all of it is released. */
import { describe, expect, it, vi } from "vitest";
import { compiledRoute, createTestApp } from "#test/compiled-app";
import { currentContext } from "../http/index.ts";
import { session } from "../session/index.ts";
import { type UploadStore, uploadStoreOf } from "./upload-store.ts";

const MIB = 1024 * 1024;
const MAX_BODY = 5 * MIB;
/** The bytes that one client may have in memory: four bodies of the maximum size. */
const MAX_IN_MEMORY = 4 * MAX_BODY;

type Work = (request: Request) => Response | Promise<Response>;

/** Creates an application of one route. `store` returns its store after the first request. */
function createApp(work: Work, maxBody = MAX_BODY) {
  let store: UploadStore | undefined;
  const upload = compiledRoute("POST /upload", { max_body: maxBody }, (request) => {
    const context = currentContext();
    store = context && uploadStoreOf(context);
    return work(request);
  });
  const app = createTestApp({ upload }, { rate: false });
  return {
    send: (request: Request, address = "192.0.2.1") => app.fetch(request, { address }),
    counted: () => [store?.limit.bytes, store?.limit.clients, store?.memoryCounts.clients],
  };
}

const NOTHING = [0, 0, 0];

function post(body: BodyInit, headers: Readonly<Record<string, string>> = {}): Request {
  // A stream as a body requires `duplex`, which the type lacks.
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, headers, duplex: "half" };
  return new Request("http://shop.example/upload", init);
}

/** Returns a request with a body of some bytes, whose length is declared or not. */
function postBytes(bytes: number, isDeclared = true): Request {
  const body = isDeclared ? "1".repeat(bytes) : new Blob(["1".repeat(bytes)]).stream();
  const type = { "content-type": "application/x-www-form-urlencoded" }; // for formData()
  return post(body, isDeclared ? { ...type, "content-length": String(bytes) } : type);
}

/** A body of chunks of 64 KiB that arrive when the test sends them. */
function openBody() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started;
    },
  });
  return {
    request: () => post(body),
    sendChunk: () => controller?.enqueue(new Uint8Array(65_536)),
    end: () => controller?.close(),
  };
}

/** Resolves when other pending work of the process had its turn several times. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
}

const never = new Promise<never>(() => undefined);

const PATTERNS: readonly (readonly [name: string, status: number, work: (reads: Promise<unknown>[]) => Work])[] = [
  [
    "beside a check that fails first",
    401,
    (reads) => async (request) => {
      const read = request.arrayBuffer();
      reads.push(read);
      await Promise.all([settle().then(() => session.require()), read]);
      return new Response();
    },
  ],
  [
    "in a race with a time limit that is over first",
    503,
    (reads) => async (request) => {
      const read = request.arrayBuffer();
      reads.push(read);
      await Promise.race([read, settle()]);
      return new Response(null, { status: 503 });
    },
  ],
  [
    "without waiting for it",
    202,
    (reads) => (request) => {
      reads.push(request.arrayBuffer());
      return new Response(null, { status: 202 });
    },
  ],
  [
    "without waiting for it, with a text as the response",
    202,
    (reads) => (request) => {
      reads.push(request.arrayBuffer());
      return new Response("accepted", { status: 202 });
    },
  ],
];

describe.each(PATTERNS)("a body that a route reads %s", (_, status, work) => {
  it("counts nothing after the response, and its rest cannot be read [REQUEST-26]", async () => {
    const reads: Promise<unknown>[] = [];
    const app = createApp((request) => {
      const response = work(reads)(request);
      reads.at(-1)?.catch(() => undefined);
      return response;
    });
    const { request, sendChunk } = openBody();
    sendChunk();
    const response = await app.send(request());
    expect([response.status, response.headers.get("connection")]).toEqual([status, "close"]);
    await response.arrayBuffer();
    await expect.poll(app.counted).toEqual(NOTHING);
    for (let sent = 0; sent < 3; sent++) {
      sendChunk();
      await settle();
      await expect.poll(app.counted).toEqual(NOTHING);
    }
    await expect(reads[0]).rejects.toThrow("The response was sent before the request's body was read.");
  });
});

describe("a body that a route reads as a stream", () => {
  it("fails if the route goes on reading after its response [REQUEST-27]", async () => {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    const app = createApp(async (request) => {
      reader = request.body?.getReader();
      await reader?.read();
      return new Response(null, { status: 202 });
    });
    const { request, sendChunk } = openBody();
    sendChunk();
    await app.send(request());
    sendChunk();
    await expect(reader?.read()).rejects.toThrow("The response was sent before");
    await expect.poll(app.counted).toEqual(NOTHING);
  });

  it("can be sent back as the body of the response, and counts until then [REQUEST-28]", async () => {
    const app = createApp((request) => new Response(request.body));
    const { request, sendChunk, end } = openBody();
    const { body } = await app.send(request());
    sendChunk();
    const reader = body?.getReader();
    expect((await reader?.read())?.value).toHaveLength(65_536);
    expect(app.counted()).toEqual([65_536, 1, 0]);
    sendChunk();
    expect((await reader?.read())?.value).toHaveLength(65_536);
    end();
    expect((await reader?.read())?.done).toBe(true);
    await expect.poll(app.counted).toEqual(NOTHING);
  });

  it("does not count as bytes in memory, so that more than four of the maximum size are accepted", async () => {
    let received = 0;
    const app = createApp(async ({ body }) => {
      for await (const _ of body ?? []); // as a write to a file
      received++;
      return never;
    });
    for (let sent = 1; sent <= 6; sent++) void app.send(postBytes(MAX_BODY));
    await vi.waitFor(() => expect(received).toBe(6), 30_000);
    expect(app.counted()).toEqual([6 * MAX_BODY, 1, 0]);
  });
});

const READERS: readonly (readonly [name: string, read: (request: Request) => Promise<unknown>])[] = [
  ["arrayBuffer()", (request) => request.arrayBuffer()],
  ["blob()", (request) => request.blob()],
  ["formData()", (request) => request.formData()],
  ["json()", (request) => request.json().catch(rethrowRefusal)],
  ["text()", (request) => request.text()],
  ["clone()", (request) => request.clone().text()],
];

/** The digits of the test are a number that JavaScript cannot represent; the body was read nevertheless. */
function rethrowRefusal(error: unknown): void {
  if (!(error instanceof SyntaxError)) throw error;
}

describe.each(READERS)("the bodies that a route reads with %s", (_, read) => {
  it.each([
    ["declared", true],
    ["unknown", false],
  ])(
    "of %s length are limited to four of the maximum size in memory for one client [REQUEST-48]",
    async (_, isDeclared) => {
      let received = 0;
      let finish = () => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const app = createApp(async (request) => {
        await read(request);
        received++;
        await finished;
        return new Response("read");
      });
      const held = [1, 2, 3].map(() => app.send(postBytes(MAX_BODY, isDeclared)));
      held.push(app.send(postBytes(MAX_BODY - 1000, isDeclared)));
      await vi.waitFor(() => expect(received).toBe(4), 30_000);
      const above = await app.send(postBytes(1001, isDeclared));
      expect([above.status, above.headers.get("retry-after"), above.headers.get("connection")]).toEqual([
        429,
        "5",
        "close",
      ]);
      const { error } = await above.json();
      expect(error).toMatchObject({ code: "rate_limited", details: { retry_after: 5 } });
      expect(error.message).toContain(`${MAX_IN_MEMORY} bytes in memory for one client`);
      const below = app.send(postBytes(400, isDeclared));
      await vi.waitFor(() => expect(received).toBe(5), 30_000);
      const atLimit = app.send(postBytes(600, isDeclared));
      const other = app.send(postBytes(MAX_BODY, isDeclared), "192.0.2.2");
      await vi.waitFor(() => expect(received).toBe(7), 30_000);
      expect((await app.send(postBytes(1, isDeclared))).status).toBe(429);
      finish();
      for (const response of [...held, below, atLimit, other]) expect(await (await response).text()).toBe("read");
      await expect.poll(app.counted).toEqual(NOTHING);
      expect((await app.send(postBytes(MAX_BODY, isDeclared))).status).toBe(200);
    },
  );
});

describe("the bodies of a route with a max_body below 4 MiB", () => {
  it("are limited to 16 MiB in memory for one client [REQUEST-49]", async () => {
    let received = 0;
    const app = createApp(async (request) => {
      await request.arrayBuffer();
      received++;
      return never;
    }, 2 * MIB);
    for (let sent = 1; sent <= 8; sent++) void app.send(postBytes(2 * MIB));
    await vi.waitFor(() => expect(received).toBe(8), 30_000);
    expect((await app.send(postBytes(1))).status).toBe(429);
  });
});
