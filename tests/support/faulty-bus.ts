import { type Bus, memory } from "../../src/backends/index.ts";

type EntryListener = Parameters<Bus["watch"]>[1];

/** A bus in memory whose faults a test controls. */
export interface FaultyBus extends Bus {
  /** Whether all operations reject. */
  isUnreachable: boolean;
  /** Whether all operations wait until this is set to `false`. */
  isHanging: boolean;
  /** Whether listeners are not notified of messages. */
  suppressesNotifications: boolean;
  /** The number of reads so far. */
  readCount: number;
  /** Loses all messages, as a bus in memory does when its process is restarted. */
  loseHistory(): void;
  /** Calls all listeners without messages, as a bus does after a lost connection. */
  notifyAll(): void;
  /** Tells the listeners of a channel that they were passed everything up to its end. */
  notifyProgress(channel: string): Promise<void>;
  /** The number of listeners by channel. */
  readonly listenerCounts: ReadonlyMap<string, number>;
}

/** Returns a bus without faults. */
export function createFaultyBus(): FaultyBus {
  let inner = memory();
  let isHanging = false;
  let resumes: (() => void)[] = [];
  const listeners = new Map<string, Set<EntryListener>>();
  const applyFaults = async () => {
    if (bus.isUnreachable) throw new Error("The bus is unreachable.");
    if (isHanging) await new Promise<void>((resolve) => resumes.push(resolve));
  };
  const watchInner = (channel: string, listener: EntryListener) =>
    inner.watch(channel, (entry) => {
      if (!bus.suppressesNotifications) listener(entry);
    });
  const bus: FaultyBus = {
    isUnreachable: false,
    get isHanging() {
      return isHanging;
    },
    set isHanging(value: boolean) {
      isHanging = value;
      if (!value) for (const resume of resumes.splice(0)) resume();
    },
    suppressesNotifications: false,
    readCount: 0,
    async publish(channel, data) {
      await applyFaults();
      return inner.publish(channel, data);
    },
    async position(channels) {
      await applyFaults();
      return inner.position(channels);
    },
    async read(channel, after, limit) {
      bus.readCount++;
      await applyFaults();
      return inner.read(channel, after, limit);
    },
    async readOldest(channel, limit) {
      bus.readCount++;
      await applyFaults();
      const read = inner.readOldest?.(channel, limit);
      if (!read) throw new Error("The bus in memory has no method readOldest.");
      return read;
    },
    async watch(channel, listener) {
      await applyFaults();
      const channelListeners = listeners.get(channel) ?? new Set();
      listeners.set(channel, channelListeners.add(listener));
      await watchInner(channel, listener);
      return () => {
        channelListeners.delete(listener);
        if (channelListeners.size === 0) listeners.delete(channel);
      };
    },
    async close() {
      resumes = [];
      await inner.close();
    },
    loseHistory() {
      void inner.close();
      inner = memory();
      for (const [channel, channelListeners] of listeners) {
        for (const listener of channelListeners) void watchInner(channel, listener);
      }
      bus.notifyAll();
    },
    notifyAll() {
      for (const channelListeners of listeners.values()) for (const listener of channelListeners) listener();
    },
    async notifyProgress(channel) {
      const [position = ""] = await inner.position([channel]);
      for (const listener of listeners.get(channel) ?? []) listener({ position });
    },
    get listenerCounts() {
      return new Map([...listeners].map(([channel, { size }]) => [channel, size]));
    },
  };
  return bus;
}
