import { randomBytes } from "node:crypto";
import { rejectUnknownOptions } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import { ContextKey, type RequestContext, requireClientContext, UnavailableError } from "../http/index.ts";
import { MAX_PRESENCE_BYTES, type Person, type Presence, type Serialized, toJson } from "../protocol/index.ts";
import { waitAtMost } from "../reconnect.ts";
import { hasSessionEnded, keysFor, MAX_TOKEN_CHARS, session, sessionId } from "../session/index.ts";
import { currentBus } from "./app-registry.ts";
import { checkChannelName } from "./channel.ts";
import type { PresenceList } from "./presence-list.ts";
import type { PresenceRooms } from "./presence-rooms.ts";
import { signPresence } from "./presence-token.ts";

/** The lifetime of a token, in seconds: 24 hours, as of a feed. */
const TTL_SECONDS = 24 * 60 * 60;

/** How long `presence` and `who` wait for the bus. */
const READ_TIMEOUT_MS = 2_000;

/** The options of {@link presence}. */
export interface PresenceOptions {
  /** Whether signed-out clients can be present, each page as an entry of its own. Default: false. */
  readonly anonymous?: boolean;
}

const PRESENCE_OPTIONS: Readonly<Record<keyof PresenceOptions, true>> = { anonymous: true };

/** Identifies the page load of a request, for all its channels. */
const PAGE_ID = new ContextKey<string>();

/**
 * Resolves with who is present in a channel, and a token with which the page can be present itself: pass it to a view, which
 * calls `present(props.here)`. The user is present as soon as the view is in the page, and as long as the page is open.
 *
 * Every page with the token sees everyone: call `session.require()` before, if access is restricted. If the bus is unreachable,
 * the list is empty, and `stale`.
 *
 * @param name the name of a channel, as of `channel`; presence and messages of one name are independent
 * @param data what the other pages see of the user, such as the name: at most 1 KiB of JSON. The token contains it, signed, and
 *   readable for its holder.
 * @param options `anonymous`: whether signed-out clients can be present
 * @throws RPCError `unauthenticated` if the client is signed out, unless `anonymous` is set
 * @throws TypeError for an invalid name, or an unknown option
 * @throws SerializeError for data that cannot be serialised as JSON
 * @throws RangeError for data that are too large
 * @throws Error outside a request, and if a bus of the application does not store who is present
 * @see docs/protocol.md 10.12
 * @example const here = await presence("board:1", { name: user.name });
 */
export async function presence<Data = null>(
  name: string,
  data?: Data,
  options: PresenceOptions = {},
): Promise<Presence<Data, never>> {
  const context = requireClientContext("presence()");
  checkChannelName(name, "presence");
  rejectUnknownOptions(options, PRESENCE_OPTIONS, "presence()");
  const user = session.user()?.sub ?? null;
  if (hasSessionEnded(context) || (user === null && options.anonymous !== true)) {
    throw new RPCError("unauthenticated", "Please sign in.");
  }
  const token = issueToken(context, { channel: name, user, data: toData(data, name) });
  const list = await readInTime(currentBus("presence").presence, name);
  const { version, stale } = list;
  return { channel: name, token, list: peopleOf<Serialized<Data>, never>(list), v: version, stale };
}

/**
 * Resolves with who is present in a channel, ordered by their ids. Works anywhere on the server, as `publish` does.
 *
 * @template Data what was passed to `presence`
 * @throws TypeError for an invalid name
 * @throws RPCError when the bus does not respond within 2 seconds
 * @throws Error outside a request, if the process has several applications
 * @example const people = await who<{ name: string }>("board:1");
 */
export async function who<Data = unknown>(name: string): Promise<Person<Serialized<Data>>[]> {
  checkChannelName(name, "who");
  const list = await readInTime(currentBus("who").presence, name);
  if (list.stale) throw new UnavailableError(`The bus did not return who is present in ${name}.`);
  return peopleOf(list);
}

function toData(data: unknown, name: string): string {
  const json = toJson(data ?? null, { subject: `presence of ${name}` });
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_PRESENCE_BYTES) return json;
  throw new RangeError(
    `presence: the data for ${name} have ${bytes} bytes of JSON; the maximum is ${MAX_PRESENCE_BYTES}. Pass what the other ` +
      "pages show of a user, such as the name, and the URL of a picture in place of the picture.",
  );
}

function issueToken(
  context: RequestContext,
  content: { readonly channel: string; readonly user: string | null; readonly data: string },
): string {
  const id = context.get(PAGE_ID) ?? randomBytes(16).toString("base64url");
  context.set(PAGE_ID, id);
  const issuedAt = Math.floor(Date.now() / 1000);
  const payload = { ...content, id, sid: sessionId(context), issuedAt, expiresAt: issuedAt + TTL_SECONDS };
  const token = signPresence(payload, keysFor(context.config, "presence"));
  if (token.length <= MAX_TOKEN_CHARS) return token;
  throw new RangeError(
    `presence: the token for ${content.channel} would have ${token.length} characters; the maximum is ${MAX_TOKEN_CHARS}. Use a ` +
      "shorter user id, or pass less data.",
  );
}

/** Returns the list of a channel; a stale one if it cannot be read in time: the one that was read last, or an empty one. */
async function readInTime(rooms: PresenceRooms, channel: string): Promise<PresenceList> {
  return (await waitAtMost(rooms.read(channel), READ_TIMEOUT_MS, null)) ?? rooms.lastList(channel);
}

function peopleOf<Data, State>({ entries }: PresenceList): Person<Data, State>[] {
  return [...entries.values()].map((entry) => JSON.parse(entry)); // the caller knows what it has passed to `presence`
}
