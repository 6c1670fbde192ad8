import { sign } from "../acts.ts";
import type { Mistake } from "../mistake.ts";

export const mistakes: readonly Mistake[] = [
  {
    mistake: "reads a property of null in a page",
    edits: [
      {
        file: "src/pages.server.tsx",
        from: "async () => (\n  <main>",
        to: "async () => (\n  <main>{String((null as any).name)}",
      },
    ],
    places: ["page", "terminal"],
    at: "src/pages.server.tsx:6:31",
    says: "TypeError: Cannot read properties of null (reading 'name')",
    fix: /> +6 \| {3}<main>\{String\(\(null as any\)\.name\)\}/,
  },
  {
    mistake: "misspells a file in a view",
    edits: [{ file: "src/guest-book.tsx", from: "./guests.server.ts", to: "./guest.server.ts" }],
    places: ["page", "terminal"],
    at: "src/guest-book.tsx:2:22",
    says: "guest.server.ts",
    fix: /Does the file exist/,
  },
  {
    mistake: "throws in an event handler",
    edits: [
      {
        file: "src/guest-book.tsx",
        from: "event.preventDefault();",
        to: 'event.preventDefault();\n    if (book.name === "") throw new Error("No name. Pass one");',
      },
    ],
    places: ["overlay", "terminal"],
    act: (page) => sign(page, ""),
    at: "src/guest-book.tsx:9:33",
    says: "Error: No name",
    fix: "Pass one",
  },
];
