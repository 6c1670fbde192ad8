import {
  fileRevocations,
  memoryRevocations,
  type RevocationNotifier,
  type RevocationSource,
  type RevocationStore,
} from "../revocation/index.ts";
import type { AppBus } from "./app-bus.ts";
import { type Bus, isMemoryBus } from "./bus/index.ts";

/** The channel by which processes notify each other. No channel of an application contains a control character. */
const CHANNEL = "\u0000revocations";

/** The settings that decide where revocations are stored. */
export interface RevocationSettings {
  readonly production: boolean;
  /** `WEB_DATA_DIR` */
  readonly dataDir?: string;
}

/**
 * Returns a function that returns where the revocations of an application are stored: in its bus; otherwise in files in
 * `WEB_DATA_DIR`, which every process watches; otherwise, in development, in memory. In production without any of them,
 * nothing can be revoked: a revocation in memory would end with the process.
 */
export function revocationSource(bus: AppBus, settings: RevocationSettings): () => RevocationSource {
  const ownStore = openOwnStore(settings);
  const isInMemory = settings.dataDir === undefined && !settings.production;
  return () => {
    const current = bus.open();
    const { revocations } = current;
    if (revocations && !isMemoryBus(current)) return { store: revocations, notifier: notifierOf(current) };
    // The bus in memory has a store, so that in development revocations survive an edit, as messages do.
    return { store: (isInMemory && revocations) || ownStore };
  };
}

function openOwnStore({ production, dataDir }: RevocationSettings): RevocationStore | null {
  if (dataDir !== undefined) return fileRevocations(dataDir);
  return production ? null : memoryRevocations();
}

function notifierOf(bus: Bus): RevocationNotifier {
  return {
    async notify() {
      await bus.publish(CHANNEL, "1");
    },
    watch: (listener) => bus.watch(CHANNEL, () => listener()),
  };
}
