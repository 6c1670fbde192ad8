/**
 * Stubs as a fresh page loads them, and the server that they call, which answers as the test says.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { vi } from "vitest";
import type { RPCError } from "../../src/errors.ts";
import { type LocalServer, listen } from "./listen.ts";

/** A call, as it came to the server. */
export interface ReceivedCall {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  readonly response: ServerResponse;
  /** Resolves when the caller gave up before the answer was complete. */
  readonly aborted: Promise<void>;
}

/** The server that the stubs of a page call. */
export class StubServer {
  /** What was called, in this order. */
  readonly calls: ReceivedCall[] = [];
  /** Answers a call. */
  respond: (call: ReceivedCall) => void = respondWithJson(404, {});
  #server: LocalServer | undefined;

  /** Serves; whoever calls this calls {@link close}. */
  static async open(): Promise<StubServer> {
    const stubs = new StubServer();
    stubs.#server = await listen(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer); // of a request, they are
      const aborted = new Promise<void>((resolve) => response.once("close", () => response.writableEnded || resolve()));
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const call = { url: request.url ?? "", headers: request.headers, body, response, aborted };
      stubs.calls.push(call);
      stubs.respond(call);
    });
    return stubs;
  }

  /** Loads the stubs as on a fresh page, of this server's application where `at` names no other. */
  async load({ token, at = `${this.#server?.address}/app` }: { token?: string; at?: string } = {}) {
    vi.resetModules();
    vi.stubGlobal("document", {
      querySelector: (selector: string) =>
        selector === "script#tsweb"
          ? { textContent: JSON.stringify({ base: at, views: [] }) }
          : selector === 'meta[name="csrf-token"]' && token !== undefined
            ? { content: token }
            : null,
    });
    const module = await import("../../src/browser/stub.ts");
    const { RPCError } = await import("../../src/errors.ts");
    return { ...module, RPCError };
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}

/** Answers with JSON. */
export function respondWithJson(status: number, body: unknown, headers: Record<string, string> = {}) {
  return ({ response }: ReceivedCall) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
}

/** Answers with a stream of these lines. */
export function respondWithLines(...given: unknown[]) {
  return ({ response }: ReceivedCall) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.end(given.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
}

/** Gives what a call failed with, as something to compare. */
export async function rejectionOf(promise: Promise<unknown>) {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { name, code, message, details, cause } = error as RPCError; // what is missing is undefined, and no match
  return { name, code, message, details, cause };
}
