/** The process that loads a built application for `tsweb check --production`, reports what it throws, and ends. */
import { pathToFileURL } from "node:url";
import { internalsOf } from "../server/index.ts";
import type { LoadReport } from "./check-start.ts";

const [, , file = ""] = process.argv;
report(await load());

async function load(): Promise<LoadReport> {
  try {
    const { default: app }: { default?: unknown } = await import(pathToFileURL(file).href);
    await internalsOf(app)?.checkPackages();
    return {};
  } catch (error) {
    if (!(error instanceof Error)) return { error: String(error) };
    // The application has a class ConfigError of its own.
    const { problems }: Pick<LoadReport, "problems"> = Object(error);
    return error.name === "ConfigError" ? { problems } : { error: error.stack ?? error.message };
  }
}

function report(result: LoadReport): void {
  process.send?.(result, () => process.exit());
}
