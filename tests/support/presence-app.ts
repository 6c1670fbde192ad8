/**
 * An application with presence: a page that shows who is here, and functions that issue tokens to clients without a browser.
 */
import { buildOnce } from "./shared-builds.ts";
import { TestProject } from "./test-project.ts";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as people from "./people.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Presence", modules: [people, pages], rate: false });`,
  "src/people.server.ts": `
    import { presence, server, session, who } from "tsweb";
    export const enter = server((user: string) => session.login(user));
    export const leave = server(() => session.logout());
    export const end = server(() => session.revoke(session.require().sub));
    export const here = server((room: string) => presence(room, { name: session.require().sub }));
    export const permit = server(async (room: string) => (await presence(room, { name: session.require().sub })).token);
    export const people = server(async (room: string) => (await who(room)).map(({ user, tabs }) => ({ user, tabs })));
    export const cpu_ms = server(() => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    });`,
  "src/pages.server.tsx": `
    import { page, presence, session } from "tsweb";
    import { Room } from "./room.tsx";
    import { leave } from "./people.server.ts";
    export const room = page("/", async () => {
      const user = session.require();
      return <Room here={await presence("room", { name: user.sub.toUpperCase() })} />;
    });
    export const elsewhere = page("/elsewhere", () => <h1>Elsewhere</h1>);`,
  "src/room.tsx": `
    import { type Presence, present, state, view } from "tsweb/browser";
    import { leave } from "./people.server.ts";
    type Here = Presence<{ name: string }, { text: string }>;
    const List = ({ here }: { here: Here }) => {
      const people = present(here);
      return (
        <ul class={people.stale ? "stale" : "current"}>
          {people.list.map(({ id, tabs, data, state }) => (
            <li key={id}>
              {data.name} {tabs} {state?.text}
            </li>
          ))}
        </ul>
      );
    };
    export const Room = view(({ here }: { here: Here }) => {
      const people = present(here);
      const shown = state({ isListed: true });
      return (
        <main>
          <input onInput={(event) => people.set({ text: event.currentTarget.value })} />
          <button onClick={() => (shown.isListed = !shown.isListed)}>Toggle</button>
          <button onClick={() => leave()}>Sign out</button>
          {shown.isListed && <List here={here} />}
        </main>
      );
    });`,
};

/** Writes the application, and builds it. The caller has to remove it. */
export async function buildPresenceApp(): Promise<TestProject> {
  const project = TestProject.fromFiles(FILES);
  await buildOnce(project.dir, "presence");
  return project;
}
