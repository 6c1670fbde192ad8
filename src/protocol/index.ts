/**
 * Everything that the browser, the client and the server must agree on, defined once: paths, headers, media types,
 * stream lines and events, feeds, positions, signatures, and serialised values. It also runs in the browser, so it
 * imports only errors.ts and does not use the document.
 */
export { abortable } from "./abortable.ts";
export { BUILD_ID, BUILD_VERSION, type StaleSide } from "./build-id.ts";
export { type Call, cancelledError } from "./call.ts";
export type { ChannelMessage, Channels, FeedMessage, MessageByName, PublishedMessage } from "./channels.ts";
export { checkArgumentCount, checkArguments } from "./check-arguments.ts";
export { invalidPropMessage } from "./element-props.ts";
export { invalidTypeMessage } from "./element-types.ts";
export { endpointKey } from "./endpoint-key.ts";
export { createEventParser, EVENT_STREAM_TYPE, type ServerSentEvent } from "./event-stream.ts";
export type { Feed } from "./feed.ts";
export {
  FEED_MAC_BYTES,
  FEED_TAG_BYTES,
  formatFeedText,
  MAX_CHANNEL_NAME_BYTES,
  MAX_FEED_CHARS,
  parseFeedText,
} from "./feed-layout.ts";
export {
  CSRF_FIELD,
  type FieldErrors,
  type FieldValues,
  FORM_PARAMETER,
  FORM_PREFIX,
  FORM_TYPE,
  type FormSubmission,
  fieldErrors,
  KEY_FIELD,
} from "./form.ts";
export { ARGUMENTS_FIELD, isBlob, toFormData } from "./form-arguments.ts";
export type {
  FieldName,
  FormFunction,
  FormHandle,
  FormOptions,
  FormOutcome,
  ViewFormHandle,
  ViewFormOptions,
} from "./form-handle.ts";
export { formHead } from "./form-head.ts";
export { fieldErrorId } from "./form-labels.ts";
export { readFormParameter } from "./form-parameter.ts";
export { GAP_EVENT, type GapReason } from "./gap.ts";
export { BUILD_HEADER, CSRF_HEADER, REDIRECT_HEADER, REQUEST_ID_HEADER, TRACEPARENT_HEADER } from "./headers.ts";
export { isSubmissionOf } from "./is-submission-of.ts";
export type { JSX } from "./jsx.ts";
export { dropsLineFeed, keepLineFeed } from "./leading-line-feed.ts";
export { readLines } from "./lines.ts";
export { LIVE_PATH, POLL_PATH } from "./live-paths.ts";
export type { Markup } from "./markup.ts";
export { JSON_TYPE, NDJSON_TYPE } from "./media-types.ts";
export { type Arguments, toNamedArguments } from "./named-arguments.ts";
export { openStream } from "./open-stream.ts";
export {
  CSRF_META,
  CSRF_META_SELECTOR,
  type IslandData,
  islandComment,
  PAGE_DATA_ID,
  PAGE_DATA_SELECTOR,
  type PageData,
} from "./page-data.ts";
export { OPENAPI_PATH, RPC_PREFIX } from "./paths.ts";
export type { PollResponse } from "./poll-response.ts";
export { isLater } from "./position.ts";
export {
  isPreactCopyError,
  isReactElement,
  isReactHookError,
  isReactType,
  preactCopyMessage,
  reactMessage,
} from "./react-markup.ts";
export { readFeed } from "./read-feed.ts";
export { callError, errorFromJson, readResult } from "./result.ts";
export { returnedErrorMessage } from "./returned-error.ts";
export { scriptUrlAttributes } from "./script-url.ts";
export { selectedValues, valueOfOption, withSelection } from "./select-options.ts";
export type { NotSendable, Sendable } from "./sendable.ts";
export { SerializeError, type SerializeOptions, toJson } from "./serialize.ts";
export type { Serialized, SerializedResult } from "./serialized.ts";
export type {
  Coercion,
  FileCount,
  FunctionDocumentation,
  PageSource,
  Parameter,
  Signature,
  ViewSource,
} from "./signature.ts";
export { STATIC_CHILDREN } from "./static-children.ts";
export type { Stream } from "./stream.ts";
export { chunkLine, DONE_LINE, errorLine } from "./stream-line.ts";
export { withUnits } from "./style-units.ts";
export type {
  ListShape,
  Literal,
  ObjectFields,
  ObjectShape,
  ScalarKind,
  StringFormat,
  TypeShape,
  UnionCases,
} from "./type-shape.ts";
export { describeUnrenderable, unrenderableMessage } from "./unrenderable.ts";
export { HYDRATION_PROBLEM_EVENT, VIEWS_UPDATE_EVENT } from "./views-update.ts";
