import type { Manifest } from "./manifest.ts";

/** The manifest of a built application; `null` in any other. `tsweb build` replaces this module. */
export const buildManifest: Manifest | null = null as Manifest | null; // the wider type, because the replacement is not null
