/**
 * `tsweb/browser` as the server sees it: the same names as in the browser, with the server's twin
 * of `view`.
 */

export { on_mount, on_unmount, state } from "../browser/index.ts";
export { RPCError } from "../errors.ts";
export { view } from "./view.ts";
