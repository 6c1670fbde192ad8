import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import type { NodeHandler } from "../../../adapters/index.ts";
import { randomHex } from "../../../http/index.ts";
import { EDIT_AGE_HEADER, EDIT_EFFECT_HEADER, EDITS_PATH } from "../../../protocol/index.ts";
import { setHeaders } from "./requests.ts";

/** How long Vite may take to detect an edit. */
const SETTLE_MS = 500;

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
   * Responds with the current version at {@link EDITS_PATH}, and how long ago the last edit was; other requests are
   * passed on.
   */
  handle(next: NodeHandler): NodeHandler {
    return (request, response) => {
      if (request.url !== EDITS_PATH) return this.#atRequest.run(this.current, () => next(request, response));
      setHeaders(request, response);
      const age = String(performance.now() - this.#editedAt);
      const ages = { [EDIT_AGE_HEADER]: age, [EDIT_EFFECT_HEADER]: String(SETTLE_MS) };
      response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-store", ...ages });
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
