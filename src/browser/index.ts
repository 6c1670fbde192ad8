/// <reference path="../assets.d.ts" preserve="true" />

/**
 * `tsweb/browser`: what views are made with. What a page does not use, it does not ship.
 */

export type { ComponentChildren, FunctionComponent, JSX, RefObject, TargetedEvent } from "preact";
export type { ErrorCode } from "../errors.ts";
export { RPCError } from "../errors.ts";
export type { Feed, Stream } from "../protocol/index.ts";
export { on_mount, on_unmount } from "./lifecycle.ts";
export { state } from "./state.ts";
export { type SubscribeOptions, subscribe } from "./subscribe.ts";
export type { View, ViewProps } from "./view.ts";
export { view } from "./view.ts";
