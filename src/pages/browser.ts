/**
 * The server's version of the entry point `tsweb/browser`. It has the same exports as `src/browser/index.ts`, with
 * other implementations of `form`, `live`, `subscribe` and `view`. `package.json` selects between them by the condition `browser`.
 */

export { no_wait, on_mount, on_progress, on_unmount, optimistic, present, state } from "../browser/index.ts";
export { RPCError } from "../errors.ts";
export { form, live, subscribe, view } from "./view.ts";
