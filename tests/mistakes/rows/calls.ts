import { sign } from "../acts.ts";
import type { Mistake } from "../mistake.ts";

/** A call in the event handler of the view, whose error nothing catches. */
function call(mistake: string, code: string, says: string, fix: string): Mistake {
  return {
    mistake,
    edits: [
      { file: "src/guest-book.tsx", from: "event.preventDefault();", to: `event.preventDefault();\n    ${code}` },
    ],
    act: (page) => sign(page),
    places: ["overlay", "terminal"],
    at: "src/guest-book.tsx:9",
    says,
    fix,
  };
}

/** A result of the function, whose error the view catches. */
function result(mistake: string, code: string, says: string, fix: string): Mistake {
  return {
    mistake,
    edits: [{ file: "src/guests.server.ts", from: "return everyone();", to: `return ${code};` }],
    act: (page) => sign(page),
    places: ["terminal"],
    at: "src/guests.server.ts:9",
    says: `sign (src/guests.server.ts:9): ${says}`,
    fix,
  };
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
  call(
    "passes a Set to a server function",
    "await sign(new Set([book.name]) as any);",
    "sign: name: a Set cannot be sent",
    "Use an array: [...name]",
  ),
  call(
    "passes an object with a Map to a server function",
    "await sign({ tags: new Map() } as any);",
    "sign: name.tags: a Map cannot be sent",
    "Use an object: Object.fromEntries(tags)",
  ),
  call(
    "passes a FormData to a server function",
    "await sign(new FormData(event.currentTarget as HTMLFormElement) as any);",
    "sign: name: a FormData cannot be sent",
    "<form action={sign}>",
  ),
  call(
    "passes a function to a server function",
    "await sign((() => 1) as any);",
    "sign: name: a function cannot be sent",
    "Call it first",
  ),
  call(
    "passes a promise to a server function",
    "await sign(Promise.resolve(book.name) as any);",
    "sign: name: a promise cannot be sent",
    "await name",
  ),
  call(
    "passes NaN to a server function",
    'await sign(Number("x") as any);',
    "sign: name: NaN cannot be sent",
    "Check the number first",
  ),
  call(
    "passes a bigint to a server function",
    "await sign(1n as any);",
    "sign: name: a bigint cannot be sent",
    "String(name)",
  ),
  call(
    "passes a file to a parameter of another type",
    'await sign(new File(["a"], "a.txt") as any);',
    "sign: name: a File cannot be sent",
    "a parameter that is declared as File",
  ),
  call(
    "passes the event to a server function",
    "await sign(event as any);",
    "sign: name: an event cannot be sent",
    "() => sign(…)",
  ),
  call(
    "passes an instance with private fields to a server function",
    "await sign(new (class Cart { #a = 1; get a() { return this.#a; } })() as any);",
    "sign: name: an instance of Cart cannot be sent",
    "Pass a plain object",
  ),
  call(
    "passes an object that contains itself to a server function",
    "const me: any = {}; me.self = me; await sign(me);",
    "sign: name.self: an object that contains itself cannot be sent",
    "Pass only the fields",
  ),
  call(
    "passes a server function to map, which calls it with three arguments",
    'await Promise.all(["Ada"].map(sign as any));',
    "sign received 3 arguments, but takes at most 1: sign(name)",
    "Write (name) => sign(name)",
  ),
  call("leaves out an argument", "await (sign as any)();", "name is missing", "sign(name)"),
  result(
    "returns a Response from a server function",
    'new Response("a") as never',
    "the value cannot be sent: it is a Response",
    "return the Response from a route()",
  ),
  result(
    "returns a file in an object",
    '{ photo: new File(["a"], "a.txt") } as never',
    "photo cannot be sent: it is a File",
    "send_file()",
  ),
  result(
    "returns an instance with private fields",
    "new (class Cart { #a = 1; get a() { return this.#a; } })() as never",
    "the value cannot be sent: it is an instance of Cart that has no fields",
    "Return a plain object",
  ),
  result(
    "returns a promise inside an object",
    "{ guests: everyone() } as never",
    "guests cannot be sent: it is a promise",
    "await it first",
  ),
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
