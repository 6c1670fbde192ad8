/** The type shapes that strict applications check are the same, however the application is compiled. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { Project } from "./project.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

beforeAll(() => {
  if (!existsSync(`${repository}/dist/compile/register.js`)) throw new Error("tsweb is not built. Run npm run build.");
});

const ORDER = "export interface Order { id: string; lines: { price: float }[] }";
const FILES = {
  "package.json": '{ "type": "module" }',
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as shop from "./shop.server.ts";\nexport default new App({ strict: true, modules: [shop] });',
  "src/shop.server.ts":
    'import { server } from "tsweb";\nimport type { Order } from "./types/index.ts";\nexport const order = server((items: Order[], at: Date) => items);',
  "src/types/index.ts": 'export type { Order } from "./order.ts";',
  "src/types/order.ts": `import type { float } from "tsweb";\n${ORDER}`,
  "src/main.ts": `import app from "./app.ts";
    const call = async (items) => {
      const body = JSON.stringify({ args: { items, at: "now" } });
      const headers = { "content-type": "application/json" };
      const response = await app.fetch(new Request("http://shop.example/__web/rpc/order", { method: "POST", headers, body }));
      return await response.text();
    };
    console.log(await call([{ id: "a", lines: [{ price: "1.5" }] }]));
    console.log(await call([{ id: "a", lines: [{ price: 1 }, { price: "x" }] }]));
    console.log(await call([{ id: 1, lines: [] }]));`,
};

/** Returns the parameters in compiled code. Each tool formats the object literal in its own way. */
function paramsIn(text: string): unknown {
  const literal = /=> items, (?:undefined|void 0), (\{.*?\})\);/s.exec(text)?.[1];
  if (literal === undefined) throw new Error(`No signature in:\n${text}`);
  return new Function(`return ${literal}`)().params;
}

const LINES = { list: { of: { object: { fields: [["price", { kinds: ["float"] }]] } } } };
const PARAMS = [
  {
    name: "items",
    type: "any",
    annotation: "Order[]",
    shape: {
      list: {
        of: {
          object: {
            fields: [
              ["id", { kinds: ["string"] }],
              ["lines", LINES],
            ],
          },
        },
      },
    },
  },
  { name: "at", type: "any", annotation: "Date" },
];

describe("a type of another module", () => {
  test("is read by a build", async () => {
    const [output] = await new Project(FILES).buildServer("src/shop.server.ts");
    expect(paramsIn(output?.text ?? "")).toEqual(PARAMS);
  });

  test("of a result, and the doc comment, are read in development only", async () => {
    const project = new Project({
      ...FILES,
      "src/shop.server.ts": `import { server } from "tsweb";
        import type { Order } from "./types/index.ts";
        /** Returns what was ordered. */
        export const order = server((): Order[] => []);`,
    });
    const vite = await project.serve();
    const development = (await vite.environments.ssr.transformRequest("/src/shop.server.ts"))?.code;
    expect(development).toContain('"summary": "Returns what was ordered"');
    expect(development).toMatch(/"result":.*"name": "Order"/s);
    const [output] = await project.buildServer("src/shop.server.ts");
    expect(output?.text).toContain("params");
    expect(output?.text).not.toMatch(/"?documentation"?:|Order"/);
  });

  test("is read by the development server, and again after an edit", async () => {
    const project = new Project(FILES);
    const vite = await project.serve();
    const ssr = vite.environments.ssr;
    const compiled = async () => (await ssr.transformRequest("/src/shop.server.ts"))?.code ?? "";
    expect(paramsIn(await compiled())).toEqual(PARAMS);
    for (const [file, text] of [
      ["src/types/order.ts", "export interface Order { id: string }"],
      ["src/types/index.ts", "export type Order = { id: string };"],
    ] as const) {
      project.write(file, text);
      vite.watcher.emit("change", project.file(file));
      await expect.poll(async () => (await compiled()).includes("price")).toBe(false);
      project.write("src/types/order.ts", FILES["src/types/order.ts"]);
      project.write("src/types/index.ts", FILES["src/types/index.ts"]);
      vite.watcher.emit("change", project.file(file));
      await expect.poll(async () => (await compiled()).includes("price")).toBe(true);
    }
  });

  test("is read by tsweb/register and checked in calls", () => {
    const project = new Project(FILES);
    project.install("tsweb", "vitest");
    const { NODE_ENV: _env, NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env;
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", "tsweb/register", "src/main.ts"], {
      cwd: project.root,
      env,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    const responses = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(responses).toEqual([
      { result: [{ id: "a", lines: [{ price: 1.5 }] }] },
      {
        error: {
          code: "validation_error",
          message: 'items[0].lines[1].price: expected float, got "x"',
          details: { parameter: "items", expected: "float", path: "items[0].lines[1].price" },
        },
      },
      {
        error: {
          code: "validation_error",
          message: "items[0].id: expected string, got 1",
          details: { parameter: "items", expected: "string", path: "items[0].id" },
        },
      },
    ]);
  });
});
