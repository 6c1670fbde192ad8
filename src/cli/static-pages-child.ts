/** The process that loads a built application and renders its static pages, reports them, and ends. */
import { pathToFileURL } from "node:url";
import { internalsOf } from "../server/index.ts";
import type { RenderReport } from "./build/index.ts";

const [, , file = ""] = process.argv;
const report = await render();
process.send?.(report, () => process.exit());

async function render(): Promise<RenderReport> {
  try {
    const { default: app }: { default?: unknown } = await import(pathToFileURL(file).href);
    return { pages: (await internalsOf(app)?.renderStaticPages()) ?? [] };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
