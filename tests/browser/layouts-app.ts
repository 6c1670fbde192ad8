/** The application of docs/layouts.md: the files that the document shows, and those that it leaves to the reader. */
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { TestProject } from "#test/test-project";

const FILES = {
  "src/db.server.ts": `
    import { existsSync, readFileSync } from "node:fs";
    import { once } from "tsweb";
    export interface Board { readonly id: string; readonly name: string; readonly owner: string; readonly notes: string[] }
    const boards: Board[] = [
      { id: "1", name: "Garden", owner: "ada", notes: ["Sow"] },
      { id: "2", name: "Kitchen", owner: "ada", notes: [] },
      { id: "3", name: "Secret", owner: "grace", notes: ["Hidden"] },
    ];
    const users = [
      { id: "ada", password: "lovelace", roles: ["admin" as const] },
      { id: "grace", password: "hopper", roles: [] },
    ];
    /** Files that the test writes beside the project, because a banned test can call nothing. */
    const read = (name: string) => existsSync(name) ? readFileSync(name, "utf8") : "";
    export const maintenance = { get is_on() { return read("maintenance") === "on"; } };
    export const queries = { boards_of: 0 };

    /** Ends when both a layout and a page of this request have started, so that a page alone would never end. */
    const meeting = once(() => {
      let arrive = () => {};
      const both = new Promise<void>((resolve) => (arrive = resolve));
      return { arrive, both };
    });
    export async function boards_of(owner: string): Promise<Board[]> {
      queries.boards_of++;
      meeting().arrive();
      await null;
      return boards.filter((board) => board.owner === owner);
    }
    export async function board(id: string): Promise<Board | undefined> {
      if (wait_for_layout.is_on) await meeting().both;
      return boards.find((each) => each.id === id);
    }
    export const wait_for_layout = { is_on: false };
    export const count_users = async () => users.length;
    export const check_password = async (name: string, password: string) =>
      users.find((user) => user.id === name && user.password === password) ?? null;
    export const is_banned = async (address: string) => read("banned").split("\\n").includes(address);`,
  "src/clock.tsx": `
    import { on_mount, state, view } from "tsweb/browser";
    export const Clock = view(({ now }: { now: number }) => {
      const clock = state({ ticks: 0, isMounted: false });
      on_mount(() => { clock.isMounted = true; });
      return <button type="button" onClick={() => clock.ticks++}>{now > 0 && clock.isMounted ? "tick " + clock.ticks : "…"}</button>;
    });`,
  "src/session.d.ts": `
    import "tsweb";
    declare module "tsweb" { interface Claims { roles: "admin"[] } }`,
  "src/control.server.ts": `
    import { server } from "tsweb";
    import * as db from "./db.server.ts";
    export const wait_for_layout = server((on: boolean) => void (db.wait_for_layout.is_on = on));
    export const queries = server(() => db.queries.boards_of);`,
  "public/logo.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
  "public/favicon.ico": "",
  "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
};

/** Creates the project of docs/layouts.md. The module of the tests is added to its application, and its sign-in form shows that it is hydrated. */
export function layoutsProject(): TestProject {
  const files = documentedFiles("docs/layouts.md");
  const app = files["src/app.ts"] ?? "";
  const signIn = files["src/sign-in.tsx"] ?? "";
  const project = TestProject.fromFiles({
    ...FILES,
    ...files,
    "src/app.ts": `import * as control from "./control.server.ts";\n${app.replace("modules: [", "modules: [control, ")}`,
    "src/sign-in.tsx": signIn
      .replace("import { state,", "import { on_mount, state,")
      .replace("const submit", 'on_mount(() => { document.body.dataset.form = "hydrated"; });\n  const submit'),
  });
  const types = "node_modules/@types"; // those of Node
  symlinkSync(join(repository, types), project.file(types), "dir");
  return project;
}
