/**
 * The application of the tests of the development panel: functions of every kind, a failing one, a page with live updates.
 */
export const PANEL_PROJECT: Readonly<Record<string, string>> = {
  "src/app.ts":
    'import { App } from "tsweb";\nimport * as orders from "./orders.server.ts";\n' +
    'import * as pages from "./pages.server.tsx";\n' +
    'export default new App({ title: "Orders", modules: [orders, pages] });\n',
  "src/orders.server.ts": `import { publish, type int, redirect, server, session } from "tsweb";

/** Orders an item. */
export const order = server((item: string, quantity: int = 1, size: "small" | "large" = "small") => {
  return { item, quantity, size };
});

/**
 * Signs a customer in.
 * @param password at least eight characters
 */
export const signIn = server((name: string, password: string) => {
  session.login(name);
  return \`Welcome, \${name}. Your password has \${password.length} letters.\`;
});

export const whoAmI = server({ auth_required: true }, () => session.user());

export const countdown = server(function* (from: int) {
  for (let n = from; n >= 0; n--) yield n;
});

export const breakDown = server((accessCode: string) => {
  return checkStock(accessCode.length);
});

function checkStock(count: number): number {
  throw new Error(\`The stock of \${count} is unknown\`);
}

export const leave = server(() => redirect("/orders/7"));

export const sendPhoto = server((photo: File, caption?: string) => \`\${photo.name}: \${photo.size} bytes, \${caption}\`);

export const label = server((tags: string[], options: { readonly token: string } | null) => ({ tags, options }));

export const announce = server(async (text: string) => {
  await publish("news", { text, token: "t0p-secret" });
});

export const repeat = server(async (markup: string) => {
  await publish(markup, { [markup]: markup });
  throw new Error(markup, { cause: new TypeError(markup) });
});
`,
  "src/pages.server.tsx":
    'import { channel, page, route } from "tsweb";\nimport { News } from "./news.tsx";\n' +
    'export const home = page("/", async () => <main><h1>Orders</h1><News feed={await channel("news")} /></main>);\n' +
    'export const one = page("/orders/:id", ({ id }) => <h1>Order {id}</h1>);\n' +
    'export const broken = page("/broken", () => { throw new Error("The page is broken"); });\n' +
    'export const hook = route("POST /hooks/:token", async () => new Response("ok"));\n',
  "src/news.tsx": `import { type Feed, on_mount, state, subscribe, view } from "tsweb/browser";

export const News = view(({ feed }: { feed: Feed }) => {
  const news = state({ texts: [] as string[] });
  on_mount(() => subscribe(feed, (message) => news.texts.push(JSON.stringify(message))));
  return <ul id="news">{news.texts.map((text) => <li key={text}>{text}</li>)}</ul>;
});
`,
};
