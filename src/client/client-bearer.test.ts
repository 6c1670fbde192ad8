import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { rejectionOf } from "#test/shop";
import { channel } from "../live/index.ts";
import { session } from "../session/index.ts";
import { visitor } from "../testing/index.ts";
import { type BearerSource, client } from "./index.ts";

const whoami = compiledServer("whoami", () => session.user()?.sub ?? null, { options: { auth_required: true } });
const upload = compiledServer("upload", (file: File) => `${session.user()?.sub} ${file.name}`, {
  params: { file: { type: "any", files: "one" } },
  options: { auth_required: true },
});
const count = compiledServer(
  "count",
  function* (to: number) {
    for (let n = 1; n <= to; n++) yield `${session.user()?.sub} ${n}`;
  },
  { params: { to: "int" }, stream: true },
);
const feed = compiledServer("feed", () => channel<string>("room"));
const home = compiledPage("/", () => `user ${session.user()?.sub ?? "nobody"}`);
const functions = { whoami, upload, count, feed };

const app = createTestApp(
  { ...functions, home },
  {
    // The clients know the server by another name than browsers.
    env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "6b".repeat(32), WEB_ORIGIN: "https://public.example" },
    authenticate: async (token) => (token.startsWith("key-of-") ? { sub: token.slice("key-of-".length) } : null),
  },
);

const sent: Headers[] = [];
function clientWith(bearer: BearerSource) {
  return client<typeof functions>("http://shop.example", {
    bearer,
    fetch: (url, init) => {
      sent.push(new Headers(init.headers));
      return app.fetch(new Request(url, init));
    },
  });
}

afterEach(() => {
  sent.length = 0;
  vi.restoreAllMocks();
});

describe("a client with a bearer token", () => {
  it("calls functions, streams and uploads as the user of the token, without a CSRF token", async () => {
    const api = clientWith("key-of-grace");
    expect(await api.whoami()).toBe("grace");
    expect(await api.upload(new File(["x"], "a.txt"))).toBe("grace a.txt");
    const values: string[] = [];
    for await (const value of api.count(2)) values.push(value);
    expect(values).toEqual(["grace 1", "grace 2"]);
    for (const headers of sent) expect(headers.get("authorization")).toBe("Bearer key-of-grace");
    expect(sent.every((headers) => !headers.has("x-csrf-token") && !headers.has("cookie"))).toBe(true);
  });

  it("asks a function for the token before each request", async () => {
    const tokens = ["key-of-grace", "key-of-linus"];
    const api = clientWith(async () => tokens.shift() ?? "");
    expect(await api.whoami()).toBe("grace");
    expect(await api.whoami()).toBe("linus");
  });

  it("rejects with unauthenticated if the token is refused", async () => {
    expect(await rejectionOf(clientWith("unknown").whoami())).toMatchObject({ code: "unauthenticated" });
  });

  it("rejects with the error of the function that returns the token, and sends nothing", async () => {
    const error = new Error("The vault is closed");
    const api = clientWith(() => Promise.reject(error));
    expect(await rejectionOf(api.whoami())).toBe(error);
    expect(sent).toEqual([]);
  });

  it.each(["", "a b", "a\nb", 'a"', "é", 1, null, {}])(
    "refuses the token %j, which is not in the message",
    async (token) => {
      const message = /^client: bearer must be a token of letters, digits and - \. _ ~ \+ \/, or a function/;
      expect(() => clientWith(token as string)).toThrow(message);
      const rejection = await rejectionOf(clientWith(() => token as string).whoami());
      expect(rejection).toBeInstanceOf(TypeError);
      expect(rejection).toHaveProperty("message", expect.stringMatching(message));
      expect(sent).toEqual([]);
    },
  );

  it("refuses a second header Authorization", () => {
    const options = { bearer: "a", headers: { Authorization: "Basic YTpi" } };
    expect(() => client("http://shop.example", options)).toThrow(
      "client: headers.authorization and bearer are both set.",
    );
    expect(() => visitor(app, options)).toThrow("visitor: headers.authorization and bearer are both set.");
  });
});

describe("a visitor with a bearer token", () => {
  it("calls, streams, fetches and subscribes as the user of the token", async () => {
    const guest = visitor(app, { bearer: "key-of-grace" });
    expect(await guest.rpc("whoami")).toBe("grace");
    expect(await guest.client<typeof functions>().whoami()).toBe("grace");
    const values: unknown[] = [];
    for await (const value of guest.stream("count", { to: 1 })) values.push(value);
    expect(values).toEqual(["grace 1"]);
    const messages = guest.subscribe(await guest.client<typeof functions>().feed());
    const first = messages.next();
    await vi.waitFor(async () => {
      await app.publish("room", "hello");
      expect(await Promise.race([first, Promise.resolve(null)])).toEqual({ done: false, value: "hello" });
    }, 30_000);
    await messages.return();
  });

  it("is the user of its cookie on pages", async () => {
    const guest = visitor(app, { bearer: () => "key-of-grace" });
    expect((await guest.get("/")).text).toContain("user nobody");
    guest.login("ada");
    expect((await guest.get("/")).text).toContain("user ada");
    expect(await guest.rpc("whoami")).toBe("grace");
  });

  it("can send another header with one request", async () => {
    const guest = visitor(app, { bearer: "key-of-grace" });
    const init = { method: "POST", body: '{"args":{}}' };
    const headers = { "content-type": "application/json", authorization: "Bearer key-of-linus" };
    expect(await (await guest.fetch("/__web/rpc/whoami", { ...init, headers })).json()).toEqual({ result: "linus" });
  });

  it.each(["", "a b"])("refuses the token %j", (bearer) => {
    expect(() => visitor(app, { bearer })).toThrow("visitor: bearer must be a token");
  });
});
