/**
 * An application on a local server for tests of the client. It records requests and calls.
 */
import { expect } from "vitest";
import { node } from "../../src/adapters/index.ts";
import { RPCError } from "../../src/errors.ts";
import { request } from "../../src/http/index.ts";
import { session } from "../../src/session/index.ts";
import { compiledServer, createTestApp } from "./compiled-app.ts";
import { type LocalServer, listen } from "./listen.ts";

/** The requests and calls that the server has recorded. */
const log: { requests: string[]; calls: unknown[][]; endedStreams: number } = {
  requests: [],
  calls: [],
  endedStreams: 0,
};

const add = compiledServer(
  "add",
  (a: number, b: number = 10) => {
    log.calls.push(["add", a, b]);
    return a + b;
  },
  { params: { a: "int", b: { type: "int", optional: true } } },
);
const order = compiledServer(
  "order",
  ({ item, quantity = 1 }: { item: string; quantity?: number }) => ({
    item,
    quantity,
  }),
  { keyed: true, params: { item: "any", quantity: { type: "int", optional: true } } },
);
const countdown = compiledServer(
  "countdown",
  async function* (from: number) {
    try {
      log.calls.push(["countdown", from]);
      for (let n = from; n > 0; n--) yield n;
      if (from === 13) throw new RPCError("conflict", "Not thirteen.", { n: 13 });
    } finally {
      log.endedStreams++;
    }
  },
  { params: { from: "int" }, stream: true },
);
const fail = compiledServer("fail", () => {
  throw new RPCError("conflict", "Taken.", { parameter: "email" });
});
const login = compiledServer("login", (name: string) => session.login(name), { params: { name: "any" } });
const logout = compiledServer("logout", () => session.logout());
const whoami = compiledServer("whoami", () => session.user()?.sub ?? null);
const secret = compiledServer("secret", () => "for members", { options: { auth_required: true } });
const größe = compiledServer("größe", (of: string) => `L of ${of}`, { params: { of: "any" } });
const note = compiledServer("note", (text: string) => void log.calls.push(["note", text]), { params: { text: "any" } });
const pay = compiledServer(
  "pay",
  (amount: number) => {
    log.calls.push(["pay", amount]);
    return log.calls.length;
  },
  { params: { amount: "int" }, options: { idempotent: true } },
);
const hang = compiledServer("hang", () => new Promise<never>(() => undefined));
const slow = compiledServer(
  "slow",
  async function* () {
    try {
      yield 1;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    } finally {
      log.endedStreams++;
    }
  },
  { stream: true },
);

/** The server functions of the shop. */
export const functions = { add, order, countdown, fail, login, logout, whoami, secret, größe, note, pay, hang, slow };

/** The type of the module, for clients. */
export type Functions = typeof functions & { readonly notAFunction: number };

/** The application, served below `/shop`. */
export class Shop {
  readonly #server: LocalServer;

  private constructor(server: LocalServer) {
    this.#server = server;
  }

  /** Starts the server. The caller must call {@link close}. */
  static async open(): Promise<Shop> {
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "7b".repeat(32) };
    const handle = node(createTestApp(functions, { base: "/shop", rate: false, env }));
    const server = await listen((request, response) => {
      log.requests.push(`${request.method} ${decodeURIComponent(request.url?.split("/").at(-1) ?? "")}`);
      handle(request, response);
    });
    return new Shop(server);
  }

  /** The address of the application, for example `http://127.0.0.1:43121/shop`. */
  get address(): string {
    return `${this.#server.address}/shop`;
  }

  /** The received requests, for example `POST add`. */
  get requests(): readonly string[] {
    return log.requests;
  }

  /** The calls of functions: the name and the arguments. */
  get calls(): readonly unknown[][] {
    return log.calls;
  }

  /** The number of streams that have ended. */
  get endedStreams(): number {
    return log.endedStreams;
  }

  /** Deletes all records. */
  reset(): void {
    Object.assign(log, { requests: [], calls: [], endedStreams: 0 });
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** Returns the error that a call rejects with. A call that resolves fails the test. */
export function rejectionOf(call: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(call).then(
    (result) => expect.fail(`The call resolved with ${JSON.stringify(result)}.`),
    (error: unknown) => error,
  );
}
