/** The application of the wire suite (tests/conformance/fixtures/wire), built. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { App, AppOptions } from "../../src/app.ts";
import { COMMON_ENV, VARIANT_ENV, type Variant } from "../conformance/wire/index.ts";
import { repository } from "./copy-example.ts";
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

/** The built application. */
export interface BuiltWireApp {
  /** The copy of the project, with its build in `dist/`. */
  readonly project: TestProject;
  /** Returns an application of this process, in one configuration. */
  open(variant: Variant, base?: string): App;
}

/** Builds the application to run it in another process. The caller must remove the copy. */
export async function buildWireProject(): Promise<TestProject> {
  const project = TestProject.copy(join(repository, "tests/conformance/fixtures/wire"));
  await buildOnce(project.dir, "wire");
  return project;
}

/** Builds the application and loads it into this process. The caller must remove the copy. */
export async function buildWireApp(): Promise<BuiltWireApp> {
  const project = await buildWireProject();
  // The module's own application reads this process' environment. In production it would require a secret.
  const { WEB_ENV } = process.env;
  process.env.WEB_ENV = COMMON_ENV.WEB_ENV;
  const module: { default: WireModule } = await import(pathToFileURL(project.file("dist/app.mjs")).href);
  if (WEB_ENV === undefined) delete process.env.WEB_ENV;
  else process.env.WEB_ENV = WEB_ENV;
  return { project, open: (variant, base) => createWireApp(module.default, variant, base) };
}

/** The default export of the built application's module: the application, and a function that creates others. */
interface WireModule {
  open(options: Partial<AppOptions>): App;
}

/** Returns an application of the built module, in one configuration. */
export function createWireApp(module: WireModule, variant: Variant, base = ""): App {
  return module.open(wireAppOptions(variant, base));
}

/** Returns the options of an application in one configuration. They can be written as JSON. */
export function wireAppOptions(variant: Variant, base: string): Pick<AppOptions, "env" | "base" | "rate"> {
  const { WIRE_CALLS, ...env }: Record<string, string> = { ...COMMON_ENV, ...VARIANT_ENV[variant] };
  return { env, base, rate: WIRE_CALLS ? { calls: Number(WIRE_CALLS), seconds: 60 } : false };
}
