import type {
  PresenceEntry,
  PresenceListener,
  PresenceMember,
  PresenceState,
  PresenceStore,
  PresenceWatch,
} from "../bus/index.ts";

/** How long the members of a holder are stored after its lease has ended: it can renew it until then. */
const KEEP_MS = 300_000;

/** What is stored of one channel. */
interface Room {
  readonly members: Map<string, PresenceMember>;
  /** When the lease of each holder ends, by the clock of the bus. */
  readonly leases: Map<string, number>;
  readonly listeners: Set<{ readonly listener: PresenceListener }>;
}

/** Who is present, in the memory of this process. A channel needs memory while it is watched. */
export class MemoryPresence implements PresenceStore {
  readonly #now: () => number;
  readonly #rooms = new Map<string, Room>();
  #lastOrder = 0;
  #isClosed = false;

  /** @param now returns the time in milliseconds; monotonic */
  constructor(now: () => number) {
    this.#now = now;
  }

  async watch(channel: string, { holder, leaseMs, listener }: PresenceWatch): Promise<() => void> {
    this.#requireOpen();
    const room = this.#rooms.get(channel) ?? { members: new Map(), leases: new Map(), listeners: new Set() };
    this.#rooms.set(channel, room);
    const watch = { listener };
    room.listeners.add(watch);
    await this.renew(channel, holder, leaseMs);
    return () => {
      room.listeners.delete(watch);
      if (room.listeners.size === 0 && this.#rooms.get(channel) === room) this.#rooms.delete(channel);
    };
  }

  async renew(channel: string, holder: string, leaseMs: number): Promise<void> {
    const room = this.#find(channel);
    const now = this.#now();
    const wasEnded = (room?.leases.get(holder) ?? 0) <= now;
    if (!room) return;
    room.leases.set(holder, now + leaseMs);
    for (const [other, endsAtMs] of room.leases) {
      if (endsAtMs + KEEP_MS > now) continue;
      room.leases.delete(other);
      for (const member of room.members.values()) if (member.holder === other) room.members.delete(member.id);
    }
    if (wasEnded) notify(room);
  }

  async isEmpty(channel: string): Promise<boolean> {
    return (this.#find(channel)?.members.size ?? 0) === 0;
  }

  async read(channel: string): Promise<readonly PresenceMember[]> {
    const room = this.#find(channel);
    return room ? [...room.members.values()].filter(({ holder }) => this.#hasLease(room, holder)) : [];
  }

  async put(channel: string, { id, holder, value, state }: PresenceEntry, { ifAbsent = false } = {}): Promise<void> {
    const room = this.#find(channel);
    if (!room) return;
    const current = room.members.get(id);
    if (ifAbsent && current && current.holder !== holder && this.#hasLease(room, current.holder)) return;
    room.members.set(id, { id, holder, value, state: this.#stateOf(state) ?? current?.state ?? null });
    if (current?.value !== value || state !== undefined) notify(room);
  }

  async remove(channel: string, id: string, holder: string | null): Promise<void> {
    const room = this.#find(channel);
    const member = room?.members.get(id);
    if (!room || !member || (holder !== null && member.holder !== holder)) return;
    room.members.delete(id);
    notify(room, holder === null ? id : undefined);
  }

  async setState(channel: string, id: string, json: string): Promise<boolean> {
    const room = this.#find(channel);
    const member = room?.members.get(id);
    if (!room || !member || !this.#hasLease(room, member.holder)) return false;
    room.members.set(id, { ...member, state: this.#stateOf(json) });
    notify(room);
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#rooms.clear();
  }

  #stateOf(json: string | undefined): PresenceState | null {
    return json === undefined ? null : { json, order: ++this.#lastOrder };
  }

  #hasLease({ leases }: Room, holder: string): boolean {
    return (leases.get(holder) ?? 0) > this.#now();
  }

  #find(channel: string): Room | undefined {
    this.#requireOpen();
    return this.#rooms.get(channel);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new Error("The bus is closed.");
  }
}

function notify({ listeners }: Room, removedId?: string): void {
  for (const { listener } of listeners) listener(removedId);
}
