import { describe, expect, test } from "vitest";
import { Project } from "./project.ts";

const APPLICATION = {
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as db from "./db.server.ts";\nexport default new App({ modules: [db] });',
  "src/db.server.ts": 'import { server } from "tsweb";\nexport const save = server(async (name: string) => name);',
};

const tsconfig = (paths: Readonly<Record<string, readonly string[]>>, more: object = {}) =>
  JSON.stringify({ compilerOptions: { paths }, include: ["src"], ...more });

/** A module with an import by an alias, which leads to `save` of `src/db.server.ts`. */
interface Aliased {
  readonly title: string;
  readonly specifier: string;
  readonly files: Readonly<Record<string, string>>;
  /** The module that imports it. */
  readonly importer?: string;
}

const ALIASES: readonly Aliased[] = [
  { title: "a pattern", specifier: "@/db.server.ts", files: { "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }) } },
  {
    title: "a pattern, without the extension",
    specifier: "@/db.server",
    files: { "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }) },
  },
  { title: "a name", specifier: "db", files: { "tsconfig.json": tsconfig({ db: ["./src/db.server.ts"] }) } },
  {
    title: "a pattern with several targets, of which the last exists",
    specifier: "@/db.server.ts",
    files: { "tsconfig.json": tsconfig({ "@/*": ["./generated/*", "./src/*"] }) },
  },
  {
    title: "paths that are relative to baseUrl",
    specifier: "@/db.server.ts",
    files: {
      "tsconfig.json": '{ "compilerOptions": { "baseUrl": "./src", "paths": { "@/*": ["*"] } }, "include": ["src"] }',
    },
  },
  {
    title: "a name below baseUrl",
    specifier: "src/db.server.ts",
    files: { "tsconfig.json": '{ "compilerOptions": { "baseUrl": "." }, "include": ["src"] }' },
  },
  {
    title: "paths of a tsconfig.json that another extends",
    specifier: "@/db.server.ts",
    files: {
      "tsconfig.json": '{ "extends": "./config/base.json", "include": ["src"] }',
      "config/base.json": '{ "compilerOptions": { "paths": { "@/*": ["../src/*"] } } }',
    },
  },
  {
    title: "paths of a project that tsconfig.json references",
    specifier: "@/db.server.ts",
    files: {
      "tsconfig.json": '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }',
      "tsconfig.app.json": tsconfig({ "@/*": ["./src/*"] }),
    },
  },
  {
    title: "paths of the nearest tsconfig.json",
    specifier: "root/db.server.ts",
    importer: "src/admin/view.tsx",
    files: {
      "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }),
      "src/admin/tsconfig.json": '{ "compilerOptions": { "paths": { "root/*": ["../*"] } } }',
    },
  },
  {
    title: "paths, in a module that no tsconfig.json includes",
    specifier: "@/db.server.ts",
    importer: "views/view.tsx",
    files: { "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }) },
  },
  {
    title: "paths, in JavaScript",
    specifier: "@/db.server.ts",
    importer: "src/view.jsx",
    files: { "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }) },
  },
  {
    title: "imports of package.json",
    specifier: "#db",
    files: { "package.json": '{ "type": "module", "imports": { "#db": "./src/db.server.ts" } }' },
  },
];

function projectOf({ specifier, files, importer = "src/view.tsx" }: Aliased): { project: Project; importer: string } {
  const code = `import { view } from "tsweb/browser";
import { save } from "${specifier}";
export const View = view(() => <button onClick={() => save("a")}>Save</button>);`;
  return { project: new Project({ ...APPLICATION, ...files, [importer]: code }), importer };
}

describe("an import by an alias", () => {
  test.each(ALIASES)(
    "is a stub in a build for the browser, and the function in one for the server: $title",
    async (aliased) => {
      const { project, importer } = projectOf(aliased);
      const text = (await project.buildClient(importer)).map((file) => file.text).join("\n");
      expect(text).toContain('stub("save", [');
      expect(text).not.toContain("async (name");
      const built = (await project.buildServer(importer)).map((file) => file.text).join("\n");
      expect(built).toContain("async (name");
    },
  );

  test.each(ALIASES)(
    "is a stub in development in the browser, and the function on the server: $title",
    async (aliased) => {
      const { project, importer } = projectOf(aliased);
      const { environments } = await project.serve();
      const client = await environments.client.transformRequest(project.file(importer));
      expect(client?.code).toContain("tsweb-stub:");
      const { code = "" } = (await environments.ssr.transformRequest(project.file(importer))) ?? {};
      expect(code).toContain('"/src/db.server.ts"');
    },
  );

  test("is not resolved if the Vite config disables it, and no file is loaded in its place", async () => {
    const { project } = projectOf({
      title: "",
      specifier: "@/db.server.ts",
      files: { "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }) },
    });
    const { environments } = await project.serve({ resolve: { ...project.config().resolve, tsconfigPaths: false } });
    await expect(environments.client.transformRequest(project.file("src/view.tsx"))).rejects.toThrow("@/db.server.ts");
  });
});
