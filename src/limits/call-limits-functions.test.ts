import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { FORM_ENV } from "#test/join-app";
import type { App } from "../app.ts";
import { form } from "../forms/index.ts";
import type { ServerOptions } from "../rpc/index.ts";
import { session } from "../session/index.ts";
import { visitor } from "../testing/index.ts";

const RATE = { calls: 2, seconds: 60 };
const EMAIL = { params: { email: "any" } } as const;
const ORIGIN = { origin: "http://shop.example" };

let runs = 0;
beforeEach(() => {
  runs = 0;
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function createApp(options: ServerOptions = { rate: RATE }) {
  const run = (email: string) => {
    runs++;
    return email;
  };
  const limited = compiledServer("limited", run, { ...EMAIL, options });
  return createTestApp(
    {
      limited,
      other: compiledServer("other", () => 1),
      sign_in: compiledServer("sign_in", (user: string) => session.login(user), { params: { user: "any" } }),
      stream: compiledServer(
        "stream",
        function* (email: string) {
          yield run(email);
        },
        { ...EMAIL, stream: true, options },
      ),
      upload: compiledServer("upload", (email: string, _file: File) => run(email), {
        params: { email: "any", file: { type: "any", files: "one" } },
        options,
      }),
      page: compiledPage("/page", async () => h("p", null, await limited("ada"))),
      form: compiledPage("/form", () => h("form", { action: form(limited) as never })),
    },
    { env: FORM_ENV },
  );
}

type Send = (app: App, email?: string) => Promise<Response>;

const multipart = (email: string, file?: File) => {
  const body = new FormData();
  body.set("email", email);
  if (file) body.set("file", file);
  return { method: "POST", body, headers: ORIGIN };
};

const KINDS: Readonly<Record<string, Send>> = {
  "a call": (app, email = "ada") => callOverHttp(app, "limited", { email }),
  "a stream": (app, email = "ada") => callOverHttp(app, "stream", { email }),
  "a form of a script": (app, email = "ada") =>
    app.fetch(new Request("http://shop.example/__web/form/limited", multipart(email))),
  "a form without script": (app, email = "ada") =>
    app.fetch(new Request("http://shop.example/form?__form=limited", multipart(email))),
  "an upload": (app, email = "ada") =>
    app.fetch(new Request("http://shop.example/__web/form/upload", multipart(email, new File(["x"], "x.txt")))),
};

describe.each(Object.entries(KINDS))("the rate of a function, in %s,", (_, send) => {
  it("limits the calls of one client, besides the limit of the application [REQUEST-100]", async () => {
    const app = createApp();
    for (let sent = 0; sent < 2; sent++) expect((await send(app)).status).toBe(200);
    const refused = await send(app);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(55);
    expect(runs).toBe(2);
    expect((await callOverHttp(app, "other")).status).toBe(200);
  });

  it("limits the calls of one key of `by`, whoever sends them [REQUEST-101]", async () => {
    const app = createApp({ rate: { calls: 2, seconds: 60, by: (email: string) => email.toLowerCase() } });
    const from = (address: string) => ({ fetch: (request: Request) => app.fetch(request, { address }) }) as App;
    const statuses = [];
    for (const [address, email] of [
      ["192.0.2.1", "ada"],
      ["192.0.2.2", "ADA"],
      ["192.0.2.3", "Ada"],
      ["192.0.2.3", "bob"],
    ] as const)
      statuses.push((await send(from(address), email)).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
    expect(runs).toBe(3);
  });
});

describe("the rate of a function", () => {
  it("counts signed-in clients by user", async () => {
    const app = createApp();
    const users = ["ada", "bob"].map(() => visitor(app, { address: "192.0.2.1" }));
    for (const [at, user] of users.entries()) {
      await user.rpc("sign_in", { user: `user ${at}` });
      for (let sent = 0; sent < 2; sent++) expect(await user.rpc("limited", { email: "a" })).toBe("a");
      await expect(user.rpc("limited", { email: "a" })).rejects.toMatchObject({ code: "rate_limited" });
    }
  });

  it("does not count calls from server code", async () => {
    const app = createApp();
    for (let sent = 0; sent < 5; sent++) {
      expect((await app.fetch(new Request("http://shop.example/page"))).status).toBe(200);
    }
  });

  it("refuses without counting for the other limits", async () => {
    const app = createTestApp(
      {
        one: compiledServer("one", () => 1, { options: { rate: { calls: 1, seconds: 60 } } }),
        two: compiledServer("two", () => 2),
      },
      { rate: { calls: 3, seconds: 60 } },
    );
    for (let sent = 0; sent < 9; sent++) await callOverHttp(app, "one");
    const statuses = [];
    for (let sent = 0; sent < 3; sent++) statuses.push((await callOverHttp(app, "two")).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("applies without a limit of the application too", async () => {
    const one = compiledServer("one", () => 1, { options: { rate: { calls: 1, seconds: 60 } } });
    const app = createTestApp({ one }, { rate: false });
    expect([(await callOverHttp(app, "one")).status, (await callOverHttp(app, "one")).status]).toEqual([200, 429]);
  });

  it("counts by the checked arguments, and not before they are: what a check refuses uses up no key", async () => {
    const by = vi.fn((email: string) => email);
    const strict = createTestApp(
      { only: compiledServer("only", (n: number) => n, { params: { n: "int" }, options: { rate: { ...RATE, by } } }) },
      { strict: true },
    );
    expect((await callOverHttp(strict, "only", { n: "x" })).status).toBe(422);
    expect(by).not.toHaveBeenCalled();
    expect((await callOverHttp(strict, "only", { n: "3" })).status).toBe(500); // a number is no key
    expect(by).toHaveBeenCalledWith(3);
  });

  it("runs nothing if `by` throws or returns no text, and its caller learns nothing about it [REQUEST-108]", async () => {
    for (const by of [
      () => undefined,
      () => 7,
      () => Promise.resolve("x"),
      () => Promise.reject(new Error("secret")),
    ]) {
      const app = createApp({ rate: { ...RATE, by: by as never } });
      const response = await callOverHttp(app, "limited", { email: "ada" });
      expect(response.status).toBe(500);
      expect(await response.text()).not.toMatch(/by|secret/);
    }
    const app = createApp({
      rate: {
        ...RATE,
        by: () => {
          throw new TypeError("secret");
        },
      },
    });
    expect((await callOverHttp(app, "limited", { email: "ada" })).status).toBe(500);
    expect(runs).toBe(0);
  });
});

describe("the option rate of server()", () => {
  it.each([
    [
      5,
      "Invalid option rate in server() of f in src/f.server.ts: it is of type number. Use { calls: 120, seconds: 60 }.",
    ],
    [
      { calls: 0, seconds: 60 },
      "Invalid option rate.calls in server() of f in src/f.server.ts: 0. Use a whole number from 1.",
    ],
    [
      { calls: 5, seconds: 0.5 },
      "Invalid option rate.seconds in server() of f in src/f.server.ts: 0.5. Use a number from 1 to 31536000.",
    ],
    [
      { calls: 5, seconds: 60, per_address: 9 },
      "Unknown option per_address in rate of server() of f in src/f.server.ts. Valid options: calls, seconds, by.",
    ],
    [
      { calls: 5, seconds: 60, by: "email" },
      "Invalid option rate.by in server() of f in src/f.server.ts: it is of type string. Use a function that returns the key of " +
        "the count, such as (email) => email.",
    ],
  ])("is refused at the start if it is %j", (rate, message) => {
    expect(() => compiledServer("f", () => 1, { options: { rate: rate as never } })).toThrow(message);
  });
});
