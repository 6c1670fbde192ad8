import type { EventEmitter } from "node:events";
import type { NodeHandler } from "../adapters/index.ts";
import { EDITS_PATH } from "./dev-assets.ts";

/** How long Vite may take to detect an edit. */
const SETTLE_MS = 500;

/**
 * Rejects requests for other hosts than loopback hosts and those that the project's Vite config allows.
 *
 * Prevents DNS rebinding: a site that points its own name at 127.0.0.1 could otherwise read the application's source
 * in the developer's browser, with their cookies, whose key can be guessed.
 *
 * @param allowedHosts as in `server.allowedHosts` of Vite
 */
export function allowOnlyLoopback(allowedHosts: true | readonly string[] | undefined, next: NodeHandler): NodeHandler {
  return (request, response) => {
    const name = hostName(request.headers.host);
    if (allowedHosts === true || isLoopback(name) || allowedHosts?.some((allowed) => matches(name, allowed))) {
      return next(request, response);
    }
    response.writeHead(403, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(
      "The development server only serves loopback hosts: open http://localhost. To allow another host, add it to " +
        "server.allowedHosts in vite.config.ts.\n",
    );
  };
}

/** Returns the name in a Host header, in lower case; an empty string without one. */
function hostName(host = ""): string {
  const name = /^(?<name>\[[0-9a-f:.]+\]|[^:]+)(?::\d*)?$/i.exec(host)?.groups?.name ?? "";
  return name.toLowerCase().replace(/\.$/, "");
}

/** Returns whether a host can only be this machine. `127.0.0.1.evil.example` is a name, not an address. */
function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Matches as Vite does: a dot at the front allows subdomains. */
function matches(name: string, allowed: string): boolean {
  return allowed.startsWith(".") ? name === allowed.slice(1) || name.endsWith(allowed) : name === allowed;
}

/**
 * Responds at {@link EDITS_PATH} with the number of edits, and a `+` after it while the last one may not have taken
 * effect. Error pages reload whenever the text changes, so twice for an edit: a page that was requested between the
 * two may still show the old error.
 *
 * @param edits emits `all` for each edit
 */
export function countEdits(edits: EventEmitter, next: NodeHandler): NodeHandler {
  let count = 0;
  let settling: NodeJS.Timeout | undefined;
  edits.on("all", () => {
    count++;
    clearTimeout(settling);
    settling = setTimeout(() => {
      settling = undefined;
    }, SETTLE_MS).unref();
  });
  return (request, response) => {
    if (request.url !== EDITS_PATH) return next(request, response);
    response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-store" });
    response.end(`${count}${settling ? "+" : ""}`);
  };
}
