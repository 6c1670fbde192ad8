// How much each benchmark measures, in a complete and in a quick run. A round has `seconds` of load for each contestant.

// In its first second of load, a server takes two to four times the processor time for a request that it takes from the third
// on, when V8 has optimized what it runs. A bare server takes 1.4 times as much: a short warm-up favours it.
const LOAD = { rounds: 5, seconds: 1, warmUp: 3, connections: 32 };
const QUICK_LOAD = { ...LOAD, rounds: 2, warmUp: 2 };

const COMPLETE = {
  calls: { ...LOAD, sizes: [1, 64, 512], sizeRounds: 3 },
  pages: LOAD,
  live: { rounds: 3, seconds: 2, latencySeconds: 3, connections: [1_000, 5_000] },
  startup: { rounds: 10 },
  dev: { rounds: 10 },
  navigation: { rounds: 3 },
  growth: { sizes: [25, 50, 100, 200, 400] },
  sizing: { rounds: 3, seconds: 3, connections: 1_000 },
  wakeups: { rounds: 9, seconds: 0.3 },
  queries: { connections: 5_000, seconds: 10 },
  fast: { rounds: 200, connections: 8 },
  guard: { ...LOAD, rounds: 14, seconds: 2 },
};

const QUICK = {
  calls: { ...QUICK_LOAD, sizes: [] },
  pages: QUICK_LOAD,
  live: { rounds: 1, seconds: 1, latencySeconds: 1, connections: [1_000] },
  startup: { rounds: 3 },
  dev: { rounds: 3 },
  navigation: { rounds: 1 },
  growth: { sizes: [25, 50] },
  sizing: { rounds: 1, seconds: 1, connections: 1_000 },
  wakeups: { rounds: 3, seconds: 0.3 },
  queries: { connections: 500, seconds: 5 },
  fast: { rounds: 30, connections: 8 },
};

/** `live --full`: so many streams need longer until all receive at the same rate. */
const FULL = { seconds: 5, latencySeconds: 10 };

/** Returns the settings of a benchmark. Options of the command replace them. */
export function settingsOf(name, { isQuick, isFull }) {
  return { ...(isQuick ? QUICK : COMPLETE)[name], ...(isFull ? FULL : {}), isFull };
}
