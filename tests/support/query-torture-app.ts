/**
 * The application of the torture run for queries: reads and writes the database of the run, which is in the process of the test.
 */
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as board from "./board.server.ts";
    export default new App({ title: "Board", modules: [board], rate: false });`,
  "src/board.server.ts": `
    import { publish, query, server, session } from "tsweb";

    interface Row {
      id: string;
      version: number;
      text: string;
    }
    interface Snapshot {
      rows: Row[];
      version: number;
    }

    const channelOf = (board: string) => \`board:\${board}\`;
    /** The runs in progress, by key. */
    const running = new Map<string, number>();

    async function ask<T>(body: object): Promise<T> {
      const response = await fetch(process.env.DATABASE_URL ?? "", { method: "POST", body: JSON.stringify(body) });
      if (!response.ok) throw new Error(\`The database has failed: \${response.status}.\`);
      return response.json();
    }

    /** Reads boards in one moment. Reports runs that overlap. */
    async function read(key: string, boards: string[]): Promise<Snapshot[]> {
      const count = (running.get(key) ?? 0) + 1;
      running.set(key, count);
      try {
        return await ask({ boards, overlap: count > 1 ? key : null });
      } finally {
        running.set(key, count - 1);
      }
    }

    export const cards = query({ on: (board) => [channelOf(board)] }, async (board: string) => {
      const [snapshot] = await read(\`cards \${board}\`, [board]);
      return snapshot?.rows;
    });

    export const totals = query({ on: (a, b) => [channelOf(a), channelOf(b)] }, async (a: string, b: string) => {
      const snapshots = await read(\`totals \${a} \${b}\`, [a, b]);
      return snapshots.map(({ version }) => version);
    });

    /** Reads the session in every other version of the board only, and catches the error of runs that have none. */
    export const mine = query({ on: (board) => [channelOf(board)] }, async (board: string) => {
      const [snapshot] = await ask<Snapshot[]>({ boards: [board], overlap: null });
      const version = snapshot?.version ?? 0;
      if (version % 2 === 1) return { version, user: null };
      try {
        return { version, user: session.require().sub };
      } catch {
        return { version, user: null };
      }
    });

    export const enter = server((user: string) => session.login(user));

    export const load = server(async (names: string[], boards: string[][]) =>
      Promise.all(names.map((name, i) => liveOf(name, boards[i] ?? []))),
    );

    function liveOf(name: string, [a = "", b = ""]: string[]) {
      if (name === "totals") return totals.live(a, b);
      return name === "mine" ? mine.live(a) : cards.live(a);
    }

    /** Reads the database as a run does. */
    export const probe = server(() => ask<Snapshot[]>({ boards: [], overlap: null }));

    /** Commits a change, once for each id, and publishes it. */
    export const write = server(async (board: string, id: string) => {
      await ask({ board, id });
      await publish(channelOf(board));
    });`,
};

/** Writes the application, and builds it. The caller has to remove it. */
export async function buildQueryTortureApp(): Promise<TestProject> {
  const project = TestProject.fromFiles(FILES);
  await buildOnce(project.dir, "query-torture");
  return project;
}
