import { describe, expect, it } from "vitest";
import { callOverHttp, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";

const MIB = 1024 * 1024;

/** Creates an application with a function and a route that return how many bytes they have received. */
function createApp(maxBody: { own?: number; app?: number }, env = {}) {
  const options = maxBody.own === undefined ? {} : { max_body: maxBody.own };
  const length = compiledServer("length", (text: string) => text.length, { params: { text: "any" }, options });
  const upload = compiledRoute("POST /upload", options, async (request) => {
    const bytes = await request.arrayBuffer();
    return new Response(String(bytes.byteLength));
  });
  return createTestApp(
    { length, upload },
    { rate: false, env, ...(maxBody.app === undefined ? {} : { max_body: maxBody.app }) },
  );
}

type TestApp = ReturnType<typeof createApp>;

const callStatus = async (app: TestApp, bodyBytes: number) =>
  (await callOverHttp(app, "length", { text: "x".repeat(bodyBytes - '{"args":{"text":""}}'.length) })).status;

async function routeStatus(app: TestApp, bytes: number, isDeclared: boolean) {
  const body = isDeclared ? "x".repeat(bytes) : new Blob(["x".repeat(bytes)]).stream();
  const headers = isDeclared ? { "content-length": String(bytes) } : {};
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, headers, duplex: "half" };
  const response = await app.fetch(new Request("http://localhost/upload", init));
  if (response.status === 200) expect(await response.text()).toBe(String(bytes));
  return response.status;
}

async function formStatus(app: TestApp, name: string, form: FormData | URLSearchParams) {
  const encoded = new Response(form);
  const body = await encoded.text();
  const headers = {
    origin: "http://localhost",
    "content-type": encoded.headers.get("content-type") ?? "",
    "content-length": String(body.length),
  };
  const request = new Request(`http://localhost/__web/form/${name}`, { method: "POST", body, headers });
  return (await app.fetch(request)).status;
}

const MAXIMUMS = [
  ["1 MiB by default", {}, MIB],
  ["the application's", { app: 2 * MIB }, 2 * MIB],
  ["its own", { own: 3 * MIB }, 3 * MIB],
  ["its own, above the application's", { own: 3 * MIB, app: 1000 }, 3 * MIB],
  ["its own, below the application's", { own: 1000, app: 3 * MIB }, 1000],
  ["more than 16 MiB", { own: 17 * MIB }, 17 * MIB],
] as const;

describe.each(MAXIMUMS)("the maximum of a body: %s", (_, maxBody, bytes) => {
  const app = createApp(maxBody);

  it("applies to a call, up to the exact byte", async () => {
    expect([await callStatus(app, bytes), await callStatus(app, bytes + 1)]).toEqual([200, 413]);
  });

  it.each([true, false])("applies to a route, up to the exact byte, with a declared length: %s", async (isDeclared) => {
    expect([await routeStatus(app, bytes, isDeclared), await routeStatus(app, bytes + 1, isDeclared)]).toEqual([
      200, 413,
    ]);
  });
});

it("applies to no page and no other path", async () => {
  const app = createApp({ app: 3 * MIB });
  const init = { method: "POST", body: "x".repeat(MIB + 1), headers: { "content-length": String(MIB + 1) } };
  expect((await app.fetch(new Request("http://localhost/other", init))).status).toBe(413);
});

it("does not raise the maximum of the JSON of a function that takes files, which is held in memory", async () => {
  const file = { type: "any", files: "one", optional: true } as const;
  const length = compiledServer("length", (text: string, _file?: File) => text.length, {
    params: { text: "any", file },
    options: { max_body: 100 * MIB },
  });
  const app = createTestApp({ length }, { rate: false });
  expect([await callStatus(app, MIB), await callStatus(app, MIB + 1)]).toEqual([200, 413]);
});

describe("a body of a route above 1 MiB", () => {
  const env = { WEB_MAX_UPLOAD_BYTES: String(4 * MIB), WEB_MAX_UPLOAD_BYTES_PER_CLIENT: String(3 * MIB) };

  it("counts as an upload of its client, and is refused with 503 while there are too many, unlike forms without files", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let started = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const upload = compiledRoute("POST /upload", { max_body: 3 * MIB }, async (request) => {
      const { byteLength } = await request.arrayBuffer();
      started();
      await released;
      return new Response(String(byteLength));
    });
    const login = compiledServer("login", (name: string) => name, { params: { name: "any" } });
    const app = createTestApp({ upload, login }, { rate: false, env });
    const first = routeStatus(app, 3 * MIB, true);
    await hasStarted;
    for (const encoding of [new FormData(), new URLSearchParams()]) {
      encoding.append("name", "ada");
      expect(await formStatus(app, "login", encoding)).toBe(200); // stores nothing
    }
    expect(await routeStatus(app, MIB, true)).toBe(503);
    expect(await routeStatus(app, MIB, false)).toBe(503);
    release();
    expect(await first).toBe(200);
    expect(await routeStatus(app, 3 * MIB, false)).toBe(200);
  });
});

describe("an application with an invalid max_body is refused at its start", () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1mb", 2 ** 51])("%s", (value) => {
    const own = value as number; // a wrong type
    expect(() => createApp({ own })).toThrow(`max_body is ${value}. It must be a whole number of bytes`);
    expect(() => createApp({ app: own })).toThrow(`new App: max_body is ${value}.`);
  });

  it("that is larger than what one client may upload", () => {
    const env = { WEB_MAX_UPLOAD_BYTES: String(4 * MIB), WEB_MAX_UPLOAD_BYTES_PER_CLIENT: String(3 * MIB) };
    expect(() => createApp({ own: 3 * MIB }, env)).not.toThrow();
    expect(() => createApp({ own: 3 * MIB + 1 }, env)).toThrow("Set WEB_MAX_UPLOAD_BYTES_PER_CLIENT");
  });
});
