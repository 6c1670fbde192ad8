import type { Mistake } from "../mistake.ts";
import { APP, GUESTS, inMarkup, row, VIEW } from "./guest-book-edits.ts";

/** A mistake that the development server and the build reject with the same words. */
const compiled = (...parts: Parameters<typeof row>): Mistake => ({ ...row(...parts), places: ["page", "build"] });

const environment: readonly Mistake[] = [
  compiled(
    "reads a variable of the environment as import.meta.env in a view",
    [inMarkup("<p>{import.meta.env.API_URL}</p>")],
    `${VIEW}:22:11`,
    "import.meta.env.API_URL is undefined: browsers receive no variables of the environment",
    "Read process.env.API_URL in the page, and pass it as a prop",
  ),
  compiled(
    "reads a variable of the environment as import.meta.env on the server",
    [{ file: GUESTS, from: 'appendFile("guests.txt"', to: "appendFile(import.meta.env.GUESTS_FILE" }],
    `${GUESTS}:12:20`,
    "import.meta.env.GUESTS_FILE is undefined: Vite sets only the variables that it sends to browsers",
    "Write `process.env.GUESTS_FILE`",
  ),
  {
    ...row(
      "sets no variable for the prefix of the Vite config",
      [
        { file: "vite.config.ts", to: 'export default { envPrefix: "PUBLIC_" };\n' },
        inMarkup("<p>{import.meta.env.PUBLIC_MISSING}</p>"),
      ],
      `${VIEW}:22`,
      "`import.meta.env.PUBLIC_MISSING` at src/guest-book.tsx:22 is undefined, because the variable is not set",
      "Set it in the environment of tsweb dev and tsweb build",
    ),
    places: ["terminal"],
  },
];

const files: readonly Mistake[] = [
  {
    ...row(
      "refers to a missing public file in a style sheet",
      [
        { file: APP, from: "import { App }", to: 'import "./style.css";\nimport { App }' },
        { file: "src/style.css", to: "p { color: red }\nbody { background: url(/missing.png) }\n" },
      ],
      "src/style.css:2",
      "requests /missing.png, where nothing is served",
      'put the file at public/missing.png, or write the path of a file beside the style sheet with a dot: url("./missing.png")',
    ),
    places: ["terminal"],
  },
];

export const mistakes: readonly Mistake[] = [...environment, ...files];
