import type { IncomingMessage } from "node:http";
import { stripVTControlCharacters } from "node:util";
import type { Plugin } from "vite";
import type { NodeHandler } from "../../../adapters/index.ts";
import { type BuildToolAccess, parsePolicy } from "../../../http/index.ts";
import { VIOLATIONS_EVENT } from "../../../protocol/index.ts";
import { DEV_BASE, POLICY_REPORTS_PATH, setHeaders } from "../server/index.ts";

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

/** A violation of the content security policy, as a browser has reported it. */
interface PolicyViolation {
  /** The origin of the page, such as `http://localhost:3000`. */
  readonly origin: string;
  /** The path of the page, without its query: that may contain a token. */
  readonly path: string;
  /** The directive that applied, such as `img-src`. */
  readonly directive: string;
  /** The URL that was blocked, or what it is: `inline`, `eval`, `wasm-eval`, `data`. */
  readonly blocked: string;
  /** The file whose code caused it, relative to the project; empty when unknown. */
  readonly file: string;
  /** The policy that was violated. */
  readonly policy: string;
}

/** The longest text of a report that is shown, in characters. A `data:` URL can have megabytes. */
const MAX_SHOWN = 300;

/**
 * Returns the violation in the body of a report; `undefined` if it is not a report. The texts come from a page, so they
 * are shortened, and contain no control characters, which a terminal would execute.
 *
 * @param body the text of a body of the type `application/csp-report`
 * @see https://www.w3.org/TR/CSP3/#deprecated-serialize-violation
 */
export function readViolation(body: string): PolicyViolation | undefined {
  const report = parseReport(body);
  const text = (name: string) => printable(report?.[name]);
  const directive = text("effective-directive") || (text("violated-directive").split(" ")[0] ?? "");
  const page = text("document-uri");
  if (!/^[a-z-]+$/.test(directive) || !URL.canParse(page)) return undefined;
  const { origin, pathname: path } = new URL(page);
  const policy = report?.["original-policy"];
  return {
    origin,
    path,
    directive,
    blocked: text("blocked-uri") || "inline", // Firefox sends an empty text for some inline code
    file: projectFile(text("source-file"), origin),
    policy: typeof policy === "string" ? policy : "",
  };
}

function parseReport(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== "object" || parsed === null || !("csp-report" in parsed)) return undefined;
    const report = parsed["csp-report"];
    return typeof report === "object" && report !== null ? { ...report } : undefined;
  } catch {
    return undefined; // not JSON
  }
}

function printable(value: unknown): string {
  if (typeof value !== "string") return "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return stripVTControlCharacters(value.slice(0, MAX_SHOWN)).replace(/[\x00-\x1f\x7f-\x9f]/g, "");
}

/** Returns the file of a module of the development server; an empty text for any other URL. */
function projectFile(url: string, origin: string): string {
  const prefix = `${origin}${DEV_BASE}`;
  const path = url.startsWith(prefix) ? url.slice(prefix.length).replace(/[?#].*$/s, "") : "";
  return /^[@\0]|node_modules/.test(path) ? "" : path;
}

/**
 * Returns the message for a violation: what was blocked, and which option of tsweb allows it.
 *
 * @param nonce the nonce of the build tool, which is not a part of the application's policy
 */
export function describeViolation(violation: PolicyViolation, nonce: string): string {
  const { origin, path, directive, blocked, file } = violation;
  if (isOfBuildTool(blocked, origin)) {
    return (
      `The page ${path} is not updated after edits: its content security policy blocks the development server's ` +
      `${shorten(blocked)} (${directive}). Production is not affected. To get updates, allow 'self' in ${directive}.`
    );
  }
  const by = file && file !== blocked ? ` for ${file}` : "";
  return [
    `The content security policy blocked ${subjectOf(violation)} on the page ${path}${by} (${directive}). ` +
      "Production blocks it too.",
    ...(REPLACEMENTS[`${directive} ${blocked}`] ?? REPLACEMENTS[blocked] ?? []),
    `To allow it: new App({ policy: { ${optionOf(violation, nonce)} } }), or the option policy of the page.`,
  ].join("\n  ");
}

/** What to do in place of allowing it, by directive and kind, or by kind. */
const REPLACEMENTS: Readonly<Record<string, readonly string[]>> = {
  "style-src-attr inline": ["Better: set a class, and define its style in a style sheet."],
  "style-src-elem inline": ["Better: move the styles into a style sheet, and import it."],
  "script-src-elem inline": [
    "Better: move the code into a view. Inline code that is allowed can also be an attacker's.",
  ],
  "script-src-attr inline": ["Better: use an event handler of a view, such as onClick={…}."],
  eval: ["Better: replace the library that compiles code in the browser."],
};

function isOfBuildTool(blocked: string, origin: string): boolean {
  return blocked.replace(/^ws/, "http").startsWith(`${origin}${DEV_BASE}`) && /^ws/.test(blocked);
}

function subjectOf({ directive, blocked }: PolicyViolation): string {
  if (blocked === "eval") return "eval()";
  if (blocked === "wasm-eval") return "the compilation of WebAssembly";
  if (blocked !== "inline") return shorten(blocked);
  if (directive === "style-src-attr") return "a style attribute";
  if (directive === "style-src-elem") return "a <style> element";
  return directive === "script-src-attr" ? "an inline event handler" : "an inline script";
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** Returns the member of `policy` that allows what was blocked, as source code. */
function optionOf({ directive, blocked, policy }: PolicyViolation, nonce: string): string {
  const directives = new Map(
    [...parsePolicy(policy)].map(([name, sources]) => [
      name,
      sources.filter((source) => source !== `'nonce-${nonce}'`),
    ]),
  );
  const name = optionName(directive, directives);
  const inherited = fallbacksOf(name).map((fallback) => directives.get(fallback));
  // The source of an attribute is 'unsafe-inline' or a hash, so it inherits no other source.
  const before = name.endsWith("-attr") ? [] : (inherited.find(Boolean) ?? []).filter((source) => source !== "'none'");
  return `${JSON.stringify(name)}: ${JSON.stringify([...before, sourceOf(blocked)].join(" "))}`;
}

/**
 * Returns the directive to change. The development server has added directives for elements; the application changes the
 * general directive, unless it has a directive for elements of its own.
 */
function optionName(directive: string, directives: ReadonlyMap<string, readonly string[]>): string {
  const general = directive.replace(/-elem$/, "");
  if (general === directive) return directive;
  const [own, ...others] = fallbacksOf(directive).map((name) => directives.get(name)?.join(" "));
  const inherited = others.find((sources) => sources !== undefined);
  return own === undefined || own === (inherited === "'none'" ? "" : inherited) ? general : directive;
}

/** Returns the directives that apply to a kind of load, the first that is present. @see CSP level 3, section 6.8.3 */
function fallbacksOf(directive: string): readonly string[] {
  if (/-(elem|attr)$/.test(directive)) return [directive, directive.replace(/-(elem|attr)$/, ""), "default-src"];
  if (directive === "worker-src") return [directive, "child-src", "script-src", "default-src"];
  if (directive === "frame-src") return [directive, "child-src", "default-src"];
  return directive.endsWith("-src") ? [directive, "default-src"] : [directive];
}

/** Returns the source expression that matches what was blocked. */
function sourceOf(blocked: string): string {
  if (blocked === "inline") return "'unsafe-inline'";
  if (blocked === "eval") return "'unsafe-eval'";
  if (blocked === "wasm-eval") return "'wasm-unsafe-eval'";
  if (!URL.canParse(blocked)) return `${blocked}:`; // the scheme alone: data, blob
  const { origin, protocol, host } = new URL(blocked);
  if (origin !== "null") return origin;
  return host ? `${protocol}//${host}` : protocol;
}
