import { describe, expect, test } from "vitest";
import { type Output, Project } from "./project.ts";

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
  /** Whether it needs the tsconfig.json in the root of the project. */
  readonly isInRoot?: boolean;
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
    isInRoot: true,
    files: { "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }) },
  },
  {
    title: "paths, in JavaScript",
    specifier: "@/db.server.ts",
    importer: "src/view.jsx",
    isInRoot: true,
    files: { "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }) },
  },
  {
    title: "imports of package.json",
    specifier: "#db",
    files: { "package.json": '{ "type": "module", "imports": { "#db": "./src/db.server.ts" } }' },
  },
];

const view = (specifier: string) => `import { view } from "tsweb/browser";
import { save } from "${specifier}";
export const View = view(() => <button onClick={() => save("a")}>Save</button>);`;

/** An alias in a project, in a folder of its own, with its tsconfig.json and package.json, unless it is in the root. */
interface Placed {
  readonly title: string;
  /** For example `case2/`. */
  readonly folder: string;
  readonly importer: string;
}

/** Creates the projects of all aliases: one for those in folders, and one for each in the root. */
function createProjects(): { readonly project: Project; readonly placed: readonly Placed[] }[] {
  const inRoot = ALIASES.filter(({ isInRoot }) => isInRoot);
  return [ALIASES.filter(({ isInRoot }) => !isInRoot), ...inRoot.map((alias) => [alias])].map((aliases) => {
    const project = new Project({});
    const placed = aliases.map(({ title, specifier, files, importer = "src/view.tsx", isInRoot }, index) => {
      const folder = isInRoot ? "" : `case${index}/`;
      for (const [name, text] of Object.entries({ ...APPLICATION, ...files, [importer]: view(specifier) })) {
        project.write(folder + name, text);
      }
      return { title, folder, importer: folder + importer };
    });
    return { project, placed };
  });
}

/** Returns the built file that contains a module. */
function chunkOf(output: Output, module: string): string | undefined {
  return output.find(({ text }) => text.includes(`${module}"`))?.text; // in the source map
}

describe("an import by an alias", () => {
  test("is a stub in a build for the browser, and the function in one for the server", async () => {
    for (const { project, placed } of createProjects()) {
      const importers = placed.map(({ importer }) => importer);
      const [client, server] = [await project.buildClient(importers), await project.buildServer(...importers)];
      for (const { title, importer } of placed) {
        expect(chunkOf(client, importer), title).toContain('stub("save", [');
        expect(chunkOf(server, importer), title).toContain("async (name");
      }
      expect(client.filter(({ text }) => text.includes("async (name"))).toEqual([]);
    }
  });

  test("is a stub in development in the browser, and the function on the server", async () => {
    for (const { project, placed } of createProjects()) {
      const { environments } = await project.serve();
      for (const { title, folder, importer } of placed) {
        const client = await environments.client.transformRequest(project.file(importer));
        expect(client?.code, title).toContain("tsweb-stub:");
        const { code = "" } = (await environments.ssr.transformRequest(project.file(importer))) ?? {};
        expect(code, title).toContain(`"/${folder}src/db.server.ts"`);
      }
    }
  });

  test("is not resolved if the Vite config disables it, and no file is loaded in its place", async () => {
    const project = new Project({
      ...APPLICATION,
      "tsconfig.json": tsconfig({ "@/*": ["./src/*"] }),
      "src/view.tsx": view("@/db.server.ts"),
    });
    const { environments } = await project.serve({ resolve: { ...project.config().resolve, tsconfigPaths: false } });
    await expect(environments.client.transformRequest(project.file("src/view.tsx"))).rejects.toThrow("@/db.server.ts");
  });
});
