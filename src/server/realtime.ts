import { createRealtime, type Realtime } from "../live/index.ts";
import { buildManifest } from "./build-manifest.ts";

/** The settings of live updates, for all applications of this process. */
export const realtime: Realtime = createRealtime({ isBuilt: buildManifest !== null });

export { hasSharedBus } from "../live/index.ts";
