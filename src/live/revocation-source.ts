import { type Bus, isMemoryBus } from "../backends/index.ts";
import type { Config } from "../config/index.ts";
import {
  fileRevocations,
  memoryRevocations,
  type RevocationNotifier,
  type RevocationSource,
  type RevocationStore,
} from "../revocation/index.ts";
import type { AppBus } from "./app-bus.ts";

/** The channel by which processes notify each other. No channel of an application contains a control character. */
const CHANNEL = "\u0000revocations";

/**
 * Returns a function that returns where the revocations of an application are stored: in its bus; otherwise in files in
 * `WEB_DATA_DIR`, which every process watches; otherwise, in development with one process, in memory. Without any of them,
 * nothing can be revoked: a revocation in memory would end with the process, and others would not know it.
 */
export function revocationSource(
  bus: AppBus,
  settings: Pick<Config, "production" | "workers" | "dataDir">,
): () => RevocationSource {
  const { dataDir, production, workers } = settings;
  const isInMemory = dataDir === undefined && !production && workers === 1;
  const ownStore = openOwnStore(dataDir, isInMemory);
  return () => {
    const current = bus.open();
    const { revocations } = current;
    if (revocations && !isMemoryBus(current)) return { store: revocations, notifier: notifierOf(current) };
    // The bus in memory has a store, so that in development revocations survive an edit, as messages do.
    return { store: (isInMemory && revocations) || ownStore };
  };
}

function openOwnStore(dataDir: string | undefined, isInMemory: boolean): RevocationStore | null {
  if (dataDir !== undefined) return fileRevocations(dataDir);
  return isInMemory ? memoryRevocations() : null;
}

function notifierOf(bus: Bus): RevocationNotifier {
  return {
    async notify() {
      await bus.publish(CHANNEL, "1");
    },
    watch: (listener) =>
      bus.watch(CHANNEL, (entry) => {
        if (!entry || entry.data !== undefined) listener(); // otherwise it is the progress of a channel without messages
      }),
  };
}
