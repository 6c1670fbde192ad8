import {
  fileRevocations,
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
 * `WEB_DATA_DIR`; otherwise, in development, in memory. In production without any of them, nothing can be revoked: a
 * revocation in memory would end with the process.
 */
export function revocationSource(bus: AppBus, { production, dataDir }: RevocationSettings): () => RevocationSource {
  const files = dataDir === undefined ? undefined : fileRevocations(dataDir);
  return () => selectSource(bus.open(), { production, files });
}

function selectSource(
  bus: Bus,
  { production, files }: { readonly production: boolean; readonly files: RevocationStore | undefined },
): RevocationSource {
  if (isMemoryBus(bus)) return { store: files ?? (production ? null : (bus.revocations ?? null)) };
  return { store: bus.revocations ?? files ?? null, notifier: notifierOf(bus) };
}

function notifierOf(bus: Bus): RevocationNotifier {
  return {
    async notify() {
      await bus.publish(CHANNEL, "1");
    },
    watch: (listener) => bus.watch(CHANNEL, () => listener()),
  };
}
