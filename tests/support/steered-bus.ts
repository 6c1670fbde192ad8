import { type Batch, type Bus, memory } from "../../src/live/bus/index.ts";

/** A bus in memory that can be sent away, made to forget, and to be late. */
export interface SteeredBus extends Bus {
  /** Whether it fails everything that is asked of it. */
  isAway: boolean;
  /** Whether it keeps what is asked of it waiting until it is no longer so. */
  isHanging: boolean;
  /** Whether nobody is woken by what is published. */
  isSilent: boolean;
  /** How often it was read. */
  reads: number;
  /** Loses all it has, as a bus in memory does when its process is started again. */
  restart(): void;
  /** Calls all that watch, without saying what came: as a connection that is back does. */
  wakeAll(): void;
  /** Of the channels that are watched, how often each. */
  readonly watched: ReadonlyMap<string, number>;
}

/** Makes one. */
export function steeredBus(): SteeredBus {
  let bus = memory();
  let release: (() => void)[] = [];
  const wakes = new Map<string, Set<Parameters<Bus["watch"]>[1]>>();
  const stops: (() => void)[] = [];
  const turn = async () => {
    if (steered.isAway) throw new Error("The bus is away.");
    if (steered.isHanging) await new Promise<void>((resolve) => release.push(resolve));
  };
  const connect = async (channel: string, wake: Parameters<Bus["watch"]>[1]) => {
    stops.push(await bus.watch(channel, (fresh) => (steered.isSilent ? undefined : wake(fresh))));
  };
  const steered: SteeredBus = {
    isAway: false,
    get isHanging() {
      return isHanging;
    },
    set isHanging(value: boolean) {
      isHanging = value;
      if (!value) for (const resume of release.splice(0)) resume();
    },
    isSilent: false,
    reads: 0,
    async publish(channel, data) {
      await turn();
      return bus.publish(channel, data);
    },
    async position(channels) {
      await turn();
      return bus.position(channels);
    },
    async read(channel, after, limit): Promise<Batch> {
      steered.reads++;
      await turn();
      return bus.read(channel, after, limit);
    },
    async watch(channel, wake) {
      await turn();
      const all = wakes.get(channel) ?? new Set();
      wakes.set(channel, all.add(wake));
      await connect(channel, wake);
      return () => {
        all.delete(wake);
        if (all.size === 0) wakes.delete(channel);
      };
    },
    async close() {
      release = [];
      await bus.close();
    },
    restart() {
      void bus.close();
      bus = memory();
      for (const [channel, all] of wakes) for (const wake of all) void connect(channel, wake);
      steered.wakeAll();
    },
    wakeAll() {
      for (const all of wakes.values()) for (const wake of all) wake();
    },
    get watched() {
      return new Map([...wakes].map(([channel, all]) => [channel, all.size]));
    },
  };
  let isHanging = false;
  return steered;
}
