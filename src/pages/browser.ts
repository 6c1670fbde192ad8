/**
 * `tsweb/browser` as the server sees it: the same names as in the browser, with the server's twins
 * of `subscribe` and `view`.
 */

export { on_mount, on_unmount, state } from "../browser/index.ts";
export { RPCError } from "../errors.ts";
export { subscribe } from "./subscribe.ts";
export { view } from "./view.ts";
