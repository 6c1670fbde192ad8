import {
  checkArguments,
  JSON_TYPE,
  type Person,
  PRESENCE_EVENT,
  PRESENCE_PATH,
  type Presence,
  type PresenceFrame,
  type Serialized,
} from "../protocol/index.ts";
import { checkMisuse } from "./dev/misuse.ts";
import { addDisplay, displays, removeDisplay } from "./displays.ts";
import { on_mount } from "./lifecycle.ts";
import { restart } from "./live.ts";
import type { Display } from "./live-listeners.ts";
import { getPageData } from "./page-data.ts";
import { reload } from "./reload.ts";
import { slot } from "./slot.ts";
import { createProxy } from "./state.ts";
import { PRESENCE_MS, PRESENCE_RETRY_MS } from "./timings.ts";

/**
 * Who is present in a channel: what {@link present} returns.
 *
 * @template Data what was passed to `presence`, as it was serialised
 * @template State what `set` sets
 */
export interface People<Data = unknown, State = unknown> {
  /** Everyone who is present, this user included, ordered by `id`. A component that reads it is rendered with each change. */
  readonly list: readonly Person<Data, State>[];
  /** Whether the list may be out of date, because the server cannot reach its bus, or the page may no longer be present. */
  readonly stale: boolean;
  /**
   * Shows the others a state of this user, such as `{ typing: true }`, in place of the last one. At most ten states are sent in a
   * second, and the last one always. Other clients can send anything: check what you read.
   *
   * @param state at most 1 KiB of JSON
   * @throws TypeError in development, for a value that JSON does not have, such as a `Map`
   */
  set(state: State): void;
}

/**
 * Returns who is present in a channel, and makes the user of this page present while the component is in the page. All
 * displays of a page, and all tabs of a browser, share one connection.
 *
 * The list is that of the page at first, so the markup of the server shows it.
 *
 * @param here the result of `presence(name, data)` on the server, passed to the view as a prop
 * @throws Error if it is called outside the rendering of a component
 * @throws TypeError in development, if `here` is not what `presence` returns
 * @see docs/protocol.md 10.12
 * @example
 * const people = present(here);
 * return <ul>{people.list.map(({ id, data }) => <li key={id}>{data.name}</li>)}</ul>;
 */
export function present<Data, State>(here: Presence<Data, State>): People<Serialized<Data>, State> {
  if (process.env.NODE_ENV !== "production") checkPresence(here);
  const { people, join } = slot("present", (component) =>
    createPeople(here, createProxy({ list: Object.freeze(here.list), stale: here.stale }, component)),
  );
  on_mount(() => {
    // A page that is prerendered is not open yet.
    if ((document as { prerendering?: boolean }).prerendering) {
      const controller = new AbortController();
      let leave: (() => void) | undefined;
      const { signal } = controller;
      document.addEventListener("prerenderingchange", () => (leave = join()), { signal });
      return () => {
        controller.abort();
        leave?.();
      };
    }
    return join();
  });
  return people;
}

/** Throws unless a value is what `presence` returns. In development only. */
function checkPresence(here: unknown): void {
  if (typeof here === "object" && here !== null && "token" in here) return;
  const isName = typeof here === "string" && here.length < 100;
  const name = isName ? JSON.stringify(here) : '"name"';
  const received = isName ? name : `a value of type ${here === null ? "null" : typeof here}`;
  throw new TypeError(
    `present() needs what presence() returns, and received ${received}. Call presence in the page, and pass its result to the ` +
      `view as a prop: \`here={await presence(${name}, data)}\`. In the view, call present(here).`,
  );
}

function createPeople<Data, State>(
  { token, channel, v }: Presence<Data, State>,
  shown: { list: readonly Person<Serialized<Data>, State>[]; stale: boolean },
) {
  /** The version of the list; empty if it is not known: the server then sends the whole list. */
  let version = v;
  let isJoined = false;
  /** The body with the last state, and the last one that the server has received. */
  let body = "";
  let sent = "";
  let isSending = false;

  const display: Display = {
    member: "tokens",
    event: PRESENCE_EVENT,
    key: channel,
    get token() {
      return version ? `${token}~${version}` : token;
    },
    frame({ v = "", all, from, set = [], del = [], stale, ended }: PresenceFrame) {
      if (ended === token) {
        shown.stale = true;
        reload();
      }
      if (!v) {
        if (stale) {
          shown.stale = true;
          version = ""; // the list is requested with the next connection
        }
        return;
      }
      if (!all && from !== version) {
        if (version) restart();
        version = "";
        return;
      }
      version = v;
      const people = new Map((all ?? shown.list).map((person) => [person.id, person]));
      for (const id of del) people.delete(id);
      for (const person of set) people.set(person.id, person);
      // The server has signed the data; the type of a state is what the view expects.
      const list = [...people.values()] as Person<Serialized<Data>, State>[];
      shown.list = Object.freeze(list.sort((a, b) => (a.id < b.id ? -1 : 1)));
      shown.stale = !!stale;
    },
  };

  /** Sends the last state, until the server has received it. One request at a time keeps their order. */
  async function send(): Promise<void> {
    const sending = body;
    let waitMs = PRESENCE_MS;
    try {
      const response = await fetch(getPageData().base + PRESENCE_PATH, {
        method: "POST",
        headers: { "content-type": JSON_TYPE },
        body: sending,
      });
      const { status } = response;
      // The page may not be present yet, has sent too much, or the server cannot reach its bus.
      if (status === 202 || status === 429 || status > 499) waitMs = PRESENCE_RETRY_MS;
      else sent = sending;
      if (status === 400 || status === 403 || status === 413) console.error(await response.text());
    } catch {
      waitMs = PRESENCE_RETRY_MS; // offline
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    isSending = false;
    schedule();
  }

  function schedule(): void {
    if (!isJoined || body === sent || isSending) return;
    isSending = true;
    void send();
  }

  /** Says that the page is left. Without it, the user would be present a while longer. */
  function leave(): void {
    sent = ""; // the server forgets the state; a page that is restored sends it again
    navigator.sendBeacon(
      getPageData().base + PRESENCE_PATH,
      new Blob([JSON.stringify({ token, left: true })], { type: JSON_TYPE }),
    );
  }

  function join(): () => void {
    isJoined = true;
    addDisplay(display);
    addEventListener("pagehide", leave);
    addEventListener("pageshow", schedule);
    schedule();
    return () => {
      isJoined = false;
      removeDisplay(display);
      removeEventListener("pagehide", leave);
      removeEventListener("pageshow", schedule);
      if (![...displays].some((other) => other.token.startsWith(token))) leave(); // another component may show it
    };
  }

  const people: People<Serialized<Data>, State> = {
    get list() {
      return shown.list;
    },
    get stale() {
      return shown.stale;
    },
    set(value) {
      // Bundlers remove the check from production.
      if (process.env.NODE_ENV !== "production")
        checkMisuse(() => checkArguments("people.set", { state: value ?? null }, false));
      body = JSON.stringify({ token, state: value ?? null });
      schedule();
    },
  };
  return { people, join };
}
