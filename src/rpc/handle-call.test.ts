import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { expectCallError, readCallResponse } from "#test/call-response";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { session } from "../session/index.ts";

const MIB = 1024 * 1024;

let calls: string[] = [];
let log: MockInstance<typeof console.error>;
beforeEach(() => {
  calls = [];
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

function logText(): string {
  return log.mock.calls.map(([line]) => String(line?.stack ?? line)).join("\n");
}

const add = compiledServer(
  "add",
  (a: number, b: number = 10) => {
    calls.push("add");
    return a + b;
  },
  { params: { a: "int", b: { type: "int", optional: true } } },
);
const echo = compiledServer("echo", (text: unknown) => text, { params: { text: { type: "any", optional: true } } });
const nothing = compiledServer("nothing", () => undefined);
const account = compiledServer("account", () => session.user(), { options: { auth_required: true } });
const signIn = compiledServer("signIn", (name: string) => session.login(name), { params: { name: "any" } });
const größe = compiledServer("größe", () => "L");
const order = compiledServer("order", ({ item }: { item: string }) => item, { params: { item: "any" }, keyed: true });
const count = compiledServer(
  "count",
  function* (to: number) {
    yield to;
  },
  { params: { to: "int" }, stream: true },
);
const app = createTestApp({ add, echo, nothing, account, signIn, größe, order, count }, { rate: false });

/** Reads the response of a rejected call, and checks that the function did not run. */
async function expectRejected(...expected: Parameters<typeof expectCallError>) {
  const response = await expectCallError(...expected);
  expect(calls).toEqual([]);
  return response;
}

describe("a call over HTTP", () => {
  it("responds with the result of the function", async () => {
    expect(await readCallResponse(callOverHttp(app, "add", { a: "1", b: 2 }))).toMatchObject({
      status: 200,
      json: { result: 3 },
    });
    expect(await readCallResponse(callOverHttp(app, "add", { a: 1 }))).toMatchObject({ json: { result: 11 } });
    expect(await readCallResponse(callOverHttp(app, "echo", { text: new Date(0) }))).toMatchObject({
      json: { result: "1970-01-01T00:00:00.000Z" },
    });
  });

  it("responds with null if the function returns undefined", async () => {
    expect(await (await callOverHttp(app, "nothing")).text()).toBe('{"result":null}');
    expect(await (await callOverHttp(app, "echo")).text()).toBe('{"result":null}');
  });

  it("finds a function whose name is percent-encoded because it has characters beyond ASCII", async () => {
    expect(await readCallResponse(callOverHttp(app, "größe"))).toMatchObject({ status: 200, json: { result: "L" } });
  });

  it("can sign the user in", async () => {
    const cookie = (await callOverHttp(app, "signIn", { name: "ada" })).headers.get("set-cookie")?.split(";")[0] ?? "";
    const response = await readCallResponse(callOverHttp(app, "account", {}, { headers: { cookie } }));
    expect(response).toMatchObject({ status: 200, json: { result: { sub: "ada" } } });
  });
});

describe("an invalid call", () => {
  it.each(["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])(
    "is rejected with 405 for the method %s",
    async (method) => {
      const response = await app.fetch(new Request("http://shop.example/__web/rpc/add", { method }));
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
      expect(response.headers.get("connection")).toBe("close");
      if (method !== "HEAD") await expectRejected(response, 405, "validation_error");
    },
  );

  it("is rejected with 405 for GET, with the parameter names of a known function", async () => {
    const detailsOf = async (name: string) => {
      const path = `http://shop.example/__web/rpc/${encodeURIComponent(name)}`;
      return (await expectRejected(app.fetch(new Request(path)), 405, "validation_error")).json.error.details;
    };
    expect(await detailsOf("add")).toEqual({ parameters: ["a", "b"] });
    expect(await detailsOf("nothing")).toEqual({ parameters: [] });
    expect(await detailsOf("größe")).toEqual({ parameters: [] });
    expect(await detailsOf("account")).toEqual({ parameters: [] });
    expect(await detailsOf("order")).toEqual({ parameters: ["item"], keyed: true });
    expect(await detailsOf("count")).toEqual({ parameters: ["to"], stream: true });
    expect(await detailsOf("unknown")).toEqual({});
    expect(await detailsOf("constructor")).toEqual({});
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "application/json-patch+json",
    "application/json, text/plain",
    "text/plain; application/json",
    "application/problem+json",
    "application /json",
    "",
  ])("is rejected with 415 for the content type %j", async (type) => {
    const { headers } = await expectRejected(
      callOverHttp(app, "add", { a: 1 }, { headers: { "content-type": type } }),
      415,
      "validation_error",
    );
    expect(headers.get("connection")).toBe("close");
  });

  it.each(["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])(
    "is rejected with 415 and the address for forms if it is a form: %s",
    async (type) => {
      const response = await callOverHttp(app, "add", { a: 1 }, { headers: { "content-type": type } });
      expect(response.status).toBe(415);
      expect(await response.text()).toContain("must be application/json. Send a form to /__web/form/add.");
    },
  );

  it("is rejected with 415 without a content type", async () => {
    const body = new TextEncoder().encode('{"args":{"a":1}}');
    const request = new Request("http://shop.example/__web/rpc/add", { method: "POST", body });
    expect(request.headers.has("content-type")).toBe(false);
    await expectRejected(app.fetch(request), 415, "validation_error");
  });

  it.each([
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON",
    "application/json ",
  ])("is not rejected for the content type %j", async (type) => {
    const response = await callOverHttp(app, "add", { a: 1 }, { headers: { "content-type": type } });
    expect(response.status).toBe(200);
  });

  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "https://shop.example" },
    { origin: "http://shop.example:8080" },
    { origin: "http://shop.example.evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])("is rejected with 403 if it comes from another site (%j)", async (headers) => {
    const own = createTestApp({ add }, { rate: false }); // logs the first refused origin at once, others after a minute
    const response = await expectRejected(callOverHttp(own, "add", { a: 1 }, { headers }), 403, "forbidden");
    expect(response.headers.get("connection")).toBe("close");
    expect(logText()).toContain("WEB_ORIGIN");
  });

  it("is logged with truncated headers if it comes from another site", async () => {
    const headers = { origin: `https://${"x".repeat(8_000)}.example`, "sec-fetch-site": "y".repeat(4_000) };
    const own = createTestApp({ add }, { rate: false });
    await expectRejected(callOverHttp(own, "add", { a: 1 }, { headers }), 403, "forbidden");
    expect(logText()).toContain("https://xxx");
    expect(logText().length).toBeLessThan(1_200);
  });

  it.each<Record<string, string>>([
    { origin: "http://shop.example" },
    { origin: "http://shop.example", "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    {},
  ])("is not rejected if it comes from this site or from a script (%j)", async (headers) => {
    expect((await callOverHttp(app, "add", { a: 1 }, { headers })).status).toBe(200);
  });

  it("is rejected for every origin but WEB_ORIGIN, if it is set", async () => {
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_ORIGIN: "https://shop.example" };
    const strict = createTestApp({ add }, { env });
    const from = (origin: string) => callOverHttp(strict, "add", { a: 1 }, { headers: { origin } });
    expect((await from("https://shop.example")).status).toBe(200);
    calls = [];
    await expectRejected(from("http://shop.example"), 403, "forbidden");
  });

  it.each([
    "unknown",
    "",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "add%2F",
    "add/x",
    "Add",
    "add%20",
    "x%2Fadd",
  ])("is rejected with 404 for the function name %j", async (name) => {
    const { headers } = await expectRejected(callOverHttp(app, name, { a: 1 }), 404, "not_found");
    expect(headers.get("connection")).toBe("close");
  });

  it.each(["%5F%5Fproto__", "%61dd", "ad%64", "%zz", "/add", "a%00", "..%2fadd"])(
    "is rejected with 400 for the path segment %j, which is needlessly or wrongly encoded",
    async (segment) => {
      await expectRejected(callOverHttp(app, segment, { a: 1 }), 400, "validation_error");
    },
  );

  it("is accepted for a name with other characters than letters, digits and _, percent-encoded or not", async () => {
    const named = createTestApp({ größe: compiledServer("größe", () => 1), $: compiledServer("$", () => 2) });
    for (const name of ["gr%C3%B6%C3%9Fe", "gr%c3%b6%c3%9fe", "größe", "%24", "$"]) {
      expect((await callOverHttp(named, name)).status).toBe(200);
    }
  });

  it("is rejected with 401 before its body is read, if the function requires a signed-in user", async () => {
    const { headers } = await expectRejected(
      callOverHttp(app, "account", {}, { body: "no JSON" }),
      401,
      "unauthenticated",
    );
    expect(headers.get("connection")).toBe("close");
    await expectRejected(
      callOverHttp(app, "account", {}, { headers: { cookie: "web_session=forged.forged" } }),
      401,
      "unauthenticated",
    );
  });

  it.each(["", "x", "null", "[]", "1", '{"args":[]}', "{}", '{"args":null}', '{"args":{"a":{"__proto__":1}}}'])(
    "is rejected with 422 for the body %j",
    async (body) => {
      await expectRejected(callOverHttp(app, "add", {}, { body }), 422, "validation_error");
    },
  );

  it("is rejected with 422 for arguments that nest deeper than 64 levels", async () => {
    const nested = (depth: number) => `{"args":{"text":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}}`;
    expect((await callOverHttp(app, "echo", {}, { body: nested(64) })).status).toBe(200);
    await expectRejected(callOverHttp(app, "echo", {}, { body: nested(65) }), 422, "validation_error");
  });

  it.each([
    [{}, "a"],
    [{ a: "x" }, "a"],
    [{ a: 1.5 }, "a"],
    [{ a: 1, b: "x" }, "b"],
    [{ a: 1, c: 1 }, "c"],
    [{ a: 1, constructor: 1 }, "constructor"],
  ])("is rejected with 422 for the arguments %j, naming the parameter %s", async (args, parameter) => {
    const { json } = await expectRejected(callOverHttp(app, "add", args), 422, "validation_error");
    expect(json.error.details).toMatchObject({ parameter, expected: expect.any(String) });
  });
});

describe("a call's body", () => {
  /** Returns a body of this size, in bytes. */
  const sized = (bytes: number) => {
    const frame = '{"args":{"text":""}}'.length;
    return `{"args":{"text":"${"x".repeat(bytes - frame)}"}}`;
  };
  /** Returns the body as a stream of chunks, which has no declared length. */
  const chunked = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    return new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.subarray(at, at + 65_536));
        controller.close();
      },
    });
  };

  it.each([MIB - 1, MIB])("is accepted with %i bytes [REQUEST-9]", async (bytes) => {
    const text = sized(bytes);
    const declared = await callOverHttp(app, "echo", {}, { body: text, headers: { "content-length": String(bytes) } });
    expect(declared.status).toBe(200);
    expect(await declared.text()).toBe(`{"result":"${"x".repeat(bytes - 20)}"}`);
    expect((await callOverHttp(app, "echo", {}, { body: chunked(text) })).status).toBe(200);
  });

  it("is rejected with 1 MiB and one byte, with and without a declared length [REQUEST-12]", async () => {
    const text = sized(MIB + 1);
    const headers = { "content-length": String(MIB + 1) };
    for (const init of [{ body: text, headers }, { body: text }, { body: chunked(text) }]) {
      const response = await expectRejected(callOverHttp(app, "echo", {}, init), 413, "validation_error");
      expect(response.headers.get("connection")).toBe("close");
    }
  });

  it("is rejected by its declared length before any of it is read", async () => {
    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    await expectRejected(
      callOverHttp(app, "echo", {}, { body, headers: { "content-length": "99999999999" } }),
      413,
      "validation_error",
    );
    expect(pulled).toBe(0);
  });

  it("is not read further once it exceeds the limit, and not cancelled: runtimes would discard the rest", async () => {
    const cancel = vi.fn();
    const pull = vi.fn((controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536)));
    const body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
    await expectRejected(callOverHttp(app, "echo", {}, { body }), 413, "validation_error");
    expect(pull).toHaveBeenCalledTimes(17);
    expect(cancel).not.toHaveBeenCalled();
  });

  it.each(["abc", "-1", "1e3", "5, 5", "0x10", "Infinity"])(
    "is counted if its declared length is the invalid %j",
    async (length) => {
      const headers = { "content-length": length };
      await expectRejected(
        callOverHttp(app, "echo", {}, { body: chunked(sized(MIB + 1)), headers }),
        413,
        "validation_error",
      );
    },
  );

  it("is counted in bytes, not in characters", async () => {
    const text = `{"args":{"text":"${"é".repeat(MIB / 2)}"}}`;
    expect(text.length).toBeLessThan(MIB);
    await expectRejected(callOverHttp(app, "echo", {}, { body: chunked(text) }), 413, "validation_error");
  });

  it("keeps characters that are split between chunks", async () => {
    const bytes = new TextEncoder().encode('{"args":{"text":"é€😀"}}');
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await readCallResponse(callOverHttp(app, "echo", {}, { body }))).toMatchObject({ json: { result: "é€😀" } });
  });
});
