import { randomBytes } from "node:crypto";
import type { Bus, Position, PresenceStore } from "../backends/index.ts";
import {
  type BodyProducer,
  type BodySink,
  type RequestContext,
  RequestError,
  runOutsideRequests,
} from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { clientKey } from "../rate-limit/index.ts";
import { finalSessionWatcher, keysFor, sessionId } from "../session/index.ts";
import { type PageOwner, POLL_GRACE_MS, STREAM_GRACE_MS } from "./held-pages.ts";
import { PagePlaces } from "./page-places.ts";
import { EMPTY_LIST, endedFrame, type Frame, type PresenceList, UNKNOWN_LIST, unservedFrame } from "./presence-list.ts";
import { PresenceRoom, type PresenceViewer } from "./presence-room.ts";
import { splitPresenceToken, type VerifiedPresence, verifyPresence } from "./presence-token.ts";

const TICK_MS = 1_000;

/** How often a failure of the bus is logged. */
const LOG_INTERVAL_MS = 60_000;

/** The channel by which processes notify each other of sign-outs. No channel of an application contains a control character. */
export const SIGN_OUTS = "\u0000presence";

const READ_LIMIT = { messages: 1_000, bytes: 64 * 1024 } as const;

/** A page of one connection in a room. */
interface HeldPlace {
  readonly room: PresenceRoom;
  readonly id: string;
  release(graceMs: number): void;
}

/** The options of {@link PresenceRooms}. */
export interface PresenceRoomsOptions {
  readonly bus: Bus;
  readonly store: PresenceStore;
  readonly log: Logger;
}

/** The channels of an application in which this process has somebody present, or has shown who is. */
export class PresenceRooms {
  readonly bus: Bus;
  readonly store: PresenceStore;
  readonly #options: PresenceRoomsOptions;
  readonly #rooms = new Map<string, PresenceRoom>();
  readonly #places = new PagePlaces();
  readonly #holder = randomBytes(16).toString("base64url");
  #timer: NodeJS.Timeout | undefined;
  #watching: Promise<() => void> | undefined;
  /** The position up to which sign-outs were received, while they are watched. */
  #signOutsEnd: Position | undefined;
  #mayMissSignOuts = false;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PresenceRoomsOptions) {
    this.bus = options.bus;
    this.store = options.store;
    this.#options = options;
  }

  /** Returns the room of a channel. It is closed a while after its last use. */
  open(channel: string): PresenceRoom {
    const existing = this.#rooms.get(channel);
    if (existing) return existing;
    const { bus, store } = this;
    const onBusFailure = (error: unknown) => this.busFailed(error);
    const isReachable = () => bus.isReachable !== false;
    const places = this.#places;
    const room = new PresenceRoom(channel, { store, holder: this.#holder, places, isReachable, onBusFailure });
    this.#rooms.set(channel, room);
    // Outside requests: otherwise the timer would keep the context of the first request alive.
    this.#timer ??= runOutsideRequests(() => setInterval(() => this.#tick(), TICK_MS).unref());
    this.#watchSignOuts();
    return room;
  }

  /**
   * Returns the list of a channel. A room is opened only if somebody may be there: pages whose channels are named by their URLs
   * could otherwise make this process watch any number of them. Never rejects.
   */
  async read(channel: string): Promise<PresenceList> {
    try {
      if (!this.#rooms.has(channel) && (await this.store.isEmpty(channel))) return EMPTY_LIST;
    } catch (error) {
      this.busFailed(error);
      return UNKNOWN_LIST;
    }
    const room = this.open(channel);
    await room.whenReady();
    return room.list;
  }

  /** Returns the list of a channel as it was read last; a stale one if it was not. */
  lastList(channel: string): PresenceList {
    return this.#rooms.get(channel)?.list ?? UNKNOWN_LIST;
  }

  /**
   * Makes a page present, in the room of its channel.
   *
   * @returns the room, and a function to call when the connection has ended; `null` if its client has all its places
   */
  hold(member: VerifiedPresence, owner: PageOwner): HeldPlace | null {
    const releasePlace = this.#places.take(owner.client, member.channel, member.id);
    if (!releasePlace) return null;
    const room = this.open(member.channel);
    const endHold = room.pages.hold(member, owner);
    const release = (graceMs: number) => {
      endHold(graceMs);
      releasePlace();
    };
    return { room, id: member.id, release };
  }

  /** Removes a page that says that it is left, whichever process has its connection. @returns true */
  async leave(channel: string, id: string): Promise<true> {
    this.#rooms.get(channel)?.pages.leaveNow(id); // repeated until the bus is reachable
    await this.store.remove(channel, id, null);
    return true;
  }

  /** Removes the pages of a sign-in at once, those that this process holds. */
  removeSignIn(tag: string): void {
    for (const room of this.#rooms.values()) room.pages.removeSignIn(tag);
  }

  /** Logs a failure of the bus, at most once a minute. */
  busFailed(error: unknown): void {
    const now = performance.now();
    if (now - this.#loggedAtMs < LOG_INTERVAL_MS) return;
    this.#loggedAtMs = now;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.log.warn(
      { err: error },
      `Presence is out of date, because the bus did not respond; retrying. ${reason}`,
    );
  }

  /** Ends all rooms. The bus stays open. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#unwatch();
    const rooms = [...this.#rooms.values()];
    this.#rooms.clear();
    await Promise.all(rooms.map((room) => room.close()));
  }

  #watchSignOuts(): void {
    if (!this.#watching) {
      this.#mayMissSignOuts = true;
      this.#watching = this.bus.watch(SIGN_OUTS, (entry) => {
        if (entry?.data !== undefined) this.removeSignIn(JSON.parse(entry.data));
        if (!entry)
          this.#mayMissSignOuts = true; // the next tick reads them
        else if (!this.#mayMissSignOuts) this.#signOutsEnd = entry.position;
      });
      this.#watching.catch((error: unknown) => {
        this.#watching = undefined; // the next tick tries again
        this.busFailed(error);
      });
    }
    if (!this.#mayMissSignOuts) return;
    this.#mayMissSignOuts = false;
    this.#readSignOuts(this.#watching).catch((error: unknown) => {
      this.#mayMissSignOuts = true;
      this.busFailed(error);
    });
  }

  /** Reads the sign-outs that were published while this process received none; at first, only where they end. */
  async #readSignOuts(watching: Promise<unknown>): Promise<void> {
    await watching;
    this.#signOutsEnd ??= (await this.bus.position([SIGN_OUTS]))[0];
    for (let hasMore = this.#signOutsEnd !== undefined; hasMore; ) {
      // After a gap, the oldest ones are not stored any more: they are a day old.
      const { messages, end, more } = await this.bus.read(SIGN_OUTS, this.#signOutsEnd ?? "", READ_LIMIT);
      for (const { data } of messages) this.removeSignIn(JSON.parse(data));
      this.#signOutsEnd = end;
      hasMore = more;
    }
  }

  #unwatch(): void {
    this.#watching?.then(
      (stop) => stop(),
      () => undefined, // it was never watched
    );
    this.#watching = this.#signOutsEnd = undefined;
  }

  #tick(): void {
    const now = performance.now();
    for (const room of this.#rooms.values()) {
      room.tick(now);
      if (!room.isIdle) continue;
      void room.close();
      this.#rooms.delete(room.channel);
    }
    if (this.#rooms.size > 0) {
      this.#watchSignOuts();
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#unwatch();
  }
}

/** A token of a live request, verified, and the version of the list that its page has. */
export interface PresenceRequest {
  readonly token: string;
  readonly member: VerifiedPresence;
  readonly version: string | undefined;
  readonly owner: PageOwner;
}

/**
 * Verifies the tokens of a live request.
 *
 * @throws RequestError 403 for a token that this application has not issued
 * @see docs/protocol.md 10.12
 */
export function readPresenceTokens(tokens: readonly string[], context: RequestContext): readonly PresenceRequest[] {
  if (tokens.length === 0) return [];
  const keys = keysFor(context.config, "presence");
  const presenter = { sid: sessionId(context), now: Date.now() / 1000 };
  const address = `a:${clientKey(context.address)}`;
  const watchEnd = finalSessionWatcher(context);
  return tokens.map((text) => {
    const { token, version } = splitPresenceToken(text);
    const member = verifyPresence(token, presenter, keys);
    const client = member?.user == null ? address : `u:${member.user}`;
    if (member) return { token, member, version, owner: { client, watchEnd } };
    const message = "A presence token was not issued by this application. Load the page again.";
    throw new RequestError("forbidden", message, { status: 403 });
  });
}

/** The tokens of one event stream or poll: its pages are present while it is open. */
export class PresenceConnection {
  /** The rooms of its tokens, with the version of the list that the client has; without one if its pages have different ones. */
  readonly rooms: ReadonlyMap<PresenceRoom, string | undefined>;
  /** The frames for tokens that are not valid any more. */
  readonly ended: readonly Frame[];
  /** The frames for channels without a room, because the client has no place left. */
  readonly unserved: readonly Frame[];
  readonly #held: readonly HeldPlace[];
  readonly #viewer: PresenceViewer;
  #isOpen = true;

  constructor(rooms: PresenceRooms, requests: readonly PresenceRequest[], viewer: PresenceViewer) {
    this.#viewer = viewer;
    const versions = new Map<PresenceRoom, string | undefined>();
    const valid = requests.filter(({ member }) => !member.expired);
    const places = valid.map(({ member, owner }) => rooms.hold(member, owner));
    this.#held = places.filter((place) => place !== null);
    const byChannel = new Map(this.#held.map(({ room }) => [room.channel, room]));
    for (const { member, version } of valid) {
      const room = byChannel.get(member.channel);
      if (room) versions.set(room, versions.has(room) && versions.get(room) !== version ? undefined : version);
    }
    this.ended = requests
      .filter(({ member }) => member.expired)
      .map(({ member, token }) => endedFrame(member.channel, token));
    const channels = new Set(valid.map(({ member }) => member.channel));
    this.unserved = [...channels].filter((channel) => !byChannel.has(channel)).map(unservedFrame);
    this.rooms = versions;
  }

  /** Passes the frames of all channels to the viewer from now on. */
  start(): void {
    for (const frame of [...this.ended, ...this.unserved]) this.#viewer.receive(null, frame);
    for (const [room, version] of this.rooms) if (this.#isOpen) room.addViewer(this.#viewer, version);
  }

  /** Ends it. Its pages leave after a time, unless they have connected again. */
  close(graceMs: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const room of this.rooms.keys()) room.removeViewer(this.#viewer);
    for (const { release } of this.#held) release(graceMs);
  }

  /** Ends it because the sign-in was revoked: its pages leave at once. */
  revoke(): void {
    this.close(0);
    for (const { room, id } of this.#held) room.pages.leaveNow(id);
  }
}

/**
 * The presence of an event stream: passes on what happens to its body to the event stream, and writes frames in between. A client
 * that reads slowly misses frames, and receives the whole list later.
 */
export class PresenceStream implements BodyProducer, PresenceViewer {
  readonly #stream: BodyProducer;
  readonly #sink: BodySink;
  readonly #connection: PresenceConnection;
  #isBlocked = false;
  /** The rooms of which the client has missed frames. */
  readonly #behind = new Set<PresenceRoom>();

  constructor(stream: BodyProducer, sink: BodySink, { rooms, requests }: PresenceInput) {
    this.#stream = stream;
    this.#sink = sink;
    this.#connection = runOutsideRequests(() => new PresenceConnection(rooms, requests, this));
    runOutsideRequests(() => this.#connection.start());
  }

  receive(room: PresenceRoom | null, frame: Frame): void {
    if (this.#isBlocked) {
      if (room) this.#behind.add(room);
      return;
    }
    if (room) this.#behind.delete(room);
    const { event } = frame;
    this.#isBlocked = !(this.#sink.writeShared ? this.#sink.writeShared(event) : this.#sink.write(event));
  }

  onDrain(): void {
    this.#isBlocked = false;
    this.#stream.onDrain();
    for (const room of this.#behind) if (!this.#isBlocked) this.receive(room, room.fullFrame);
  }

  onClose(): void {
    this.#stream.onClose();
  }

  /** Ends it, when the event stream has ended: nothing may be written after that. */
  close(): void {
    this.#connection.close(STREAM_GRACE_MS);
  }

  /** Makes its pages leave at once: their sign-in was revoked. */
  revoke(): void {
    this.#connection.revoke();
  }
}

/** The presence of a request: its verified tokens, and the rooms of the application. */
export interface PresenceInput {
  readonly rooms: PresenceRooms;
  readonly requests: readonly PresenceRequest[];
}

/** The presence of a poll: its pages are present until a while after it, and it returns the lists that have changed. */
export class PresencePoll implements PresenceViewer {
  readonly #connection: PresenceConnection;
  readonly #onChange: () => void;

  /** @param onChange called when a list may have changed */
  constructor({ rooms, requests }: PresenceInput, onChange: () => void) {
    this.#onChange = onChange;
    this.#connection = runOutsideRequests(() => new PresenceConnection(rooms, requests, this));
    runOutsideRequests(() => this.#connection.start());
  }

  /** Resolves when the lists were read, or that has failed. */
  async whenReady(): Promise<void> {
    await Promise.all([...this.#connection.rooms.keys()].map((room) => room.whenReady()));
  }

  /** Whether the response has something that the client does not know. */
  get isEmpty(): boolean {
    return this.#connection.ended.length === 0 && this.#changed.length === 0;
  }

  /** The frames for the response, each as JSON `[channel, frame]`. */
  get frames(): readonly string[] {
    const { ended, unserved } = this.#connection;
    return [...ended, ...unserved, ...this.#changed].map(({ channel, json }) => `[${JSON.stringify(channel)},${json}]`);
  }

  get #changed(): readonly Frame[] {
    return [...this.#connection.rooms].flatMap(([room, version]) =>
      room.isReady && room.list.version !== version ? [room.fullFrame] : [],
    );
  }

  receive(): void {
    this.#onChange();
  }

  close(): void {
    this.#connection.close(POLL_GRACE_MS);
  }

  revoke(): void {
    this.#connection.revoke();
  }
}
