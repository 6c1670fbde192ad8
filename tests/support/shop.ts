/**
 * A shop on a server of its own that clients call, and what they asked of it.
 */
import { expect } from "vitest";
import { node } from "../../src/adapters/index.ts";
import { RPCError } from "../../src/errors.ts";
import { request } from "../../src/http/index.ts";
import { session } from "../../src/session/index.ts";
import { createTestApp, compiledServer } from "./compiled-app.ts";
import { type LocalServer, listen } from "./listen.ts";

/** What happened on the server. */
const log: { asked: string[]; ran: unknown[][]; ended: number } = { asked: [], ran: [], ended: 0 };

const add = compiledServer(
  "add",
  (a: number, b: number = 10) => {
    log.ran.push(["add", a, b]);
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
      log.ran.push(["countdown", from]);
      for (let n = from; n > 0; n--) yield n;
      if (from === 13) throw new RPCError("conflict", "Not thirteen.", { n: 13 });
    } finally {
      log.ended++;
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
const note = compiledServer("note", (text: string) => void log.ran.push(["note", text]), { params: { text: "any" } });
const hang = compiledServer("hang", () => new Promise<never>(() => undefined));
const slow = compiledServer(
  "slow",
  async function* () {
    try {
      yield 1;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    } finally {
      log.ended++;
    }
  },
  { stream: true },
);

/** The server functions of the shop. */
export const functions = { add, order, countdown, fail, login, logout, whoami, secret, größe, note, hang, slow };

/** Its module, as clients name it. */
export type Functions = typeof functions & { readonly notAFunction: number };

/** The shop, served below `/shop`. */
export class Shop {
  readonly #server: LocalServer;

  private constructor(server: LocalServer) {
    this.#server = server;
  }

  /** Serves it; whoever calls this calls {@link close}. */
  static async open(): Promise<Shop> {
    const env = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "7b".repeat(32) };
    const handle = node(createTestApp(functions, { base: "/shop", rate: false, env }));
    const server = await listen((request, response) => {
      log.asked.push(`${request.method} ${decodeURIComponent(request.url?.split("/").at(-1) ?? "")}`);
      handle(request, response);
    });
    return new Shop(server);
  }

  /** As `http://127.0.0.1:43121/shop`. */
  get address(): string {
    return `${this.#server.address}/shop`;
  }

  /** What it was asked: `GET add`, `POST add`. */
  get requests(): readonly string[] {
    return log.asked;
  }

  /** What ran, with its arguments. */
  get calls(): readonly unknown[][] {
    return log.ran;
  }

  /** How many streams have ended. */
  get endedStreams(): number {
    return log.ended;
  }

  /** Forgets what happened. */
  reset(): void {
    Object.assign(log, { asked: [], ran: [], ended: 0 });
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** Gives what a call was refused with; a call that gives something fails the test. */
export function rejectionOf(call: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(call).then(
    (result) => expect.fail(`It gave ${JSON.stringify(result)}.`),
    (error: unknown) => error,
  );
}
