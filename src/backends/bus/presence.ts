/** A page load that is present in a channel. */
export interface PresenceMember {
  /** Identifies the page load: 22 characters of base64url. */
  readonly id: string;
  /** Identifies who holds the connection of the page load: one object of one process. */
  readonly holder: string;
  /** JSON text, unchanged as it was stored. */
  readonly value: string;
  /** What the client has set of itself; `null` if nothing. */
  readonly state: PresenceState | null;
}

/** The state of a member. */
export interface PresenceState {
  /** JSON text, unchanged as it was stored. */
  readonly json: string;
  /** Of two states in one channel, the one with the greater number was set later. */
  readonly order: number;
}

/** A member that is stored. */
export interface PresenceEntry {
  readonly id: string;
  readonly holder: string;
  readonly value: string;
  /** JSON text. Absent: a state that is stored for the id is kept. */
  readonly state?: string | undefined;
}

/**
 * Called when the members of a channel may have changed. With an id, that member has been removed by
 * {@link PresenceStore.remove} without a holder. A listener must not throw.
 */
export type PresenceListener = (removedId?: string) => void;

/**
 * Stores who is present in channels: state that expires, and no history. A member counts as long as the lease of its holder
 * lasts, so that a process that ends or is frozen need not remove anything. Leases are measured with the clock of the bus.
 *
 * Every method rejects if the bus is closed. In an implementation with a server, each retries for up to 2 s while the server is
 * unreachable.
 *
 * @see docs/protocol.md 10.12
 */
export interface PresenceStore {
  /**
   * Calls `listener` when the members of a channel may have changed, until the returned function is called. Calls can be
   * missed after a lost connection: read the members again from time to time.
   *
   * The holder gets a lease. While a channel is watched, the other methods may be used for it.
   */
  watch(channel: string, options: PresenceWatch): Promise<() => void>;
  /** Extends the lease of a holder from now on: its members count for `leaseMs` from now, also if the lease had ended. */
  renew(channel: string, holder: string, leaseMs: number): Promise<void>;
  /**
   * Returns whether nobody has been in a channel of late, so that its members need not be read. May be called for a channel that is
   * not watched, and watches nothing. May return false for a while after the last member has left.
   */
  isEmpty(channel: string): Promise<boolean>;
  /** Returns the members whose holders have a lease, in any order. */
  read(channel: string): Promise<readonly PresenceMember[]>;
  /**
   * Stores a member in place of one with the same id, whose holder then can no longer remove it.
   *
   * @param options.ifAbsent store nothing if another holder, whose lease lasts, has a member with the id
   */
  put(channel: string, entry: PresenceEntry, options?: { readonly ifAbsent?: boolean }): Promise<void>;
  /**
   * Removes a member with its state.
   *
   * @param holder removes it only if this is its holder; `null`: regardless of that, and listeners are called with the id. May be
   *   called for a channel that is not watched.
   */
  remove(channel: string, id: string, holder: string | null): Promise<void>;
  /**
   * Sets the state of a member. May be called for a channel that is not watched.
   *
   * @returns whether there is such a member
   */
  setState(channel: string, id: string, json: string): Promise<boolean>;
}

/** The parameters of {@link PresenceStore.watch}. */
export interface PresenceWatch {
  readonly holder: string;
  readonly leaseMs: number;
  readonly listener: PresenceListener;
}
