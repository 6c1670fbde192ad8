/** Who is present in a channel, as pages receive it: from members to entries, and from entries to frames. */
import { createHash } from "node:crypto";
import type { PresenceMember } from "../backends/index.ts";
import { PRESENCE_EVENT, type PresenceFrame } from "../protocol/index.ts";
import type { VerifiedPresence } from "./presence-token.ts";

/** The length of a version: a list never has that of another one by chance. */
const VERSION_CHARS = 12;

/** The list of a channel. */
export interface PresenceList {
  /** Changes with every change of the list. Equal lists have equal versions in all processes. */
  readonly version: string;
  /** Whether it may be out of date, because the bus is unreachable. */
  readonly stale: boolean;
  /** The entries as JSON, by their ids, ordered by these. */
  readonly entries: ReadonlyMap<string, string>;
}

/** The list before the bus was read. */
export const UNKNOWN_LIST: PresenceList = createList(new Map(), true);

/** The list of a channel in which nobody is present. */
export const EMPTY_LIST: PresenceList = createList(new Map(), false);

/** Returns the value of a member, which the bus stores: what its token has signed. */
export function memberValue({ id, user, data, issuedAt }: VerifiedPresence): string {
  const key = user === null ? `a:${id}` : `u:${user}`;
  return `${JSON.stringify([key, user, issuedAt])}\n${data}`;
}

/** The parts of {@link memberValue}. */
interface ParsedValue {
  readonly key: string;
  readonly user: string | null;
  readonly issuedAt: number;
  /** JSON */
  readonly data: string;
}

/** Returns `null` for the value of another version of tsweb. */
function parseValue(value: string): ParsedValue | null {
  const lineFeed = value.indexOf("\n");
  try {
    const [key, user, issuedAt] = JSON.parse(value.slice(0, lineFeed));
    return { key, user, issuedAt, data: value.slice(lineFeed + 1) };
  } catch {
    return null;
  }
}

/**
 * Returns the list of members: one entry for each user, and one for each page load of a signed-out client. Of several page
 * loads of a user, the data are those that were issued last, and the state the one that was set last.
 */
export function listOf(members: Iterable<PresenceMember>, stale: boolean): PresenceList {
  const groups = new Map<string, Group>();
  for (const { value, state } of members) {
    const parsed = parseValue(value);
    if (!parsed) continue;
    const group = groups.get(parsed.key);
    if (!group) {
      groups.set(parsed.key, { newest: parsed, state, tabs: 1 });
      continue;
    }
    group.tabs++;
    const { newest } = group;
    // Of two that were issued in the same second, every process has to choose the same one.
    if (parsed.issuedAt > newest.issuedAt || (parsed.issuedAt === newest.issuedAt && parsed.data > newest.data)) {
      group.newest = parsed;
    }
    if (state && state.order > (group.state?.order ?? 0)) group.state = state;
  }
  const entries = new Map<string, string>();
  for (const id of [...groups.keys()].sort()) {
    const group = groups.get(id);
    if (group) entries.set(id, formatEntry(id, group));
  }
  return createList(entries, stale);
}

interface Group {
  newest: ParsedValue;
  state: PresenceMember["state"];
  tabs: number;
}

function formatEntry(id: string, { newest: { user, data }, state, tabs }: Group): string {
  const head = JSON.stringify({ id, user, tabs }).slice(0, -1);
  return `${head},"data":${data},"state":${state?.json ?? "null"}}`;
}

function createList(entries: ReadonlyMap<string, string>, stale: boolean): PresenceList {
  const hash = createHash("sha256");
  for (const entry of entries.values()) hash.update(`${entry}\n`);
  return { version: hash.digest("base64url").slice(0, VERSION_CHARS) + (stale ? "!" : ""), stale, entries };
}

/** Returns the frame with all entries of a list, as JSON. */
export function fullFrame({ version, entries, stale }: PresenceList): string {
  return `{"v":"${version}","all":[${[...entries.values()].join()}]${staleMember(stale)}}`;
}

/** Returns the frame with the differences between two lists, as JSON. */
export function diffFrame(from: PresenceList, to: PresenceList): string {
  const set = [...to.entries].filter(([id, entry]) => from.entries.get(id) !== entry).map(([, entry]) => entry);
  const removed = [...from.entries.keys()].filter((id) => !to.entries.has(id));
  const members = [`"v":"${to.version}","from":"${from.version}"`];
  if (set.length > 0) members.push(`"set":[${set.join()}]`);
  if (removed.length > 0) members.push(`"del":${JSON.stringify(removed)}`);
  return `{${members.join()}${staleMember(to.stale)}}`;
}

/** Returns the frame for a token that is not valid any more: its page is not present. */
export function endedFrame(channel: string, token: string): Frame {
  return new Frame(channel, JSON.stringify({ ended: token } satisfies PresenceFrame));
}

/**
 * Returns the frame for pages that do not receive the list of a channel, because their client has too many pages: they keep what
 * they show, as stale, until a later connection.
 */
export function unservedFrame(channel: string): Frame {
  return new Frame(channel, JSON.stringify({ stale: true } satisfies PresenceFrame));
}

/** A frame of a channel. All connections of the process share it. */
export class Frame {
  readonly channel: string;
  /** JSON */
  readonly json: string;
  #event: Uint8Array | undefined;

  constructor(channel: string, json: string) {
    this.channel = channel;
    this.json = json;
  }

  /** The frame as an event of an event stream, encoded on first use. */
  get event(): Uint8Array {
    this.#event ??= Buffer.from(`event: ${PRESENCE_EVENT}\ndata: ${this.channel}\ndata: ${this.json}\n\n`);
    return this.#event;
  }
}

function staleMember(stale: boolean): string {
  return stale ? ',"stale":true' : "";
}
