import { Refusal, type RequestContext } from "../http/index.ts";
import { keysFor, sessionId } from "../session/index.ts";
import type { Lost } from "./connection.ts";
import { laterOf, OVER, readCursor } from "./cursor.ts";
import { type OpenFeed, openFeed } from "./feed.ts";
import { Reader } from "./reader.ts";

/** How many feeds one connection or poll may ask for. */
export const MAX_FEEDS = 32;

/** The longest address: beyond it, proxies refuse by themselves. */
const MAX_URL_CHARS = 8 * 1024;

/** What a request asks for: its feeds, in its order, and those of them that cannot be complete. */
export interface Asked {
  readonly readers: readonly Reader[];
  readonly lost: readonly Lost[];
}

/**
 * Reads what a stream or a poll asks for.
 *
 * Only what no page of ours would ask is refused by a status. A feed that is over and a cursor that
 * cannot be used are told in the answer, as gaps: browsers hide the status of an event stream.
 *
 * @throws Refusal 405 for another method than GET, 414 for an address that is too long, 400 for no
 *   feed or too many, 403 for a feed that we have not issued
 */
export function readAsked(context: RequestContext): Asked {
  const { raw, url } = context;
  if (raw.method !== "GET") throw refused(405, "This address answers GET.", { allow: "GET" });
  if (url.href.length > MAX_URL_CHARS) throw refused(414, `This address is over ${MAX_URL_CHARS} characters.`);
  const texts = url.searchParams.getAll("feed");
  if (texts.length === 0) throw refused(400, "No feed is asked for: ?feed=…, as channel() gave it to the page.");
  if (texts.length > MAX_FEEDS) throw refused(400, `${texts.length} feeds are asked for, ${MAX_FEEDS} at most.`);
  return placed(texts.map(opener(context)), cursorOf(context));
}

/** A browser's own cursor goes before that of the address, which it repeats with every attempt. */
function cursorOf({ raw, url }: RequestContext): string {
  return raw.headers.get("last-event-id") || url.searchParams.get("after") || "";
}

function opener(context: RequestContext): (text: string) => OpenFeed {
  const keys = keysFor(context.config, "feed");
  const presented = { sid: sessionId(context), now: Date.now() / 1000 };
  return (text) => {
    const feed = openFeed(text, presented, keys);
    if (!feed) throw refused(403, "A feed is not one that this application has issued.");
    return feed;
  };
}

function placed(feeds: readonly OpenFeed[], cursor: string): Asked {
  const positions = cursor === "" ? feeds.map(({ position }) => position) : readCursor(cursor, feeds.length);
  const lost: Lost[] = [];
  const readers = feeds.map(({ channel, position, expired }, i) => {
    const presented = positions?.[i];
    if (presented === OVER) return new Reader(channel, OVER);
    const reader = new Reader(channel, laterOf(position, presented ?? position));
    if (expired) lost.push({ reader, reason: "expired" });
    else if (presented === undefined) lost.push({ reader, reason: "reset" });
    return reader;
  });
  return { readers, lost };
}

function refused(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Refusal {
  return new Refusal(status === 403 ? "forbidden" : "validation_error", message, { status, headers });
}
