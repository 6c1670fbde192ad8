import { describe, expect, test } from "vitest";
import { inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { readListedModules } from "./listed-modules.ts";
import { checkListedModule } from "./module-list.ts";

const APP =
  'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nimport * as other from "./other.server.tsx";\n' +
  "export default new App({ modules: [pages, other] });\n";
const PAGES = 'import { page, route } from "tsweb";\nexport const home = page("/", () => null);\n';

/** Returns the warnings about a module with a page. */
async function warningsFor(code: string, { other = "", app = APP } = {}): Promise<string[]> {
  const files = { "src/pages.server.tsx": PAGES + code, "src/other.server.tsx": other, "src/app.ts": app };
  const resolver = inMemoryResolver(files);
  const listed = await readListedModules(readTestModule("src/app.ts", app), resolver);
  return checkListedModule(readTestModule("src/pages.server.tsx", PAGES + code), listed, resolver);
}

describe("an export that only other frameworks use", () => {
  test("gets a warning with its location and what to write", async () => {
    expect(await warningsFor('export const metadata = { title: "Home" };')).toEqual([
      "src/pages.server.tsx:3 exports metadata, which only other frameworks use, and no module of the application does. " +
        'Pass the title to the page, as in `page("/…", { title: "…" }, () => …)`, or write <Head> in its markup.',
    ]);
  });

  test.each([
    ["export async function GET() {}", 'route("GET /…"'],
    ["export const POST = async (request: Request) => new Response();", 'route("POST /…"'],
    ["export const loader = async () => ({});", "Load the data in the function of the page"],
    ["export const loader = (async () => ({})) satisfies Loader;", "Load the data in the function of the page"],
    ["export const actions = { default: async () => {} };", "<form action={save}>"],
  ])("gets a warning: %s", async (code, fix) => {
    expect(await warningsFor(code)).toEqual([expect.stringContaining(fix)]);
  });

  test.each<[string, Parameters<typeof warningsFor>[1]?]>([
    ['export const GET = route("GET /api", () => new Response());'],
    ['export const metadata = { title: "Home" };\nexport const about = page("/about", metadata, () => null);'],
    ["const GET = () => null;\nexport { GET };"],
    ['export const GET = "get";'],
    ["export const metadata = load();"],
    ["export const metadata = 1 as number;"],
    ["export type loader = string;"],
    ["export const load = async () => ({});"], // as a function that a script or a test uses may be named
    ["export async function action() {}"],
    ["export const loaders = async () => ({});"],
    ["export const loader = async () => ({});", { other: 'import { loader } from "./pages.server.tsx";' }],
    ["export const loader = async () => ({});", { other: 'import * as pages from "./pages.server.tsx";' }],
    ["export const loader = async () => ({});", { other: 'export * from "./pages.server.tsx";' }],
    ["export const loader = async () => ({});", { other: 'const pages = import("./pages.server.tsx");' }],
    ["export const metadata = {};", { app: `${APP}console.log(pages.metadata);` }],
    ["export const metadata = {};", { app: `${APP}import { metadata } from "./pages.server.tsx";` }],
  ])("gets no warning where it may be used, or is another value: %s %j", async (code, options) => {
    expect(await warningsFor(code, options)).toEqual([]);
  });
});
