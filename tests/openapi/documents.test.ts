/**
 * The OpenAPI documents of the examples and of an application with demanding types: linted, and used by a generated
 * client.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { DEMANDING_APP, DEMANDING_CLIENT } from "./demanding-app.ts";
import { compileProject, generateTypes, installTools, lint, type Problem, run, TOOL_PACKAGES } from "./tools.ts";

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex"), WEB_CSRF_SECRET: randomBytes(32).toString("hex") };

const EXAMPLES = ["accounts", "chat"] as const;

let shop: TestProject;
let client: TestProject;
let server: RunningServer;
let documents: Readonly<Record<string, unknown>>;
let problems: readonly Problem[];

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

// The download can take longer than a hook may. Other test files run at the same time.
beforeAll(installTools, 600_000);

beforeAll(async () => {
  shop = TestProject.fromFiles({ ...DEMANDING_APP, "src/tea.server.ts": docs["src/tea.server.ts"] ?? "" });
  symlinkSync(join(repository, "node_modules/zod"), shop.file("node_modules/zod"), "dir");
  client = TestProject.fromFiles({
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
  symlinkSync(join(TOOL_PACKAGES, "openapi-fetch"), client.file("node_modules/openapi-fetch"), "dir");
  symlinkSync(
    join(TOOL_PACKAGES, "openapi-typescript-helpers"),
    client.file("node_modules/openapi-typescript-helpers"),
    "dir",
  );
  const examples = EXAMPLES.map(
    async (name) => [name, await printedDocument(join(repository, "examples", name))] as const,
  );
  server = await startDev(shop.dir, env);
  const response = await fetch(`${server.address}/__web/openapi.json`);
  if (!response.ok) throw new Error(server.output());
  documents = { api: await response.json(), ...Object.fromEntries(await Promise.all(examples)) };
  problems = lint(documents);
  for (const [name, types] of Object.entries(generateTypes(documents))) client.write(`src/${name}.ts`, types);
  client.write("src/docs.ts", (docs["client.ts"] ?? "").replace("http://localhost:3000", server.address));
  compileProject(client.dir);
});
afterAll(async () => {
  await server?.stop();
  shop?.remove();
  client?.remove();
});

/** Returns the document that `tsweb openapi` prints. */
async function printedDocument(dir: string): Promise<unknown> {
  const args = [join(repository, "bin/tsweb.js"), "openapi", dir];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

const problemsOf = (document: string) =>
  problems.filter(({ name }) => name === document).map(({ severity, rule, path }) => `${severity} ${rule} ${path}`);

describe("the OpenAPI document of an application with demanding types", () => {
  it("has no problem by the recommended rules of Redocly and Spectral", () => {
    // Spectral decodes the path of this function and then finds nothing there.
    const falseReports = ["description", "operationId", "tags"].map(
      (member) => `warning spectral operation-${member} #/paths//__web/rpc/größe/post`,
    );
    expect(problemsOf("api")).toEqual(falseReports);
  });

  it("is valid by the schema of OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(documents.api)));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it("types a generated client that compiles, which calls the running server", () => {
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
});

describe("the example of docs/openapi.md", () => {
  it("prints the offer and the values of the stream", () => {
    expect(run(client.file("out/docs.js"), [])).toBe("Assam costs 5.00\n3\n2\n1\n");
  });
});

describe.each(EXAMPLES)("the OpenAPI document of the example %s", (name) => {
  it("has no problem, except that its package.json names no license and no author", () => {
    expect(problemsOf(name)).toEqual(["warning redocly info-license #/info", "warning spectral info-contact #/info"]);
  });

  it("describes the result of every function", () => {
    const responses = Object.values((documents[name] as Document).paths).map(({ post }) => post.responses[200].content);
    for (const content of responses) expect(content["application/json"]?.schema.properties.result).not.toEqual({});
  });
});
