/// <reference path="../assets.d.ts" preserve="true" />

/**
 * The entry point `tsweb/browser`: views, their state and lifecycle, and live subscriptions. Bundlers remove the functions
 * that a page does not use.
 *
 * On the server, `tsweb/browser` resolves to `src/pages/browser.ts`, which imports this file. So no module that is
 * imported here may use the document when it is loaded.
 */

export type { ComponentChildren, FunctionComponent, RefObject, TargetedEvent } from "preact";
export { type ErrorCode, RPCError } from "../errors.ts";
export type {
  Call,
  ChannelMessage,
  Channels,
  Feed,
  FormHandle,
  FormOptions,
  FormOutcome,
  GapReason,
  JSX,
  LiveHandle,
  Markup,
  Person,
  Presence,
  Serialized,
  Stream,
  ViewFormHandle,
  ViewFormOptions,
} from "../protocol/index.ts";
export { form } from "./form.ts";
export { on_progress } from "./form-upload.ts";
export { no_wait } from "./landing.ts";
export { on_mount, on_unmount } from "./lifecycle.ts";
export { type Draft, type Live, live } from "./live-value.ts";
export { optimistic } from "./optimistic.ts";
export { type People, present } from "./present.ts";
export { state } from "./state.ts";
export { type SubscribeOptions, subscribe } from "./subscribe.ts";
export { type View, type ViewOptions, type ViewProps, view } from "./view.ts";
