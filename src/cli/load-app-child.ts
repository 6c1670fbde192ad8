/** The process that loads a built application, reports what it throws or, for the build, its static pages, and ends. */
import { pathToFileURL } from "node:url";
import { internalsOf } from "../server/index.ts";
import type { LoadReport } from "./build/index.ts";

const [, , file = "", task] = process.argv;
report(await load());

async function load(): Promise<LoadReport> {
  try {
    const { default: app }: { default?: unknown } = await import(pathToFileURL(file).href);
    const internals = internalsOf(app);
    if (task === "static-pages") return { output: await internals?.renderStaticPages() };
    await internals?.checkPackages();
    return {};
  } catch (error) {
    if (!(error instanceof Error)) return { error: String(error) };
    // The application has a class ConfigError of its own.
    const { problems }: Pick<LoadReport, "problems"> = Object(error);
    return { error: error.stack ?? error.message, problems: error.name === "ConfigError" ? problems : undefined };
  }
}

function report(result: LoadReport): void {
  process.send?.(result, () => process.exit());
}
