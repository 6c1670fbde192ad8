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
    says: '"./guest.server.ts" does not exist',
    fix: 'Did you mean "./guests.server.ts"?',
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
  {
    mistake: "does not await a call that is refused",
    edits: [
      {
        file: "src/guest-book.tsx",
        from: "event.preventDefault();",
        to: 'event.preventDefault();\n    sign("");\n    if (book.name === "") return;',
      },
    ],
    places: ["overlay"], // the terminal shows where the function has refused it, too
    act: (page) => sign(page, ""),
    at: "src/guest-book.tsx:9:5",
    says: "RPCError: Please write your name",
    fix: /> +9 \| {5}sign\(""\);/,
  },
  {
    mistake: "reads a property of null in a view after its state has changed",
    edits: [{ file: "src/guest-book.tsx", from: "<ul>", to: "<ul>{book.error && String((null as any).size)}" }],
    places: ["overlay", "terminal"],
    act: (page) => sign(page, ""),
    at: "src/guest-book.tsx:22:47",
    says: "TypeError: Cannot read properties of null (reading 'size')",
    fix: /> +22 \|/,
  },
  {
    mistake: "throws in on_mount",
    edits: [
      { file: "src/guest-book.tsx", from: "import { RPCError,", to: "import { on_mount, RPCError," },
      {
        file: "src/guest-book.tsx",
        from: "  const submit =",
        to: '  on_mount(() => {\n    throw new Error("No element. Render it first");\n  });\n\n  const submit =',
      },
    ],
    places: ["overlay", "terminal"],
    at: "src/guest-book.tsx:8:11",
    says: "Error: No element",
    fix: "Render it first",
  },
  {
    mistake: "throws in a timer of a view",
    edits: [
      {
        file: "src/guest-book.tsx",
        from: "event.preventDefault();",
        to: 'event.preventDefault();\n    setInterval(() => {\n      throw new Error("No clock. Start it");\n    }, 5);',
      },
    ],
    places: ["overlay", "terminal"],
    act: (page) => sign(page),
    at: "src/guest-book.tsx:10:13",
    says: "Error: No clock",
    fix: "Start it",
  },
  {
    mistake: "passes an error of a view to reportError",
    edits: [
      {
        file: "src/guest-book.tsx",
        from: "event.preventDefault();",
        to: 'event.preventDefault();\n    reportError(new Error("No paper. Buy some", { cause: new TypeError("Sold out") }));',
      },
    ],
    places: ["overlay", "terminal"],
    act: (page) => sign(page),
    at: "src/guest-book.tsx:9:17",
    says: "Error: No paper",
    fix: "Caused by TypeError: Sold out",
  },
  {
    mistake: "throws in a server function",
    edits: [{ file: "src/guests.server.ts", from: "return everyone();", to: 'throw new Error("No ink. Buy some");' }],
    places: ["terminal"],
    act: (page) => sign(page),
    at: "src/guests.server.ts:13:9",
    says: "Error: No ink",
    fix: "Buy some",
  },
  {
    mistake: "reads a page of HTML as JSON, in a request that nothing awaits",
    edits: [
      { file: "src/guest-book.tsx", from: "{ RPCError, state, view }", to: "{ on_mount, RPCError, state, view }" },
      {
        file: "src/guest-book.tsx",
        from: "  const submit",
        to: '  on_mount(() => {\n    fetch("/api/guests").then((r) => r.json()).then((g) => (book.guests = g));\n  });\n  const submit',
      },
    ],
    places: ["overlay", "terminal"],
    at: "src/guest-book.tsx:8:40",
    says: `SyntaxError: Unexpected token '<', "<!doctype "... is not valid JSON`,
    fix: "The response is HTML, not JSON: does the address exist?",
  },
];
