/**
 * The OpenAPI documents of the examples and of an application with demanding types: valid by the schema of OpenAPI. In
 * `npm run matrix -- openapi`, they are also linted, and used by a generated client.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { IS_MATRIX } from "#test/matrix";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { DEMANDING_APP, DEMANDING_CLIENT } from "./demanding-app.ts";
import { compileProject, generateTypes, installTools, lint, type Problem, run, TOOL_PACKAGES } from "./tools.ts";

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex"), WEB_CSRF_SECRET: randomBytes(32).toString("hex") };

const EXAMPLES = ["accounts", "chat"] as const;

let shop: TestProject;
let documents: Readonly<Record<string, unknown>>;

/** The parts of a document that the tests read. */
interface Document {
  readonly paths: Readonly<Record<string, { readonly post: { readonly responses: Readonly<Record<200, Response>> } }>>;
}

interface Response {
  readonly content: Readonly<
    Record<string, { readonly schema: { readonly properties: { readonly result: unknown } } }>
  >;
}

/** The code blocks of docs/openapi.md, by the file that their first line names. */
const docs = Object.fromEntries(
  [...readFileSync(join(repository, "docs/openapi.md"), "utf8").matchAll(/```ts\n\/\/ (\S+)\n(.*?)```/gs)].map(
    ([, file = "", code = ""]) => [file, code],
  ),
);

beforeAll(async () => {
  shop = TestProject.fromFiles({ ...DEMANDING_APP, "src/tea.server.ts": docs["src/tea.server.ts"] ?? "" });
  symlinkSync(join(repository, "node_modules/zod"), shop.file("node_modules/zod"), "dir");
  const printed = [
    ["api", shop.dir] as const,
    ...EXAMPLES.map((name) => [name, join(repository, "examples", name)] as const),
  ].map(async ([name, dir]) => [name, await printedDocument(dir)] as const);
  documents = Object.fromEntries(await Promise.all(printed));
});
afterAll(() => shop?.remove());

/** Returns the document that `tsweb openapi` prints. */
async function printedDocument(dir: string): Promise<unknown> {
  const args = [join(repository, "bin/tsweb.js"), "openapi", dir];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

describe.each(["api", ...EXAMPLES])("the OpenAPI document %s", (name) => {
  it("is valid by the schema of OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(documents[name])));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });
});

describe.each(EXAMPLES)("the OpenAPI document of the example %s", (name) => {
  it("describes the result of every function", () => {
    const responses = Object.values((documents[name] as Document).paths).map(({ post }) => post.responses[200].content);
    for (const content of responses) expect(content["application/json"]?.schema.properties.result).not.toEqual({});
  });
});

if (IS_MATRIX) {
  // The download can take longer than a hook may.
  beforeAll(installTools, 600_000);

  describe("the recommended rules of Redocly and Spectral", () => {
    let problems: readonly Problem[];

    beforeAll(() => {
      problems = lint(documents);
    });

    const problemsOf = (document: string) =>
      problems.filter(({ name }) => name === document).map(({ severity, rule, path }) => `${severity} ${rule} ${path}`);

    it("find no problem in the document of an application with demanding types", () => {
      // Spectral decodes the path of this function and then finds nothing there.
      const falseReports = ["description", "operationId", "tags"].map(
        (member) => `warning spectral operation-${member} #/paths//__web/rpc/größe/post`,
      );
      expect(problemsOf("api")).toEqual(falseReports);
    });

    it.each(EXAMPLES)(
      "find no problem in that of %s, except that its package.json names no license and no author",
      (name) => {
        expect(problemsOf(name)).toEqual([
          "warning redocly info-license #/info",
          "warning spectral info-contact #/info",
        ]);
      },
    );
  });

  describe("a client that is generated from the document", () => {
    let client: TestProject;
    let server: RunningServer;

    beforeAll(async () => {
      server = await startDev(shop.dir, env);
      client = createClient();
      for (const [name, types] of Object.entries(generateTypes(documents))) client.write(`src/${name}.ts`, types);
      client.write("src/docs.ts", (docs["client.ts"] ?? "").replace("http://localhost:3000", server.address));
      compileProject(client.dir);
    });
    afterAll(async () => {
      await server?.stop();
      client?.remove();
    });

    it("compiles, and calls the running server", () => {
      const output = JSON.parse(run(client.file("out/client.js"), [server.address]));
      const item = {
        id: 1,
        name: "Assam",
        price: 4.5,
        tags: ["black"],
        added: "1970-01-01T00:00:00.000Z",
        supplier: null,
      };
      expect(output).toEqual({
        item,
        grandparent: null,
        black: 1,
        price: [4.5, "eur"],
        none: null,
        size: "m",
        anything: { a: 1 },
        image: "AQI=",
        user: { email: "ada@shop.example" },
        refused: [401, "unauthenticated"],
        paid: "1970-01-01T00:00:00.000Z",
        missing: [404, "There is no such order."],
        lines: 2,
        watched: [[2, 7], [1, 7], { done: true }],
        numbers: [{ chunk: 1 }, { chunk: 2 }, { done: true }],
      });
    });

    it("prints the offer and the values of the stream, as docs/openapi.md shows it", () => {
      expect(run(client.file("out/docs.js"), [])).toBe("Assam costs 5.00\n3\n2\n1\n");
    });
  });
}

/** Creates the project of the client, without the types of the document. */
function createClient(): TestProject {
  const client = TestProject.fromFiles({
    "package.json": '{ "private": true, "type": "module" }',
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        target: "es2023",
        lib: ["ES2023", "DOM", "DOM.Iterable"],
        module: "nodenext",
        strict: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        typeRoots: [join(repository, "node_modules/@types")],
        types: ["node"],
        outDir: "out",
        rootDir: "src",
      },
      include: ["src"],
    }),
    "src/client.ts": DEMANDING_CLIENT,
  });
  for (const name of ["openapi-fetch", "openapi-typescript-helpers"]) {
    symlinkSync(join(TOOL_PACKAGES, name), client.file(`node_modules/${name}`), "dir");
  }
  return client;
}
