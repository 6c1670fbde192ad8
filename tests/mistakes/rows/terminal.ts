import type { Mistake } from "../mistake.ts";

export const mistakes: readonly Mistake[] = [
  {
    mistake: "throws an error in a timer on the server",
    edits: [
      {
        file: "src/guests.server.ts",
        from: "  await appendFile(",
        to: '  setTimeout(() => {\n    throw new Error("the mail was not sent");\n  }, 1);\n  await appendFile(',
      },
    ],
    act: async (page) => {
      await page.getByLabel("Your name").fill("Ada");
      await page.getByRole("button", { name: "Sign" }).click();
    },
    places: ["terminal"],
    at: "src/guests.server.ts:13:11",
    says: "the mail was not sent",
    fix: "Catch it where it is thrown",
  },
];
