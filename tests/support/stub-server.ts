/**
 * The stubs of a newly loaded page, and the server that they call, whose responses the test controls.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { vi } from "vitest";
import type { RPCError } from "../../src/errors.ts";
import { type LocalServer, listen } from "./listen.ts";

/** A call that the server has received. */
export interface ReceivedCall {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  /** The parsed JSON; the text of a form. */
  readonly body: unknown;
  readonly response: ServerResponse;
  /** Resolves when the caller closed the connection before the response was complete. */
  readonly aborted: Promise<void>;
}

/** The server that the stubs call. */
export class StubServer {
  /** The received calls, in order. */
  readonly calls: ReceivedCall[] = [];
  /** Responds to a call. Tests replace it. */
  respond: (call: ReceivedCall) => void = respondWithJson(404, {});
  #server: LocalServer | undefined;

  /** Starts the server. The caller has to {@link close} it. */
  static async open(): Promise<StubServer> {
    const stubs = new StubServer();
    stubs.#server = await listen(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer); // a request without encoding yields buffers
      const aborted = new Promise<void>((resolve) => response.once("close", () => response.writableEnded || resolve()));
      const text = Buffer.concat(chunks).toString();
      const isForm = request.headers["content-type"]?.startsWith("multipart/form-data");
      const body = isForm ? text : JSON.parse(text);
      const call = { url: request.url ?? "", headers: request.headers, body, response, aborted };
      stubs.calls.push(call);
      stubs.respond(call);
    });
    return stubs;
  }

  /**
   * Loads the stubs as on a newly loaded page.
   *
   * @param options `token` is the CSRF token of the page; `base` is the base URL of the application, by default the one
   *   that this server serves; `build` is the id of the page's build
   */
  async load({
    token,
    base = `${this.#server?.address}/app`,
    build,
  }: {
    token?: string;
    base?: string;
    build?: string;
  } = {}) {
    vi.resetModules();
    vi.stubGlobal("document", {
      querySelector: (selector: string) =>
        selector === "script#tsweb"
          ? { textContent: JSON.stringify({ base, build, views: [] }) }
          : selector === 'meta[name="csrf-token"]' && token !== undefined
            ? { content: token }
            : null,
    });
    const page = new EventTarget();
    vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
    vi.stubGlobal("dispatchEvent", page.dispatchEvent.bind(page));
    const module = await import("../../src/browser/stub.ts");
    const { RPCError } = await import("../../src/errors.ts");
    return { ...module, RPCError, page };
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}

/** Returns a handler that responds with JSON. */
export function respondWithJson(status: number, body: unknown, headers: Record<string, string> = {}) {
  return ({ response }: ReceivedCall) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
}

/** Returns a handler that responds with a stream of these lines. */
export function respondWithLines(...values: unknown[]) {
  return ({ response }: ReceivedCall) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  };
}

/** Returns the fields of the error with which a call rejected, in a form that can be compared. */
export async function rejectionFieldsOf(promise: Promise<unknown>) {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { name, code, message, details, cause } = error as RPCError; // missing fields are undefined, which no test expects
  return { name, code, message, details, cause };
}
