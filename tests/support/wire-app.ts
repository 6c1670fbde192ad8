/**
 * The application of the wire suite, built.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { App, AppOptions } from "../../src/app.ts";
import { COMMON, VARIANTS, type Variant } from "../conformance/wire/index.ts";
import { repository } from "./copy-example.ts";
import { build } from "./run-tsweb.ts";
import { Site } from "./site.ts";

/** A built application, in a folder of its own. */
export interface WireApp {
  readonly site: Site;
  /** Makes one in this process, configured as a variant says. */
  open(variant: Variant, base?: string): App;
}

/** Builds the application, to be run in another process. Whoever asks for it removes its folder. */
export async function buildWireSite(): Promise<Site> {
  const site = Site.copy(join(repository, "tests/conformance/fixtures/wire"));
  await build(site.dir);
  return site;
}

/** Builds the application. Whoever asks for it removes its folder. */
export async function buildWireApp(): Promise<WireApp> {
  const site = await buildWireSite();
  // Without it, the module's own application would want a secret of this process's environment.
  process.env.WEB_ENV = COMMON.WEB_ENV;
  const built: { default: Built } = await import(pathToFileURL(site.file("dist/app.mjs")).href);
  return { site, open: (variant, base) => openWire(built.default, variant, base) };
}

/** What the application's module exports beside the application. */
interface Built {
  open(options: Partial<AppOptions>): App;
}

/** Makes one of the built application, configured as a variant says. */
export function openWire(built: Built, variant: Variant, base = ""): App {
  const { WIRE_CALLS, ...env }: Record<string, string> = { ...COMMON, ...VARIANTS[variant] };
  const rate = WIRE_CALLS ? { calls: Number(WIRE_CALLS), seconds: 60 } : false;
  return built.open({ env, base, rate });
}
