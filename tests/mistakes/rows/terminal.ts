import type { Mistake } from "../mistake.ts";

export const mistakes: readonly Mistake[] = [
  {
    mistake: "throws an error in a timer on the server",
    edits: [
      {
        file: "src/guests.server.ts",
        from: "export async function everyone() {\n",
        to: 'export async function everyone() {\n  setTimeout(() => {\n    throw new Error("the mail was not sent");\n  }, 1);\n',
      },
    ],
    places: ["terminal"],
    at: "src/guests.server.ts:6:11",
    says: "the mail was not sent",
    fix: "Catch it where it is thrown",
  },
];
