import type { EventEmitter } from "node:events";
import type { NodeHandler } from "../adapters/index.ts";
import { EDITS } from "./dev-assets.ts";

/** How long after an edit the build tool has surely taken note of it. */
const SETTLED_MS = 500;

/**
 * Lets only those in who ask for a loopback host, or for one that the project's Vite config allows.
 *
 * A site that points its own name at 127.0.0.1 (DNS rebinding) would else read the application's
 * source in the developer's browser, with their cookies, the key of which can be guessed.
 */
export function guardHost(allowed: true | readonly string[] | undefined, handle: NodeHandler): NodeHandler {
  return (request, response) => {
    const name = hostName(request.headers.host);
    if (allowed === true || isLoopback(name) || allowed?.some((each) => matches(name, each))) {
      return handle(request, response);
    }
    response.writeHead(403, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(
      "The development server answers loopback hosts only: open http://localhost. To let another name in, " +
        "list it in server.allowedHosts of vite.config.ts.\n",
    );
  };
}

/** Gives a host without its port; empty for none, which no browser sends. */
function hostName(host = ""): string {
  const name = /^(?<name>\[[0-9a-f:.]+\]|[^:]+)(?::\d*)?$/i.exec(host)?.groups?.name ?? "";
  return name.toLowerCase().replace(/\.$/, "");
}

/** Answers whether a host can only be this machine. Numbers must be whole: 127.0.0.1.evil.example is a name. */
function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** As Vite reads its own list: a dot in front lets subdomains in. */
function matches(name: string, allowed: string): boolean {
  return allowed.startsWith(".") ? name === allowed.slice(1) || name.endsWith(allowed) : name === allowed;
}

/**
 * Tells how many edits there were, with a `+` behind while the last may not have taken effect: error
 * pages reload when it changes, so twice for an edit. One that was asked for between the two may
 * still show what was wrong before.
 *
 * @param heard tells of each by `all`
 */
export function answerEdits(heard: EventEmitter, handle: NodeHandler): NodeHandler {
  let edits = 0;
  let settling: NodeJS.Timeout | undefined;
  heard.on("all", () => {
    edits++;
    clearTimeout(settling);
    settling = setTimeout(() => {
      settling = undefined;
    }, SETTLED_MS).unref();
  });
  return (request, response) => {
    if (request.url !== EDITS) return handle(request, response);
    response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-store" });
    response.end(`${edits}${settling ? "+" : ""}`);
  };
}
