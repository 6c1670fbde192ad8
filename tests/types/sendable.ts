/**
 * The parameters of server functions and the props of views: types that arrive as they are declared. This file is
 * compiled with the tests and never run.
 *
 * @see docs/protocol.md 5.1
 */
import { z } from "zod";
import { view } from "../../src/browser/index.ts";
import { type int, server } from "../../src/index.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

interface Tree {
  readonly children: readonly Tree[];
  readonly parent?: Tree | null;
  readonly pair: readonly [Tree, string?];
}

declare class User {
  name: string;
  private secret: string;
}

export function accepted(): void {
  server((data: Json, tree: Tree, user: User, ids: readonly int[], any: unknown, object: object) => [
    data,
    tree,
    user,
    ids,
    any,
    object,
  ]);
  server(<T extends string>(text: T, brand: string & { readonly brand: 1 }) => [text, brand]);
  server((photo: File, more: Blob[] = [], last?: File) => [photo, more, last]);
  server(({ item, tags }: { item: string; tags?: string[] | undefined }) => [item, tags]);
  view(({ data, tree, names }: { data: Json; tree: Tree; names: string[] }) => [String(data), tree.pair[1], names]);
  server(() => JSON.parse("1"));
  server(async () => JSON.parse("1"));
  server(async () => await (await fetch("http://example.com/")).json());
  // biome-ignore lint/suspicious/noExplicitAny: the type any is tested
  server(async (x: any): Promise<any> => x);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  server(async ({ x, y }: { x: any; y: { z: any }[] }) => [x, y]);
  server({ auth_required: true }, async () => {
    try {
      return JSON.parse("1");
    } catch {
      return null;
    }
  });
  server(async function* () {
    yield JSON.parse("1");
  });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  view(({ data, more }: { data: any; more: { x: any } }) => [data, more.x]);
  server((): unknown => 1);
  server((): never => {
    throw new Error();
  });
  server(async () => ({ status: 200, ok: true, headers: { a: "b" } }));
  server({ returns: z.string() }, () => new Response("a"));
  server(<T extends string>(text: T) => ({ text, size: 1, type: "text" }));
  // A schema converts the value, so that the parameter is its output.
  server({ validate: { at: z.coerce.date() } }, (at: Date) => at);
  server({ validate: { at: z.coerce.date() }, returns: z.date() }, ({ at }: { at: Date }) => at);
}

export function rejected(): void {
  // @ts-expect-error: a Date arrives as a string
  server((at: Date) => at);
  // @ts-expect-error: also with other options
  server({ auth_required: true }, (at: Date) => at);
  // @ts-expect-error: also with a schema of the result
  server({ returns: z.date() }, (at: Date) => at);
  // @ts-expect-error: also as a named parameter
  server(({ at }: { at?: Date }) => at);
  // @ts-expect-error: also inside
  server((a: int, dates: readonly { at: Date | null }[]) => [a, dates]);
  // @ts-expect-error: a Map arrives as an object
  server((map: Map<string, number>) => map.size);
  // @ts-expect-error: a Set arrives as an array
  server((set: ReadonlySet<string>) => set.size);
  // @ts-expect-error: a bigint cannot be sent
  server((big: bigint) => big);
  // @ts-expect-error: bytes arrive as a string
  server((bytes: Uint8Array) => bytes);
  // @ts-expect-error: a URL arrives as a string
  server((url: URL) => url.href);
  // @ts-expect-error: a function cannot be sent
  server((callback: () => void) => callback());
  // @ts-expect-error: a file inside an object
  server((guest: { photo: File }) => guest.photo.name);
  // @ts-expect-error: a file among named parameters
  server(({ photo }: { photo?: Blob }) => photo?.size);
  // @ts-expect-error: a FormData
  server((form: FormData) => String(form.get("a")));
  // @ts-expect-error: a promise
  server((name: Promise<string>) => name);
  // @ts-expect-error: a Response as a result
  server(() => new Response("a"));
  // @ts-expect-error: also from an async function, in a union, with options
  server({ auth_required: true }, async (a: int) => (a > 0 ? new Response("a") : null));
  // @ts-expect-error: a file as a result
  server(async () => new File([], "a"));
  // @ts-expect-error: a FormData as a result
  server(() => new FormData());
  // @ts-expect-error: a URL arrives as a string
  view(({ url }: { url: URL }) => url.href);
  // @ts-expect-error: a Date in a tuple
  view(({ range }: { range: [Date, Date] }) => range.length);
}
