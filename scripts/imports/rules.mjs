// The rules of dependency-cruiser for src/, generated from the table. The comment of a rule explains how to fix a violation.
import {
  BROWSER_PACKAGES,
  DEVELOPMENT_IMPORT,
  innerFolders,
  isAbove,
  isTypesOnly,
  MAY_IMPORT,
  nameOf,
  parts,
  SHARED,
  TABLE,
} from "./table.mjs";

const TEST = "[.]test(-d)?[.]tsx?$";
const REWRITE = "npm run imports -- --write";
const escapeDots = (text) => text.replace(/[.]/g, "[.]");
const isFile = (part) => part.endsWith(".ts");

/** Returns the pattern of the files of a part. The folders inside it that have a row of their own do not belong to it. */
function filesOf(part) {
  if (isFile(part)) return `^src/${escapeDots(part)}$`;
  const inner = innerFolders(part).map((folder) => `${folder}/|`);
  return `^src/${part}/(${inner.join("")})[^/]+$`;
}

/** The names that dependency-cruiser has for imports of types. */
const TYPE_IMPORTS = ["type-only", "type-import", "pre-compilation-only"];

/** Returns the rules, in the format of dependency-cruiser. */
export function rules() {
  return [
    ...general(),
    ...parts.filter((part) => !isFile(part)).map(entryPoint),
    ...parts.flatMap(arrows),
    ...browserRules(),
  ];
}

function general() {
  return [
    {
      name: "no cycles",
      comment: "Move what these files share into a file that imports none of them, or pass it as a parameter.",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "no import of a test",
      comment: "Move the code that is needed to tests/support/.",
      from: {},
      to: { path: `^src/.*${TEST}` },
    },
    {
      name: "only tests import tests/support",
      comment: "Move this code into src/, or into a test.",
      from: { path: "^src/", pathNot: TEST },
      to: { path: "^(tests|bench|scripts|examples)/" },
    },
    {
      name: "tests import tests/support as #test/*",
      comment: 'Write "#test/<name>". Move the file to tests/support/ if it is elsewhere.',
      from: { path: `^src/.*${TEST}` },
      to: { path: "^(tests|bench|scripts|examples)/", dependencyTypesNot: ["aliased-subpath-import"] },
    },
    {
      name: "relative paths inside src",
      comment: "Import the index.ts of the folder by its relative path, not this package by its name.",
      from: { path: "^src/" },
      to: { path: "^dist/" },
    },
  ];
}

function entryPoint(part) {
  return {
    name: `entry point of ${part}`,
    comment: `Import src/${part}/index.ts, and export the name there if it is missing.`,
    from: { path: "^src/", pathNot: `^src/${part}/` },
    to: { path: filesOf(part), pathNot: `^src/${part}/index[.]ts$` },
  };
}

/** Unit tests may import every entry point: nothing imports them, and they are not published. */
function arrows(part) {
  const list = MAY_IMPORT[part];
  const shared = SHARED.filter((name) => isAbove(name, part));
  const allowed = [part, ...shared, ...list.map(nameOf)];
  const from = { path: filesOf(part), pathNot: TEST };
  const typesOnly = list.filter(isTypesOnly).map(nameOf);
  return [
    {
      name: `imports of ${part}`,
      comment: `src/${part} may import ${[...shared, ...list].join(", ") || "nothing"}. Pass what it needs as a parameter, or change ${TABLE}, then run ${REWRITE}.`,
      from,
      to: { path: "^src/", pathNot: allowed.map(filesOf) },
    },
    ...typesOnly.map((name) => ({
      name: `only types of ${name} in ${part}`,
      comment: `Write \`import type\`, or remove "(types)" in ${TABLE}, then run ${REWRITE}.`,
      from,
      to: { path: filesOf(name), dependencyTypesNot: TYPE_IMPORTS },
    })),
  ];
}

function browserRules() {
  const rules = Object.entries(BROWSER_PACKAGES).flatMap(([part, packages]) => {
    const from = { path: filesOf(part), pathNot: TEST };
    const comment = `src/${part} runs in browsers: no node: module, and of packages only ${packages.join(", ") || "none"}. Use the web platform, or move this code to a folder of the server.`;
    const folders = packages.map((entry) => `(^|/)node_modules/${nameOf(entry)}/`);
    return [
      { name: `node: modules in ${part}`, comment, from, to: { dependencyTypes: ["core"] } },
      {
        name: `packages in ${part}`,
        comment,
        from: { ...from, pathNot: [TEST, DEVELOPMENT_IMPORT.file] },
        to: { path: "(^|/)node_modules/", pathNot: folders },
      },
      ...packages.filter(isTypesOnly).map((entry) => ({
        name: `only types of ${nameOf(entry)} in ${part}`,
        comment: "Write `import type`.",
        from,
        to: { path: `(^|/)node_modules/${nameOf(entry)}/`, dependencyTypesNot: TYPE_IMPORTS },
      })),
    ];
  });
  const development = {
    name: "packages in browser in development",
    comment: `This file may import only preact and ${DEVELOPMENT_IMPORT.name}.`,
    from: { path: DEVELOPMENT_IMPORT.file },
    to: { path: "(^|/)node_modules/", pathNot: `(^|/)node_modules/(preact|${DEVELOPMENT_IMPORT.name})/` },
  };
  return [...rules, development];
}
