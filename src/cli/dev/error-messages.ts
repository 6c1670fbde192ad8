import type { EventEmitter } from "node:events";
import { type ErrorPayload, type HotPayload, normalizePath, type Plugin } from "vite";
import { isServerModule, namesServerOnlyUrl } from "../../compile/index.ts";
import { explainError } from "../errors/index.ts";
import { overlayOf } from "./browser-errors.ts";

/**
 * How long an error waits before it is sent. An editor saves several files one after the other: an error that another
 * file has already fixed is not shown.
 */
const HOLD_MS = 150;

/**
 * Changes the errors that Vite sends to open pages, for its overlay: locations are those of the project, as editors read
 * them. Source text of server-only files is removed, because clients on other machines receive the errors too. An error
 * in a server module reaches pages when a view imports its stubs. The terminal and the error page show it in full.
 *
 * @param edits emits `all` for each edit
 */
export function explainOverlayErrors(edits: EventEmitter): Plugin {
  return {
    name: "tsweb:explain-overlay-errors",
    configureServer({ config, environments }) {
      const { hot } = environments.client;
      const send: (payload: HotPayload) => void = hot.send.bind(hot);
      const sendUnlessEdited = (payload: HotPayload) => {
        const cancel = () => clearTimeout(holding);
        const holding = setTimeout(() => {
          edits.off("all", cancel);
          send(payload);
        }, HOLD_MS);
        edits.once("all", cancel);
      };
      const redactAndSend = (...message: [HotPayload] | [event: string, data?: unknown]) => {
        const [payload] = message;
        if (typeof payload === "string") send({ type: "custom", event: payload, data: message[1] });
        else if (payload.type !== "error") send(payload);
        else sendUnlessEdited({ ...payload, err: toShow(payload.err, config.root) });
      };
      Object.assign(hot, { send: redactAndSend });
    },
  };
}

function toShow(error: ErrorPayload["err"], root: string): ErrorPayload["err"] {
  const redacted = redact(error, root);
  return redacted === error ? overlayOf(explainError(error, root)) : redacted;
}

/** Returns an error as it may be sent: without message, stack and source lines if it is in a server-only file. */
function redact(error: ErrorPayload["err"], root: string): ErrorPayload["err"] {
  const files = [error.id, error.loc?.file].filter((file) => file !== undefined).map(normalizePath);
  const isServerOnly = files.some(
    (file) => file.includes("tsweb-stub:") || isServerModule(file, root) || namesServerOnlyUrl(`/@fs/${file}`, root),
  );
  if (!isServerOnly) return error;
  return { message: "A server module has an error. The terminal of the development server shows it.", stack: "" };
}
