import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import type { HotPayload, NormalizedHotChannelClient, Plugin, ViteDevServer } from "vite";
import type { NodeHandler } from "../../../adapters/index.ts";
import { randomHex } from "../../../http/index.ts";
import {
  CONNECTED_EVENT,
  EDIT_AGE_HEADER,
  EDIT_EFFECT_HEADER,
  EDITED_PATH,
  EDITS_PATH,
} from "../../../protocol/index.ts";
import { setHeaders } from "./requests.ts";

/** How long Vite may take to detect an edit. */
const SETTLE_MS = 500;

const CLEAR = { "clear-site-data": '"prefetchCache"' };

/**
 * The versions of the application's files: a text that changes with each edit, and once more when the edit must have
 * taken effect. Error pages reload whenever it is not the version at the start of their request. It differs from the
 * versions of other development servers.
 */
export class EditVersions {
  readonly #server = randomHex(8);
  readonly #atRequest = new AsyncLocalStorage<string>();
  #count = 0;
  #editedAt = performance.now();
  #settling: NodeJS.Timeout | undefined;

  /** @param edits emits `all` for each edit */
  constructor(edits: EventEmitter) {
    edits.on("all", () => {
      this.#count++;
      this.#editedAt = performance.now();
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => {
        this.#settling = undefined;
      }, SETTLE_MS).unref();
    });
  }

  /** The version when the current request arrived; outside of requests the current version. */
  get atRequest(): string {
    return this.#atRequest.getStore() ?? this.current;
  }

  /**
   * Responds with the current version at {@link EDITS_PATH}, and how long ago the last edit was, and the same at
   * {@link EDITED_PATH}; other requests are passed on.
   */
  handle(next: NodeHandler): NodeHandler {
    return (request, response) => {
      const isEdited = request.url === EDITED_PATH;
      if (request.url !== EDITS_PATH && !isEdited)
        return this.#atRequest.run(this.current, () => next(request, response));
      setHeaders(request, response);
      const age = String(performance.now() - this.#editedAt);
      const ages = { [EDIT_AGE_HEADER]: age, [EDIT_EFFECT_HEADER]: String(SETTLE_MS) };
      response.writeHead(200, {
        "content-type": "text/plain",
        "cache-control": "no-store",
        ...ages,
        ...(isEdited ? CLEAR : {}),
      });
      response.end(this.current);
    };
  }

  /** The number of edits. */
  get count(): number {
    return this.#count;
  }

  /** The version now. */
  get current(): string {
    return `${this.#count}.${this.#server}${this.#settling ? "+" : ""}`; // tests read the number
  }
}

/**
 * Passes all messages to the open pages to a function, which sends them on, in place of sending them.
 *
 * @param hot the connections of the pages, which it changes
 * @param handle called with a message, and with the function that sent it so far
 */
export function interceptMessages(
  hot: HotChannel,
  handle: (payload: HotPayload, send: (payload: HotPayload) => void) => void,
): void {
  const send: (payload: HotPayload) => void = hot.send.bind(hot);
  const intercept = (...message: [HotPayload] | [event: string, data?: unknown]) => {
    const [payload] = message;
    handle(typeof payload === "string" ? { type: "custom", event: payload, data: message[1] } : payload, send);
  };
  Object.assign(hot, { send: intercept });
}

type HotChannel = ViteDevServer["environments"]["client"]["hot"];

/**
 * Reloads a page that was requested before an update and has connected after it. Vite sends an update only to the pages that
 * are connected. If there are none, it keeps a reload for the next page, also for one that is requested later: that is dropped.
 */
export function reloadLatePages(): Plugin {
  return {
    name: "tsweb:reload-late-pages",
    configureServer({ environments, ws }) {
      const { hot } = environments.client;
      let updatedAt = Number.NEGATIVE_INFINITY;
      /** When the last update before the connection of a page was sent. */
      const missed = new WeakMap<NormalizedHotChannelClient, number>();
      interceptMessages(hot, (payload, send) => {
        const isUpdate = payload.type === "update" || payload.type === "full-reload";
        if (isUpdate) updatedAt = performance.now();
        if (!isUpdate || ws.clients.size > 0) send(payload);
      });
      hot.on("vite:client:connect", (_data, client) => missed.set(client, updatedAt));
      hot.on(CONNECTED_EVENT, (data: unknown, client) => {
        const requestedAt = performance.now() - Number(Object(data).age);
        if ((missed.get(client) ?? Number.NaN) >= requestedAt) client.send({ type: "full-reload", path: "*" });
      });
    },
  };
}
