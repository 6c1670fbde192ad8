/** An application with the functions and types that are hardest to describe. */
export const DEMANDING_APP = {
  "package.json": JSON.stringify({
    name: "shop",
    version: "3.1.4",
    description: "Sells tea.",
    author: "Ada <ada@shop.example> (https://shop.example)",
    license: "MIT",
    private: true,
    type: "module",
  }),
  "src/app.ts": `
    import { App } from "tsweb";
    import * as admin from "./admin/orders.server.ts";
    import * as pages from "./pages.server.tsx";
    import * as shop from "./shop.server.ts";
    import * as tea from "./tea.server.ts"; // the example of docs/openapi.md

    export default new App({ title: "Shop", strict: true, modules: [shop, admin, tea, pages] });
  `,
  "src/pages.server.tsx": `
    import { page, route } from "tsweb";

    export const home = page("/", () => <h1>Tea</h1>);
    export const feed = route("GET /feed.xml", () => new Response("<feed/>"));
  `,
  "src/types/index.ts": `
    export type { Category, Item } from "./catalog.ts";
  `,
  "src/types/catalog.ts": `
    import type { float, int } from "tsweb";

    export interface Item {
      id: int;
      name: string;
      price: float;
      tags: Set<string>;
      added: Date;
      stock?: int;
      supplier: { name: string; country: "in" | "cn" } | null;
      describe?(): string;
    }
    export interface Category {
      name: string;
      items: Item[];
      parent: Category | null;
    }
  `,
  "src/types/orders.ts": `
    import type { int } from "tsweb";
    export type Order = { kind: "paid"; at: Date; no: bigint } | { kind: "open"; lines: Line[] };
    export interface Line { item: int; quantity: int }
  `,
  "src/admin/orders.server.ts": `
    import { RPCError, server, session, type int } from "tsweb";
    import type { Line, Order } from "../types/orders.ts";

    /** Signs in as an administrator. */
    export const sign_in = server((name: string): void => {
      session.login(name, { roles: ["admin"] });
    });

    /**
     * Returns an order.
     *
     * @throws RPCError not_found for an unknown number
     */
    export const order = server({ auth_required: true }, async (no: int): Promise<Order> => {
      if (no === 0) throw new RPCError("not_found", "There is no such order.", { no });
      return no > 1 ? { kind: "paid", at: new Date(0), no: 5n } : { kind: "open", lines: [{ item: 1, quantity: 2 }] };
    });

    /** @deprecated Use order. */
    export const lines = server({ auth_required: true }, ({ no, limit = 10 }: { no: int; limit?: int }): Line[] =>
      Array.from({ length: Math.min(no, limit) }, () => ({ item: no, quantity: 1 })));
  `,
  "src/shop.server.ts": `
    import { server, type float, type int } from "tsweb";
    import { z } from "zod";
    import type { Category, Item } from "./types/index.ts";
    import type * as orders from "./types/orders.ts";

    const ITEM: Item = {
      id: 1, name: "Assam", price: 4.5, tags: new Set(["black"]), added: new Date(0), supplier: null,
    };

    /**
     * Finds items by their price. An item without a price is not found.
     *
     * @param range the lowest and the highest price; see {@link ITEM}
     * @param sort how to sort
     * @returns the items, sorted
     */
    export const find = server((range: [float, float?], sort: "name" | "price" | null = null): Item[] => [ITEM]);
    export const category = server((name: string): Category => ({
      name, items: [ITEM], parent: { name: "tea", items: [], parent: null },
    }));
    export const counts = server((): Record<string, int> => ({ black: 1 }));
    export const prices = server((): Map<string, [float, "eur" | "usd"]> => new Map([["Assam", [4.5, "eur"]]]));
    export const last_order = server(async (): Promise<orders.Order | undefined> => undefined);
    export const größe = server((größe: "s" | "m"): string | float => größe);
    export const anything = server(() => ({ a: 1 }));
    export const image = server((): Uint8Array | null => new Uint8Array([1, 2]));

    const user = z.object({ email: z.email(), get friends() { return z.array(user).optional(); } });
    export const subscribe = server(
      { validate: { email: z.email(), size: z.enum(["s", "m"]) }, returns: user },
      (email: string, size = "m") => ({ email, size, hash: "secret" }),
    );

    /** Watches the stock of an item, "live". */
    export const watch = server(async function* (id: int, times = 3): AsyncGenerator<{ left: int; item: Item }> {
      for (let left = times; left > 0; left--) yield { left, item: { ...ITEM, id } };
    });
    export const numbers = server({ returns: z.number() }, function* (to: int) {
      for (let n = 1; n <= to; n++) yield n;
    });
  `,
} as const;

/** A client of this application, written with the types that openapi-typescript generates, and openapi-fetch. */
export const DEMANDING_CLIENT = `
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./api.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only if the value has exactly this type. */
const typed = <T>() => <V>(value: V, ..._: Equal<V, T> extends true ? [] : ["has another type", V]) => value;

const [origin] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl: origin! });
let cookie = "";
let token = "";
api.use({
  onRequest({ request }) {
    request.headers.set("cookie", cookie);
    request.headers.set("x-csrf-token", token);
  },
  onResponse({ response }) {
    for (const line of response.headers.getSetCookie()) cookie = line.split(";")[0]!;
    token = response.headers.get("x-csrf-token") ?? token;
  },
});

type Schemas = components["schemas"];
const out: Record<string, unknown> = {};

const found = await api.POST("/__web/rpc/find", { body: { args: { range: [1, 5], sort: "price" } } });
typed<Schemas["Item"][] | undefined>()(found.data?.result);
const item = found.data!.result[0]!;
typed<number>()(item.id);
typed<string[]>()(item.tags);
typed<string>()(item.added);
typed<number | undefined>()(item.stock);
typed<"in" | "cn" | undefined>()(item.supplier?.country);
out.item = item;
// @ts-expect-error: a parameter is missing
void (() => api.POST("/__web/rpc/find", { body: { args: { sort: "price" } } }));
// @ts-expect-error: not one of the literals
void (() => api.POST("/__web/rpc/find", { body: { args: { range: [1, 5], sort: "size" } } }));
// @ts-expect-error: not a number
void (() => api.POST("/__web/rpc/order", { body: { args: { no: "1" } } }));

const category = await api.POST("/__web/rpc/category", { body: { args: { name: "black" } } });
out.grandparent = typed<Schemas["Category"] | null | undefined>()(category.data?.result.parent?.parent);

const counts = await api.POST("/__web/rpc/counts", { body: { args: {} } });
out.black = typed<number | undefined>()(counts.data?.result.black);
const prices = await api.POST("/__web/rpc/prices", { body: { args: {} } });
out.price = prices.data?.result.Assam;
// openapi-fetch changes the type of tuples, so this is that of the document.
type Prices = operations["prices"]["responses"][200]["content"]["application/json"]["result"];
void ((result: Prices) => typed<[number, "eur" | "usd"] | undefined>()(result.Assam));
const none = await api.POST("/__web/rpc/last_order", { body: { args: {} } });
out.none = none.data!.result;
if (none.data?.result?.kind === "paid") typed<string>()(none.data.result.no);
const size = await api.POST("/__web/rpc/gr%C3%B6%C3%9Fe", { body: { args: { größe: "m" } } });
out.size = typed<string | number>()(size.data!.result);
const anything = await api.POST("/__web/rpc/anything", { body: { args: {} } });
out.anything = typed<unknown>()(anything.data!.result);
const image = await api.POST("/__web/rpc/image", { body: { args: {} } });
out.image = typed<string | null>()(image.data!.result);

const user = await api.POST("/__web/rpc/subscribe", { body: { args: { email: "ada@shop.example", size: "s" } } });
out.user = typed<Schemas["subscribe.result"]>()(user.data!.result);
typed<Schemas["subscribe.result"][] | undefined>()(user.data!.result.friends);

const refused = await api.POST("/__web/rpc/order", { body: { args: { no: 2 } } });
out.refused = [refused.response.status, typed<Schemas["Error"]["error"]["code"] | undefined>()(refused.error?.error.code)];
await api.POST("/__web/rpc/sign_in", { body: { args: { name: "ada" } } });
const paid = await api.POST("/__web/rpc/order", { body: { args: { no: 2 } } });
if (paid.data?.result.kind === "paid") out.paid = typed<string>()(paid.data.result.at);
const missing = await api.POST("/__web/rpc/order", { body: { args: { no: 0 } } });
out.missing = [missing.response.status, typed<string | undefined>()(missing.error?.error.message)];
const lines = await api.POST("/__web/rpc/lines", { body: { args: { no: 2 } } });
out.lines = typed<Schemas["Line"][]>()(lines.data!.result).length;

const watched = await api.POST("/__web/rpc/watch", { body: { args: { id: 7, times: 2 } }, parseAs: "text" });
const text = typed<string | undefined>()(watched.data)!;
out.watched = text.trim().split("\\n").map((line) => {
  const parsed: Schemas["watch.Line"] = JSON.parse(line);
  return "chunk" in parsed ? [typed<number>()(parsed.chunk.left), parsed.chunk.item.id] : parsed;
});
const numbers = await api.POST("/__web/rpc/numbers", { body: { args: { to: 2 } }, parseAs: "text" });
out.numbers = numbers.data!.trim().split("\\n").map((line) => JSON.parse(line) as Schemas["numbers.Line"]);

console.log(JSON.stringify(out));
`;
