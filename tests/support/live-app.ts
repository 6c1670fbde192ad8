/**
 * An application with live updates: functions that issue feeds and publish messages, and a page that shows messages.
 */
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as live from "./live.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Live", modules: [live, pages], rate: false });`,
  "src/live.server.ts": `
    import { channel, type int, publish, server } from "tsweb";
    export const issue_feeds = server((names: string[]) => Promise.all(names.map((name) => channel(name))));
    export const publish_texts = server(async (room: string, texts: string[]) => {
      const settled = await Promise.allSettled(texts.map((text) => publish(room, text)));
      return settled.map(({ status }) => status === "fulfilled");
    });
    export const publish_numbered = server(async (room: string, from: number, count: number, length: number) => {
      const texts = Array.from({ length: count }, (_, n) => \`\${from + n}:\${"x".repeat(length)}\`);
      await Promise.all(texts.map((text) => publish(room, text)));
    });
    export const publish_pid = server(async (room: string) => {
      await publish(room, String(process.pid));
      return process.pid;
    });
    export const pid = server(() => process.pid);
    export const slow_pid = server(async (ms: int) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return process.pid;
    });
    export const used_bytes = server(() => {
      globalThis.gc(); // with --expose-gc
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    });`,
  "src/pages.server.tsx": `
    import { channel, page } from "tsweb";
    import { Room } from "./room.tsx";
    export const room = page("/", async () => <Room feed={await channel<string>("room")} />);`,
  "src/room.tsx": `
    import { type Feed, on_mount, state, subscribe, view } from "tsweb/browser";
    import { pid } from "./live.server.ts";
    export const Room = view(({ feed }: { feed: Feed<string> }) => {
      const shown = state({ texts: [] as string[], calls: 0 });
      on_mount(() => subscribe(feed, (text) => shown.texts.push(text)));
      const call = async () => {
        await pid();
        shown.calls += 1;
      };
      return (
        <main>
          <output>{shown.texts.join()}</output>
          <button onClick={call}>{shown.calls}</button>
        </main>
      );
    });`,
};

/** Writes the application, and builds it. The caller has to remove it. */
export async function buildLiveApp(): Promise<TestProject> {
  const project = TestProject.fromFiles(FILES);
  await buildOnce(project.dir, "live");
  return project;
}
