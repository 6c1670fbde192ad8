/** What browsers make of the page `/places` of {@link LATER_APP}: its elements and texts. */
export const PLACES =
  "<select><option>a</option><option selected>b</option><optgroup label=more><option>c</option></optgroup></select>" +
  "<table><tbody><tr><td>1</td></tr></tbody><tfoot><tr><th>2</th><td>3</td></tr></tfoot></table>" +
  "<dl><dt>4</dt><dd>5</dd></dl><p><b>6</b></p>" +
  "<svg width=10 height=10><foreignObject width=10 height=10><i>7</i></foreignObject></svg>";

/**
 * An application whose pages have parts that follow: a part waits until the test releases it.
 */
export const LATER_APP: Readonly<Record<string, string>> = {
  "public/favicon.ico": "",
  "public/part.js": "window.isForged = true;",
  "public/part.css": ".styled { color: rgb(1, 2, 3); }",
  "src/app.ts": `
    import { App } from "tsweb";
    import * as functions from "./functions.server.ts";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Later", modules: [functions, pages], rate: false, policy: { "default-src": "'none'", "connect-src": "'self'" } });`,
  "src/functions.server.ts": `
    import { publish, request, route, server } from "tsweb";
    const waiting = new Map<string, () => void>();
    const open = new Set<string>();
    /** Resolves when the part is released, or the client has left. */
    export const released = (part: string) => new Promise<void>((resolve, reject) => {
      open.add(part);
      const end = () => { open.delete(part); resolve(); };
      waiting.set(part, end);
      const { signal } = request;
      signal.addEventListener("abort", () => { open.delete(part); reject(signal.reason); });
    });
    export const release = route("GET /release/:part", (_, { part }) => {
      waiting.get(part)?.();
      return Response.json({ found: waiting.delete(part) });
    });
    export const parts = route("GET /open", () => Response.json([...open]));
    export const save = server((text: string) => "saved " + text);
    export const say = route("GET /say/:text", async (_, { text }) => {
      await publish("room", text);
      return new Response("said");
    });`,
  "src/pages.server.tsx": `
    import { channel, form, Later, page } from "tsweb";
    import { released, save } from "./functions.server.ts";
    import { Counter, Room } from "./views.tsx";
    const later = (name: string, content: () => any) => (
      <Later fallback={<em id={"wait-" + name}>waiting for {name}</em>}>{async () => { await released(name); return content(); }}</Later>
    );
    export const plain = page("/plain", () => <main><p>plain</p></main>);
    export const slow = page("/slow", () => <main><p>plain</p><Later>{async () => {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      return <p id="slow">slow</p>;
    }}</Later></main>);
    export const table = page("/table", () => (
      <main>
        <table><tbody><tr><td>first</td></tr><Later fallback={<tr><td id="wait">wait</td></tr>}>{async () => {
          await released("rows");
          return [1, 2].map((n) => <tr key={n}><td class="row">row {n}</td></tr>);
        }}</Later></tbody></table>
        {later("text", () => <p id="text">the text</p>)}
      </main>
    ));
    const soon = (content: any, fallback: any) => (
      <Later fallback={fallback}>{async () => { await new Promise((resolve) => setTimeout(resolve, 100)); return content; }}</Later>
    );
    const wait = <option>wait</option>;
    export const places = page("/places", () => (
      <main>
        <select defaultValue="b">{soon(["a", "b"].map((name) => <option key={name}>{name}</option>), wait)}<optgroup label="more">{soon(<option>c</option>, wait)}</optgroup></select>
        <table>{soon(<tbody><tr><td>1</td></tr></tbody>, <tbody><tr><td>wait</td></tr></tbody>)}<tfoot><tr>{soon(<><th>2</th><td>3</td></>, <td>wait</td>)}</tr></tfoot></table>
        <dl>{soon(<><dt>4</dt><dd>5</dd></>, <dt>wait</dt>)}</dl><p>{soon(<b>6</b>, "wait")}</p>
        <svg width="10" height="10"><foreignObject width="10" height="10">{soon(<i>7</i>, "wait")}</foreignObject></svg>
      </main>
    ));
    export const views = page("/views", () => (
      <main>
        <Counter name="shell" />
        {later("one", () => <section><link rel="stylesheet" href="/part.css" /><p class="styled">styled</p><Counter name="one" /></section>)}
        {later("two", () => <section><Counter name="two" />{later("inner", () => <Counter name="inner" />)}</section>)}
      </main>
    ));
    export const onlyLater = page("/only-later", () => (
      <main>
        {later("room", async () => <Room feed={await channel<string>("room")} />)}
        {later("form", () => {
          const saving = form(save);
          return <form action={saving}><input name="text" /><output>{String(saving.result ?? "")}</output><button id="save">save</button></form>;
        })}
      </main>
    ));
    export const large = page("/large", () => (
      <main><Later>{async () => Array.from({ length: 100_000 }, (_, n) => <p key={n}>row {n}, a text that is somewhat long</p>)}</Later></main>
    ));
    export const forged = page("/forged", () => (
      <main>
        <Counter name="shell" />
        <template><b>forged</b></template>
        <script type="application/json" dangerouslySetInnerHTML={{ __html: JSON.stringify({
          mark: "000000000000", part: 0, src: "/part.js", first: 0, views: [{ src: "/part.js", name: "Forged", props: {} }],
        }) }} />
        {later("forged", () => <p id="real">real</p>)}
      </main>
    ));
    export const failing = page("/failing", () => (
      <main>{later("failing", () => { throw new Error("secret"); })}<ul><Later>{() => { throw new Error("secret"); }}</Later></ul></main>
    ));`,
  "src/views.tsx": `
    import { on_mount, state, subscribe, view } from "tsweb/browser";
    import type { Feed } from "tsweb/browser";
    import "./views.css";
    export const Counter = view(({ name }: { name: string }) => {
      const shown = state({ count: 0, isAlive: false });
      on_mount(() => { shown.isAlive = true; });
      return <button id={name} class="counter" data-alive={String(shown.isAlive)} onClick={() => shown.count++}>{name} {shown.count}</button>;
    });
    export const Room = view(({ feed }: { feed: Feed<string> }) => {
      const shown = state({ texts: [] as string[], isAlive: false });
      on_mount(() => { shown.isAlive = true; subscribe(feed, (text) => { shown.texts = [...shown.texts, text]; }); });
      return <output id="room" data-alive={String(shown.isAlive)}>{shown.texts.join()}</output>;
    });`,
  "src/views.css": ".counter { font-weight: 700; }",
};
