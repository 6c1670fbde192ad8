import type { IncomingMessage } from "node:http";
import type { Plugin } from "vite";
import type { NodeHandler } from "../../adapters/index.ts";
import type { BuildToolAccess } from "../../http/index.ts";
import { POLICY_REPORTS_PATH, VIOLATIONS_EVENT } from "./assets.ts";
import { describeViolation, type PolicyViolation, readViolation } from "./policy-advice.ts";
import { setHeaders } from "./requests.ts";

/** The largest report that is read, in bytes. It contains the policy and a few URLs. */
const MAX_REPORT_BYTES = 65_536;

/** The number of messages that are kept. Further ones would be of a page that violates the policy in a loop. */
const MAX_MESSAGES = 200;

/** A message for the console of a page, and when it was reported last, in milliseconds. */
interface ReportedMessage {
  readonly path: string;
  readonly text: string;
  readonly time: number;
}

/**
 * The violations of the content security policy in development. Each is logged once for each directive and URL, with the
 * option that allows it. The pages show the messages in their console as well.
 */
export class PolicyViolations {
  readonly #access: BuildToolAccess;
  readonly #log: (message: string) => void;
  readonly #logged = new Set<string>();
  readonly #messages = new Map<string, ReportedMessage>();
  #send: (path: string, texts: readonly string[]) => void = () => undefined;

  constructor(access: BuildToolAccess, log: (message: string) => void) {
    this.#access = access;
    this.#log = log;
  }

  /** Sends messages to the pages that they concern, also those that were reported before the page had connected. */
  plugin(): Plugin {
    return {
      name: "tsweb:policy-violations",
      configureServer: ({ environments }) => {
        const { hot } = environments.client;
        this.#send = (path, messages) => hot.send(VIOLATIONS_EVENT, { path, messages });
        hot.on(VIOLATIONS_EVENT, (request: unknown) => {
          const { path, since } = readRequest(request);
          const messages = [...this.#messages.values()].filter((each) => each.path === path && each.time >= since);
          if (messages.length > 0)
            this.#send(
              path,
              messages.map(({ text }) => text),
            );
        });
      },
    };
  }

  /** Handles the reports of browsers. */
  handle(next: NodeHandler): NodeHandler {
    return async (request, response) => {
      if (request.url !== POLICY_REPORTS_PATH || request.method !== "POST") return next(request, response);
      setHeaders(request, response);
      response.writeHead(await this.#receive(request), { "cache-control": "no-store", "content-length": 0 });
      response.end();
    };
  }

  /** @returns the status of the response */
  async #receive(request: IncomingMessage): Promise<number> {
    // Other sites can send this type only as reports of their own policy: those name their own page.
    if (request.headers["content-type"] !== "application/csp-report") return 415;
    const body = await readReport(request);
    if (body === undefined) return 413;
    const violation = readViolation(body);
    if (!violation) return 400;
    if (new URL(violation.origin).host !== request.headers.host?.toLowerCase()) return 403;
    this.#report(violation);
    return 204;
  }

  #report(violation: PolicyViolation): void {
    const { directive, blocked, path } = violation;
    const isUrl = URL.canParse(blocked);
    const key = `${directive} ${isUrl ? blocked : `${blocked} ${path}`}`;
    const text = describeViolation(violation, this.#access.nonce);
    if (!this.#logged.has(key) && this.#logged.size < MAX_MESSAGES) {
      this.#logged.add(key);
      this.#log(text);
    }
    const id = `${path} ${key}`;
    if (!this.#messages.has(id) && this.#messages.size >= MAX_MESSAGES) return;
    this.#messages.set(id, { path, text, time: Date.now() });
    this.#send(path, [text]);
  }
}

function readRequest(request: unknown): { path: string; since: number } {
  const { path, since }: { path?: unknown; since?: unknown } = Object(request);
  return { path: String(path), since: Number(since) };
}

/** Returns the body of a request; `undefined` if it is too large. */
async function readReport(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size > MAX_REPORT_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return ""; // the client has disconnected
  }
  return Buffer.concat(chunks).toString("utf8");
}
