import type { Mistake } from "../mistake.ts";
import {
  fromBrowser,
  GUESTS,
  inMarkup,
  inView,
  PAGE_IMPORT,
  PAGES,
  row,
  VIEW,
  VIEW_IMPORT,
} from "./guest-book-edits.ts";

const PASS_A_PROP = "Read it in the page";

const environment: readonly Mistake[] = [
  {
    ...row(
      "reads an environment variable in a view",
      [inMarkup("<p>{process.env.HOME}</p>")],
      `${VIEW}:22:11`,
      "process.env.HOME cannot be used in a module that browsers load",
      "Read it in the page and pass it as a prop",
    ),
    places: ["page", "build"],
  },
  row(
    "uses a Buffer in a view",
    [inMarkup('<p>{Buffer.from("a").toString("hex")}</p>')],
    `${VIEW}:22:11`,
    "`Buffer` exists in Node only",
    "Use it in the page or in a server function",
  ),
  row(
    "uses require in a view",
    [inView('const fs = require("fs");')],
    `${VIEW}:1:12`,
    '"fs" is a Node module',
    "Use it in a server function",
  ),
  row(
    "uses global in a view",
    [inMarkup("<p>{global.name}</p>")],
    `${VIEW}:22:11`,
    "`global` exists in Node only",
    "Write `globalThis`",
  ),
  row(
    "reads an environment variable at the top of a view's module",
    [inView("const api = process.env.API_URL;")],
    `${VIEW}:1:13`,
    "process.env.API_URL cannot be used",
    PASS_A_PROP,
  ),
];

const entryPoints: readonly Mistake[] = [
  row(
    "reads the session in a view",
    [inView('import { session } from "tsweb";')],
    `${VIEW}:1:10`,
    "session exists on the server only",
    PASS_A_PROP,
  ),
  row(
    "imports session from tsweb/browser",
    [fromBrowser("session")],
    `${VIEW}:1:10`,
    '"tsweb/browser" does not export session',
    PASS_A_PROP,
  ),
  row(
    "publishes in a view",
    [inView('import { publish } from "tsweb";')],
    `${VIEW}:1:10`,
    "publish exists on the server only",
    "Use it in a server function",
  ),
  row(
    "creates a channel in a view",
    [inView('import { channel } from "tsweb";')],
    `${VIEW}:1:10`,
    "channel exists on the server only",
    "Create the feed in the page",
  ),
  row(
    "redirects in a view",
    [inView('import { redirect } from "tsweb";')],
    `${VIEW}:1:10`,
    "redirect exists on the server only",
    "location.assign(path)",
  ),
  row(
    "declares a server function in a view's module",
    [
      {
        file: VIEW,
        from: VIEW_IMPORT,
        to: `${VIEW_IMPORT}\nimport { server } from "tsweb";\nexport const hello = server(() => "Hello");`,
      },
    ],
    `${VIEW}:3:22`,
    "server() must be in a server module",
    "Move this declaration to a file such as",
  ),
  row(
    "imports server from tsweb/browser",
    [fromBrowser("server")],
    `${VIEW}:1:10`,
    '"tsweb/browser" does not export server',
    "Declare the function in a server module",
  ),
  row(
    "imports state from tsweb",
    [
      {
        file: VIEW,
        from: VIEW_IMPORT,
        to: 'import { RPCError, view } from "tsweb/browser";\nimport { state } from "tsweb";',
      },
    ],
    `${VIEW}:2:10`,
    '"tsweb" does not export state',
    'Import it from "tsweb/browser"',
  ),
  row(
    "imports RPCError from tsweb in a view",
    [
      {
        file: VIEW,
        from: VIEW_IMPORT,
        to: 'import { state, view } from "tsweb/browser";\nimport { RPCError } from "tsweb";',
      },
    ],
    `${VIEW}:2:10`,
    "Browser code cannot import RPCError",
    'Import it from "tsweb/browser"',
  ),
  row(
    "imports useState from tsweb/browser",
    [fromBrowser("useState")],
    `${VIEW}:1:10`,
    "does not export useState",
    "Import state from",
  ),
  row(
    "imports revalidatePath from tsweb",
    [{ file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nimport { revalidatePath } from "tsweb";` }],
    `${PAGES}:2:10`,
    "does not export revalidatePath",
    "Import revalidate from",
  ),
  row(
    "writes onMount for on_mount",
    [fromBrowser("onMount")],
    `${VIEW}:1:10`,
    "does not export onMount",
    "Import on_mount from",
  ),
  row(
    "uses state in a page",
    [{ file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nimport { state } from "tsweb/browser";` }],
    `${PAGES}:2:10`,
    "state works in views only",
    "Declare a view in a file without",
  ),
  row(
    "forgets server() around all functions of a module",
    [{ file: GUESTS, from: "server(async (name: string)", to: "(async (name: string)" }],
    `${GUESTS}:9:14`,
    "serves nothing: it exports everyone, sign",
    "src/guest-book.tsx imports sign: wrap it in server()",
  ),
];

const otherFrameworks: readonly Mistake[] = [
  row(
    "imports useState from react",
    [inView('import { useState } from "react";')],
    `${VIEW}:1:26`,
    '"react" is not installed',
    'Import useState from "preact/hooks", or use state of "tsweb/browser"',
  ),
  row(
    "imports React",
    [inView('import React from "react";')],
    `${VIEW}:1:19`,
    '"react" is not installed',
    "npm install react@npm:@preact/compat",
  ),
  row(
    "uses useActionState",
    [inView('import { useActionState } from "react";')],
    `${VIEW}:1:10`,
    "has no useActionState",
    "form(fn)",
  ),
  row(
    "uses useFormStatus",
    [inView('import { useFormStatus } from "react-dom";')],
    `${VIEW}:1:10`,
    "has no useFormStatus",
    "`pending`",
  ),
  row(
    "imports next/link",
    [inView('import Link from "next/link";')],
    `${VIEW}:1:18`,
    '"next/link" works in applications of Next.js only',
    "<a href=",
  ),
  row(
    "imports next/navigation in a page",
    [{ file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nimport { notFound } from "next/navigation";` }],
    `${PAGES}:2:26`,
    '"next/navigation" works in applications of Next.js only',
    "`NotFound`",
  ),
  row(
    'writes "use server" in a view',
    [inView('"use server";')],
    `${VIEW}:1:1`,
    '"use server" has no effect',
    "Declare the function with server()",
  ),
  row(
    "exports getServerSideProps",
    [{ file: PAGES, from: PAGE_IMPORT, to: `${PAGE_IMPORT}\nexport async function getServerSideProps() {}` }],
    `${PAGES}:2:23`,
    "Only Next.js calls getServerSideProps",
    "Load the data in the function of the page",
  ),
  row(
    "takes searchParams in a page",
    [{ file: PAGES, from: "async () => (", to: "async ({ searchParams }: { searchParams: string }) => (" }],
    `${PAGES}:5:40`,
    "has no parameter searchParams",
    "request.query",
  ),
  row(
    "takes params in a page",
    [{ file: PAGES, from: "async () => (", to: "async ({ params }: { params: string }) => (" }],
    `${PAGES}:5:40`,
    "has no parameter params",
    "({ id }) =>",
  ),
];

export const mistakes: readonly Mistake[] = [...environment, ...entryPoints, ...otherFrameworks];
