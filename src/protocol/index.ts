/**
 * Everything that the browser, the client and the server must agree on, defined once: paths, headers, media types,
 * stream lines and events, feeds, positions, signatures, and serialised values. It also runs in the browser, so it
 * imports only errors.ts and does not use the document.
 */
export {
  type Arguments,
  abortable,
  authorizationOf,
  BEARER_TOKEN,
  type BearerSource,
  type Call,
  type CallOptions,
  callError,
  cancelledError,
  checkBearerSource,
  errorFromJson,
  readResult,
  toNamedArguments,
} from "./call.ts";
export { checkArgumentCount, checkArguments } from "./check-arguments.ts";
export {
  CONNECTED_EVENT,
  EDIT_AGE_HEADER,
  EDIT_EFFECT_HEADER,
  EDITED_PATH,
  EDITS_PATH,
  ERROR_EVENT,
  HYDRATION_PROBLEM_EVENT,
  PAGE_CHECK_EVENT,
  PANEL_PATH,
  returnedErrorMessage,
  STATIC_CHILDREN,
  UPDATE_FAILURE_EVENT,
  VIEWS_UPDATE_EVENT,
  VIOLATIONS_EVENT,
  WARNING_EVENT,
} from "./development.ts";
export {
  describeUnrenderable,
  invalidPropMessage,
  invalidTypeMessage,
  isPreactCopyError,
  isReactElement,
  isReactHookError,
  isReactType,
  preactCopyMessage,
  reactMessage,
  unrenderableMessage,
} from "./element-checks.ts";
export {
  type ChannelMessage,
  type Channels,
  type Feed,
  type FeedMessage,
  type ListenedMessage,
  type MessageByName,
  type PublishArguments,
  type PublishedMessage,
  readFeed,
} from "./feed.ts";
export {
  FEED_MAC_BYTES,
  FEED_TAG_BYTES,
  formatFeedText,
  MAX_CHANNEL_NAME_BYTES,
  MAX_FEED_CHARS,
  parseFeedText,
} from "./feed-layout.ts";
export {
  ARGUMENTS_FIELD,
  CSRF_FIELD,
  type FieldErrors,
  type FieldName,
  type FieldValues,
  FORM_PARAMETER,
  FORM_PREFIX,
  FORM_TYPE,
  type FormFunction,
  type FormHandle,
  type FormOptions,
  type FormOutcome,
  type FormSubmission,
  fieldErrorId,
  fieldErrors,
  formHead,
  isBlob,
  KEY_FIELD,
  readFormParameter,
  toFormData,
  type ViewFormHandle,
  type ViewFormOptions,
} from "./form.ts";
export { formatHref, type Linkable, parseUrl } from "./href.ts";
export { dropsLineFeed, keepLineFeed, selectedValues, valueOfOption, withSelection, withUnits } from "./html-props.ts";
export type { JSX, Markup } from "./jsx.ts";
export {
  createEventParser,
  EVENT_STREAM_TYPE,
  GAP_EVENT,
  type GapReason,
  isLater,
  isLivePath,
  LIVE_PATH,
  MAX_FEEDS,
  type PollResponse,
  PRESENCE_EVENT,
  PRESENCE_PATH,
  START,
} from "./live.ts";
export {
  CSRF_META,
  CSRF_META_SELECTOR,
  type IslandData,
  islandComment,
  isSubmissionOf,
  PAGE_DATA_ID,
  PAGE_DATA_SELECTOR,
  type PageData,
  WHOLE_PARAMETER,
} from "./page-data.ts";
export {
  MAX_PRESENCE_BYTES,
  type Person,
  PRESENCE_VERSION_SEPARATOR,
  type Presence,
  type PresenceFrame,
} from "./presence.ts";
export {
  checkLiveHandle,
  DEFAULT_QUERY_KEY,
  type LiveHandle,
  MAX_PUBLISHED_CHANNELS,
  MAX_QUERIES,
  MAX_QUERY_TOKEN_CHARS,
  MAX_QUERY_VALUE_BYTES,
  PUBLISHED_HEADER,
  QUERY_EVENT,
  QUERY_VERSION_SEPARATOR,
  type QueryFrame,
  type QueryPatchPart,
  TAGS_EVENT,
} from "./query.ts";
export { scriptUrlAttributes } from "./script-url.ts";
export { SerializeError, type SerializeOptions, toJson } from "./serialize.ts";
export type { IsAny, NotSendable, Sendable, Serialized, SerializedResult } from "./serialized.ts";
export {
  type Coercion,
  endpointKey,
  type FileCount,
  type FunctionDocumentation,
  type ListShape,
  type Literal,
  type ObjectFields,
  type ObjectShape,
  type PageSource,
  type Parameter,
  type ScalarKind,
  type Signature,
  type StringFormat,
  type TypeShape,
  takesFiles,
  type UnionCases,
  type ViewSource,
} from "./signature.ts";
export { chunkLine, DONE_LINE, errorLine, openStream, readLines, type Stream } from "./stream.ts";
export {
  BUILD_HEADER,
  BUILD_ID,
  BUILD_VERSION,
  CSRF_HEADER,
  IDEMPOTENCY_HEADER,
  JSON_TYPE,
  MAX_QUERY_FEEDS,
  NDJSON_TYPE,
  OPENAPI_PATH,
  POLL_PATH,
  REDIRECT_HEADER,
  REQUEST_ID_HEADER,
  RPC_PREFIX,
  SESSION_PATH,
  type StaleSide,
  TRACEPARENT_HEADER,
} from "./wire-names.ts";
