/**
 * The server's version of the entry point `tsweb/browser`. It has the same exports as `src/browser/index.ts`, with
 * other implementations of `form`, `subscribe` and `view`. `package.json` selects between them by the condition `browser`.
 */

export { on_mount, on_progress, on_unmount, present, state } from "../browser/index.ts";
export { RPCError } from "../errors.ts";
export { form, subscribe, view } from "./view.ts";
