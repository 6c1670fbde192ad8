import { h } from "preact";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import type { App } from "../app.ts";
import { MAX_STORED_BYTES, MemoryOutcomes } from "../backends/memory/index.ts";
import { RPCError } from "../errors.ts";
import { redirect, request } from "../http/index.ts";
import { session } from "../session/index.ts";
import { MAX_OUTCOME_BYTES } from "./run-once.ts";
import type { ServerOptions } from "./server.ts";

const KEY = "0123456789abcdef";

interface CallOptions {
  /** The address of the client. */
  readonly address?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal | null;
}

/** Returns an application with an idempotent function, how often it ran, and a function that calls it. */
function createOnceApp(run: (text: string) => unknown = (text) => text, options: ServerOptions = {}) {
  const count = { runs: 0 };
  const save = compiledServer(
    "save",
    (text: string) => {
      count.runs++;
      return run(text);
    },
    { params: { text: "any" }, options: { idempotent: true, ...options } },
  );
  const login = compiledServer("login", (id: string) => session.login(id), { params: { id: "any" } });
  const page = compiledPage("/", () => h("form", { action: save as unknown as string }, h("input", { name: "text" })));
  const app = createTestApp({ save, login, page }, { rate: false });
  const call = async (text: string, key?: string, { address, headers, signal = null }: CallOptions = {}) => {
    const response = await app.fetch(
      new Request("http://shop.example/__web/rpc/save", {
        method: "POST",
        headers: { "content-type": "application/json", ...(key ? { "idempotency-key": key } : {}), ...headers },
        body: JSON.stringify({ args: { text } }),
        signal,
      }),
      address === undefined ? {} : { address },
    );
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return { app, count, call };
}

async function signIn(app: App, id: string): Promise<string> {
  const body = JSON.stringify({ args: { id } });
  const headers = { "content-type": "application/json" };
  const response = await getPage(app, "/__web/rpc/login", { method: "POST", headers, body });
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

async function formAddress(app: App): Promise<string> {
  const html = await (await getPage(app, "/")).text();
  return /action="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
}

function send(app: App, address: string, text: string, extra: Record<string, string> = {}): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...extra, text })) body.append(name, value);
  return getPage(app, address, { method: "POST", body, headers: { origin: "http://shop.example" } });
}

describe("a call of an idempotent function", () => {
  it("runs once for a key and its arguments, and has the first outcome again [ONCE-1]", async () => {
    const { call, count } = createOnceApp((text) => ({ text, run: count.runs }));
    const first = await call("a", KEY);
    expect(first.body).toEqual({ result: { text: "a", run: 1 } });
    expect(await call("a", KEY)).toMatchObject({ status: 200, body: first.body });
    expect(count.runs).toBe(1);
  });

  it("runs again for other arguments, another key, another sign-in, and without a key [ONCE-2]", async () => {
    const { app, call, count } = createOnceApp();
    await call("a", KEY);
    await call("b", KEY);
    await call("a", `${KEY}0`);
    await call("a");
    await call("a");
    expect(count.runs).toBe(5);
    const [ada, bob] = [await signIn(app, "ada"), await signIn(app, "bob")];
    await call("a", KEY, { headers: { cookie: ada } });
    await call("a", KEY, { headers: { cookie: bob } });
    await call("a", KEY, { headers: { cookie: ada } });
    expect(count.runs).toBe(7);
  });

  it("has errors and redirects of the first run again", async () => {
    const refusing = createOnceApp(() => {
      throw new RPCError("conflict", "Sold out.", { left: 0 });
    });
    const first = await refusing.call("a", KEY);
    expect(await refusing.call("a", KEY)).toMatchObject({ status: 409, body: first.body });
    const redirecting = createOnceApp(() => redirect("/"));
    await redirecting.call("a", KEY);
    const second = await redirecting.call("a", KEY);
    expect([second.body, second.headers.get("x-redirect")]).toEqual([{ result: null }, "/"]);
    const failing = createOnceApp(() => {
      throw new Error("a bug");
    });
    expect([(await failing.call("a", KEY)).status, (await failing.call("a", KEY)).status]).toEqual([500, 500]);
    expect([refusing.count.runs, redirecting.count.runs, failing.count.runs]).toEqual([1, 1, 1]);
  });

  it("sends no cookie again that the first run has set [ONCE-3]", async () => {
    const { call, count } = createOnceApp(() => request.set_cookie("a", "b"));
    expect((await call("a", KEY)).headers.get("set-cookie")).toContain("a=b");
    expect((await call("a", KEY)).headers.get("set-cookie")).toBeNull();
    expect(count.runs).toBe(1);
  });

  it("keeps nothing of a run that has changed the sign-in [ONCE-4]", async () => {
    const { call, count } = createOnceApp((text) => session.login(text));
    expect((await call("ada", KEY)).headers.get("set-cookie")).toContain("web_session");
    expect((await call("ada", KEY)).headers.get("set-cookie")).toContain("web_session");
    expect(count.runs).toBe(2);
  });

  it("waits for a run that is under way", async () => {
    let end: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { call, count } = createOnceApp(async (text) => {
      await running;
      return text;
    });
    const calls = [1, 2, 3].map(() => call("a", KEY));
    setTimeout(end, 60);
    expect((await Promise.all(calls)).map(({ body }) => body)).toEqual(Array(3).fill({ result: "a" }));
    expect(count.runs).toBe(1);
  });

  it.each([
    ["kept", MAX_OUTCOME_BYTES - '{"kind":"success","json":"\\"\\""}'.length, 200],
    ["not known afterwards", MAX_OUTCOME_BYTES - '{"kind":"success","json":"\\"\\""}'.length + 1, 409],
  ])("has an outcome that is %s at %i bytes, and does not run again", async (_, length, status) => {
    const { call, count } = createOnceApp(() => "x".repeat(length));
    expect((await call("a", KEY)).status).toBe(200);
    const second = await call("a", KEY);
    expect(second.status).toBe(status);
    if (status === 409) expect(second.body.error).toMatchObject({ code: "conflict", details: { unknown: true } });
    expect(count.runs).toBe(1);
  });

  it("has an unknown outcome if its function ended because the client has left [ONCE-5]", async () => {
    const leaving = new AbortController();
    const { call, count } = createOnceApp(async () => {
      leaving.abort();
      request.signal.throwIfAborted();
    });
    await call("a", KEY, { signal: leaving.signal }).catch(() => undefined);
    await expect.poll(async () => (await call("a", KEY)).body.error?.details).toEqual({ unknown: true });
    expect(count.runs).toBe(1);
  });

  it("does not count a run whose arguments were refused", async () => {
    const { call, count } = createOnceApp((text) => text, {
      validate: {
        text: {
          "~standard": {
            version: 1,
            vendor: "test",
            validate: (value: unknown) =>
              count.runs >= 0 && isOpen ? { value } : { issues: [{ message: "Closed." }] },
          },
        } as never,
      },
    });
    let isOpen = false;
    expect((await call("a", KEY)).status).toBe(422);
    isOpen = true;
    expect((await call("a", KEY)).status).toBe(200);
    expect(count.runs).toBe(1);
  });

  it.each(["short", "0123456789abcde", "0123456789abcdef!", "x".repeat(129)])("refuses the key %j", async (key) => {
    const { call, count } = createOnceApp();
    expect((await call("a", key)).body.error.code).toBe("validation_error");
    expect(count.runs).toBe(0);
  });

  it.each([
    ["an address", () => "203.0.113.1"],
    ["the addresses of one network /64", (run: number) => `2001:db8:0:1::${run.toString(16)}`],
  ])("keeps up to 4 MiB for %s, and is refused without running above it [ONCE-6]", async (_, addressOf) => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] }); // the count decreases with time
    const write = vi.spyOn(MemoryOutcomes.prototype, "write");
    onTestFinished(() => {
      vi.useRealTimers();
      write.mockRestore();
    });
    const { app, call, count } = createOnceApp((text) => text);
    const envelope = JSON.stringify({ kind: "success", json: JSON.stringify("") }).length;
    const callAnew = (text: string) => call(text, `${KEY}-${count.runs}`, { address: addressOf(count.runs) });
    /** Calls with a new key, so that as many bytes are kept. */
    const keep = (bytes: number) => callAnew("x".repeat((bytes - 512) / 2 - envelope));
    await call("of another client", KEY, { address: "198.51.100.1" });
    const ownBytes = (write.mock.contexts[0] as MemoryOutcomes).bytes;
    for (let i = 0; i < 127; i++) expect((await keep(32 * 1024)).status).toBe(200);
    expect((await keep(31 * 1024)).status).toBe(200); // below: 1 KiB is left
    expect((await keep(1024)).status).toBe(200); // exactly 4 MiB
    expect((await callAnew("a")).body.error.code).toBe("rate_limited");
    expect(count.runs).toBe(130);
    expect((write.mock.contexts[0] as MemoryOutcomes).bytes).toBe(ownBytes + 4 * 1024 * 1024); // no more than is counted
    expect((await call("a", KEY, { address: "2001:db8:0:2::1" })).status).toBe(200);
    await call("of another client", KEY, { address: "198.51.100.1" });
    expect(count.runs).toBe(131);
    const headers = { cookie: await signIn(app, "ada") };
    expect((await call("a", KEY, { headers, address: addressOf(0) })).status).toBe(200); // another client
  });

  it("is refused without running while the memory of all outcomes is used up, and drops none of them [ONCE-13]", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined); // the error of the store
    const write = vi.spyOn(MemoryOutcomes.prototype, "write");
    onTestFinished(() => void vi.restoreAllMocks());
    const { call, count } = createOnceApp((text) => text);
    const first = await call("first", KEY);
    const store = write.mock.contexts[0] as MemoryOutcomes;
    const claimBytes = 512 + 2 * "?0123456789abcdef".length;
    const fill = (bytes: number) => store.claim(`${bytes}`, "x".repeat((bytes - 512) / 2));
    await fill(MAX_STORED_BYTES - store.bytes - claimBytes - 1_000); // below: a claim and its outcome fit
    expect((await call("a", KEY)).status).toBe(200);
    await fill(MAX_STORED_BYTES - store.bytes); // exactly the maximum
    expect((await call("b", KEY)).status).toBe(500);
    expect(count.runs).toBe(2);
    expect((await call("first", KEY)).body).toEqual(first.body);
    expect((await call("a", KEY)).status).toBe(200);
    expect(count.runs).toBe(2);
  });

  it("is refused at once as not known if the memory of all outcomes was used up during its first run", async () => {
    const write = vi.spyOn(MemoryOutcomes.prototype, "write");
    const claim = vi.spyOn(MemoryOutcomes.prototype, "claim");
    onTestFinished(() => void vi.restoreAllMocks());
    const { call, count } = createOnceApp(async (text) => {
      const store = claim.mock.contexts[0] as MemoryOutcomes;
      await store.claim("others", "x".repeat((MAX_STORED_BYTES - store.bytes - 512) / 2));
      return text;
    });
    expect((await call("a", KEY)).body).toEqual({ result: "a" });
    const writes = () => write.mock.settledResults.map(({ type }) => type);
    await expect.poll(writes).toEqual(["rejected", "fulfilled"]);
    claim.mockClear();
    const second = await call("a", KEY);
    expect([second.status, second.body.error.details]).toEqual([409, { unknown: true }]);
    expect([count.runs, claim.mock.calls.length]).toEqual([1, 1]); // it has not waited for the first run
  });

  it("has the first outcome again that was stored, although the confirmation of the store was lost", async () => {
    const stored = MemoryOutcomes.prototype.write;
    const write = vi.spyOn(MemoryOutcomes.prototype, "write");
    const claim = vi.spyOn(MemoryOutcomes.prototype, "claim");
    onTestFinished(() => void vi.restoreAllMocks());
    const { call, count } = createOnceApp();
    write.mockImplementationOnce(async function (this: MemoryOutcomes, key, text) {
      await stored.call(this, key, text);
      throw new Error("The store did not respond.");
    });
    await call("a", KEY);
    await expect.poll(() => claim).toHaveBeenCalledTimes(2); // the run looks what is stored
    expect((await call("a", KEY)).body).toEqual({ result: "a" });
    expect(count.runs).toBe(1);
  });

  it("is refused at once as not known if the store has lost its claim and did not keep its outcome", async () => {
    const write = vi.spyOn(MemoryOutcomes.prototype, "write");
    onTestFinished(() => void vi.restoreAllMocks());
    const { call, count } = createOnceApp();
    write.mockImplementationOnce(async function (this: MemoryOutcomes, key) {
      await this.remove(key);
      throw new Error("The store did not respond.");
    });
    expect((await call("a", KEY)).body).toEqual({ result: "a" });
    await expect.poll(() => write).toHaveBeenCalledTimes(2);
    expect((await call("a", KEY)).body.error).toMatchObject({ code: "conflict", details: { unknown: true } });
    expect(count.runs).toBe(1);
  });

  it("keeps small outcomes and no large ones while half of the memory of all outcomes is used [ONCE-16]", async () => {
    const write = vi.spyOn(MemoryOutcomes.prototype, "write");
    onTestFinished(() => void vi.restoreAllMocks());
    const { call, count } = createOnceApp((text) => text);
    const large = "x".repeat(60_000);
    expect((await call(large, `${KEY}-below`)).status).toBe(200);
    expect((await call(large, `${KEY}-below`)).body).toEqual({ result: large });
    const store = write.mock.contexts[0] as MemoryOutcomes;
    await store.claim("others", "x".repeat((MAX_STORED_BYTES / 2 - store.bytes - 512) / 2));
    expect((await call(large, `${KEY}-above`)).body).toEqual({ result: large });
    expect((await call(large, `${KEY}-above`)).body.error).toMatchObject({
      code: "conflict",
      details: { unknown: true },
    });
    await call("small", KEY);
    expect((await call("small", KEY)).body).toEqual({ result: "small" });
    expect(count.runs).toBe(3);
  });

  it("runs once more if two bytes are left of 4 MiB, and not after that", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { call, count } = createOnceApp((text) => text);
    const envelope = JSON.stringify({ kind: "success", json: JSON.stringify("") }).length;
    const keep = (bytes: number) => call("x".repeat((bytes - 512) / 2 - envelope), `${KEY}-${count.runs}`);
    for (let i = 0; i < 127; i++) await keep(32 * 1024);
    await keep(32 * 1024 - 2);
    expect((await call("a", KEY)).status).toBe(200);
    expect((await call("a", `${KEY}-above`)).body.error.code).toBe("rate_limited");
    expect(count.runs).toBe(129);
  });
});

describe("a form of an idempotent function", () => {
  it("has a key of its own in each rendering, and runs once for it and its fields [ONCE-7]", async () => {
    const { app, count } = createOnceApp(() => null);
    const [one, two] = [await formAddress(app), await formAddress(app)];
    expect(one).toMatch(/\?__form=save~[\da-f]{32}$/);
    expect(two).not.toBe(one);
    const responses = await Promise.all([send(app, one, "a"), send(app, one, "a"), send(app, one, "a")]);
    expect(responses.map(({ status, headers }) => [status, headers.get("location")])).toEqual(
      Array(3).fill([303, "/"]),
    );
    expect(count.runs).toBe(1);
    await send(app, one, "b");
    await send(app, two, "a");
    expect(count.runs).toBe(3);
  });

  it("runs for each form of a page, also with the same fields", async () => {
    const run = vi.fn(() => null);
    const save = compiledServer("save", run, { params: { text: "any" }, options: { idempotent: true } });
    const action = save as unknown as string;
    const page = compiledPage("/", () => h("main", {}, h("form", { action }), h("form", { action })));
    const app = createTestApp({ save, page }, { rate: false });
    const html = await (await getPage(app, "/")).text();
    const addresses = [...html.matchAll(/action="([^"]+)"/g)].map(([, address = ""]) => address);
    expect(new Set(addresses).size).toBe(2);
    for (const address of addresses) await send(app, address, "a");
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("shows the first result and the first error again, with the text that was typed", async () => {
    const { app, count } = createOnceApp((text) => {
      throw new RPCError("conflict", `No ${text}.`);
    });
    const address = await formAddress(app);
    const pages = [await send(app, address, "tea"), await send(app, address, "tea")];
    for (const page of pages) {
      expect(page.status).toBe(409);
      expect(await page.text()).toContain("No tea.");
    }
    expect(count.runs).toBe(1);
  });

  it("runs once when a script sends it", async () => {
    const { app, count } = createOnceApp();
    const sendByScript = () => {
      const body = new FormData();
      body.append("text", "a");
      const headers = { origin: "http://shop.example", "idempotency-key": KEY };
      return getPage(app, "/__web/form/save", { method: "POST", body, headers });
    };
    expect(await (await sendByScript()).json()).toEqual({ result: "a" });
    expect(await (await sendByScript()).json()).toEqual({ result: "a" });
    expect(count.runs).toBe(1);
  });

  it("keeps its page out of the cache of pages", async () => {
    const save = compiledServer("save", () => null, { options: { idempotent: true } });
    const page = compiledPage("/", () => h("form", { action: save as unknown as string }), { cache: { seconds: 60 } });
    const response = await getPage(createTestApp({ save, page }), "/");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  });
});

describe("the option idempotent", () => {
  it("is refused for a stream, for a function that takes files, and for another value", () => {
    const options = { idempotent: true };
    expect(() => compiledServer("count", function* () {}, { stream: true, options })).toThrow(/it is a stream/);
    const params = { file: { type: "any", files: "one" } } as const;
    expect(() => compiledServer("store", () => null, { params, options })).toThrow(/its parameter file takes files/);
    const invalid = { idempotent: 1 } as unknown as ServerOptions;
    expect(() => compiledServer("save", () => null, { options: invalid })).toThrow(/must be true or false/);
  });
});
