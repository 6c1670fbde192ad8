/// <reference path="../assets.d.ts" preserve="true" />

/**
 * `tsweb/browser`: what views are made with. What a page does not use, it does not ship.
 */

export type { ComponentChildren, FunctionComponent, JSX, RefObject, TargetedEvent } from "preact";
export type { ErrorCode } from "../errors.ts";
export { RPCError } from "../errors.ts";
export type { Feed } from "../feed.ts";
export type { Stream } from "../stream.ts";
export { on_mount, on_unmount } from "./lifecycle.ts";
export type { GapReason } from "./live-listeners.ts";
export { state } from "./state.ts";
export { type SubscribeOptions, subscribe } from "./subscribe.ts";
export type { Markup, View, ViewProps } from "./view.ts";
export { view } from "./view.ts";
