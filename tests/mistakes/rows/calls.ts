import { sign } from "../acts.ts";
import type { Mistake } from "../mistake.ts";

/** A row that shares its edits with others: the code is what it adds to theirs. */
interface SharedRow {
  readonly mistake: string;
  readonly code: string;
  readonly says: string;
  readonly fix: string;
}

/** Calls in the event handler of the view, whose errors nothing catches. The name that the user types chooses one. */
function calls(rows: readonly SharedRow[]): Mistake[] {
  const code = rows.map((row, index) => `if (book.name === "${index}") { ${row.code} }`).join(" ");
  const edits = [
    { file: "src/guest-book.tsx", from: "event.preventDefault();", to: `event.preventDefault();\n    ${code}` },
  ];
  return rows.map(({ mistake, says, fix }, index) => ({
    mistake,
    edits,
    act: (page) => sign(page, String(index)),
    places: ["overlay", "terminal"],
    at: "src/guest-book.tsx:9",
    says,
    fix,
  }));
}

/** Results of the function, whose errors the view catches. The name that the user types chooses one. */
function results(rows: readonly SharedRow[]): Mistake[] {
  const code = rows.map((row, index) => `name === "${index}" ? (${row.code}) : `).join("");
  const edits = [{ file: "src/guests.server.ts", from: "return everyone();", to: `return ${code}everyone();` }];
  return rows.map(({ mistake, says, fix }, index) => ({
    mistake,
    edits,
    act: (page) => sign(page, String(index)),
    places: ["terminal"],
    at: "src/guests.server.ts:9",
    says: `sign (src/guests.server.ts:9): ${says}`,
    fix,
  }));
}

/** A further function that `tsc` rejects. */
function type(mistake: string, fn: string, says: string, fix: string): Mistake {
  return {
    mistake,
    edits: [
      {
        file: "src/guests.server.ts",
        from: "export const sign = server(",
        to: `export const save = server(${fn});\n\nexport const sign = server(`,
      },
    ],
    places: ["types"],
    at: "src/guests.server.ts:9",
    says,
    fix,
  };
}

export const mistakes: readonly Mistake[] = [
  ...calls([
    {
      mistake: "passes a Set to a server function",
      code: "await sign(new Set([book.name]) as any);",
      says: "sign: name: a Set cannot be sent",
      fix: "Use an array: [...name]",
    },
    {
      mistake: "passes an object with a Map to a server function",
      code: "await sign({ tags: new Map() } as any);",
      says: "sign: name.tags: a Map cannot be sent",
      fix: "Use an object: Object.fromEntries(tags)",
    },
    {
      mistake: "passes a FormData to a server function",
      code: "await sign(new FormData(event.currentTarget as HTMLFormElement) as any);",
      says: "sign: name: a FormData cannot be sent",
      fix: "<form action={sign}>",
    },
    {
      mistake: "passes a function to a server function",
      code: "await sign((() => 1) as any);",
      says: "sign: name: a function cannot be sent",
      fix: "Call it first",
    },
    {
      mistake: "passes a promise to a server function",
      code: "await sign(Promise.resolve(book.name) as any);",
      says: "sign: name: a promise cannot be sent",
      fix: "await name",
    },
    {
      mistake: "passes NaN to a server function",
      code: 'await sign(Number("x") as any);',
      says: "sign: name: NaN cannot be sent",
      fix: "Check the number first",
    },
    {
      mistake: "passes a bigint to a server function",
      code: "await sign(1n as any);",
      says: "sign: name: a bigint cannot be sent",
      fix: "String(name)",
    },
    {
      mistake: "passes a file to a parameter of another type",
      code: 'await sign(new File(["a"], "a.txt") as any);',
      says: "sign: name: a File cannot be sent",
      fix: "a parameter that is declared as File",
    },
    {
      mistake: "passes the event to a server function",
      code: "await sign(event as any);",
      says: "sign: name: an event cannot be sent",
      fix: "() => sign(…)",
    },
    {
      mistake: "passes an instance with private fields to a server function",
      code: "await sign(new (class Cart { #a = 1; get a() { return this.#a; } })() as any);",
      says: "sign: name: an instance of Cart cannot be sent",
      fix: "Pass a plain object",
    },
    {
      mistake: "passes an object that contains itself to a server function",
      code: "const me: any = {}; me.self = me; await sign(me);",
      says: "sign: name.self: an object that contains itself cannot be sent",
      fix: "Pass only the fields",
    },
    {
      mistake: "passes a server function to map, which calls it with three arguments",
      code: 'await Promise.all(["Ada"].map(sign as any));',
      says: "sign received 3 arguments, but takes at most 1: sign(name)",
      fix: "Write (name) => sign(name)",
    },
    {
      mistake: "leaves out an argument",
      code: "await (sign as any)();",
      says: "name is missing",
      fix: "sign(name)",
    },
  ]),
  ...results([
    {
      mistake: "returns a Response from a server function",
      code: 'new Response("a") as never',
      says: "the value cannot be sent: it is a Response",
      fix: "return the Response from a route()",
    },
    {
      mistake: "returns a file in an object",
      code: '{ photo: new File(["a"], "a.txt") } as never',
      says: "photo cannot be sent: it is a File",
      fix: "send_file()",
    },
    {
      mistake: "returns an instance with private fields",
      code: "new (class Cart { #a = 1; get a() { return this.#a; } })() as never",
      says: "the value cannot be sent: it is an instance of Cart that has no fields",
      fix: "Return a plain object",
    },
    {
      mistake: "returns a promise inside an object",
      code: "{ guests: everyone() } as never",
      says: "guests cannot be sent: it is a promise",
      fix: "await it first",
    },
  ]),
  type(
    "declares a parameter as Date",
    "(at: Date) => at.getTime()",
    "A Date arrives as a string",
    "Declare a string, and pass date.toISOString()",
  ),
  type(
    "declares a parameter as FormData",
    '(form: FormData) => String(form.get("name"))',
    "A FormData cannot be sent",
    "Declare its fields as parameters",
  ),
  type(
    "declares a file inside an object parameter",
    "(guest: { photo: File }) => guest.photo.name",
    "A File or Blob cannot be inside another value",
    "Declare it as a parameter of its own",
  ),
  type(
    "returns a Response by its type",
    'async () => new Response("a")',
    "A Response cannot be a result",
    "Use route(), or return the data",
  ),
];
