import type { Manifest } from "./manifest.ts";

/**
 * What the build knew, in a built application; `null` in any other. `tsweb build` puts its manifest
 * in the place of this module.
 */
export const buildManifest: Manifest | null = null as Manifest | null;
