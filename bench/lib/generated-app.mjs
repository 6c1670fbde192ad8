// An application of any size: units with a page, a view and two server functions each.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Writes an application with `units` pages, as many views, and twice as many server functions into a folder. */
export function writeGeneratedApp(dir, units) {
  for (const [file, text] of Object.entries(generatedApp(units))) {
    const path = join(dir, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Returns the files of the application, by their paths. */
export function generatedApp(units) {
  const numbers = Array.from({ length: units }, (_, index) => index);
  const files = {
    "package.json": JSON.stringify({ name: "generated", private: true, type: "module" }),
    "src/app.ts": application(numbers),
    "src/layout.server.tsx": LAYOUT,
    "src/style.css": "body { font-family: sans-serif; }\n",
  };
  for (const number of numbers) {
    files[`src/unit${number}/functions.server.ts`] = functions(number);
    files[`src/unit${number}/pages.server.tsx`] = page(number);
    files[viewFile(number)] = view(number);
  }
  return files;
}

/** Returns the path of the view of a unit. */
export const viewFile = (number) => `src/unit${number}/counter.tsx`;

const application = (numbers) => `import { App } from "tsweb";
import { layout } from "./layout.server.tsx";
import "./style.css";
${numbers.map((n) => `import * as functions${n} from "./unit${n}/functions.server.ts";\nimport * as pages${n} from "./unit${n}/pages.server.tsx";`).join("\n")}

export default new App({
  layout,
  modules: [
${numbers.map((n) => `    functions${n},\n    pages${n},`).join("\n")}
  ],
});
`;

const LAYOUT = `import type { ComponentChildren } from "preact";

export const layout = ({ children }: { children: ComponentChildren }) => (
  <>
    <header>Generated</header>
    <main>{children}</main>
  </>
);
`;

const functions = (n) => `import { RPCError, server } from "tsweb";

export interface Entry${n} {
  readonly name: string;
  readonly count: number;
}

const entries: Entry${n}[] = [{ name: "first", count: ${n} }];

export const list${n} = server(async (limit: number): Promise<readonly Entry${n}[]> => entries.slice(0, limit));

export const add${n} = server(async (entry: Entry${n}): Promise<number> => {
  if (entry.name === "") throw new RPCError("bad_request", "A name is required");
  return entries.push(entry);
});
`;

const page = (n) => `import { page } from "tsweb";
import { Counter${n} } from "./counter.tsx";
import { list${n} } from "./functions.server.ts";

const Heading = ({ text }: { text: string }) => <h1>{text}</h1>;

export const page${n} = page("/unit${n}", async () => {
  const entries = await list${n}(10);
  return (
    <section>
      <Heading text="Unit ${n}" />
      <ul>{entries.map(({ name, count }) => <li key={name}>{name}: {count}</li>)}</ul>
      <Counter${n} start={entries.length} />
    </section>
  );
});
`;

const view = (n) => `import { state, view } from "tsweb/browser";
import { add${n}, list${n} } from "./functions.server.ts";

export const Counter${n} = view(({ start }: { start: number }) => {
  const counter = state({ count: start });
  const add = async () => {
    await add${n}({ name: "next", count: counter.count });
    counter.count = (await list${n}(100)).length;
  };
  return <button type="button" onClick={add}>Entries: {counter.count}</button>;
});
`;
