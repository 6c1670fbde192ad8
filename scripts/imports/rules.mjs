// The rules for the imports of src/, which follow from the table. The `fix` of a rule explains how to fix a violation.
import {
  BROWSER_PACKAGES,
  DEVELOPMENT_IMPORT,
  isAbove,
  isTypesOnly,
  MAY_IMPORT,
  nameOf,
  partOf,
  SHARED,
  TABLE,
} from "./table.mjs";

const REWRITE = "npm run imports -- --write";

/** Returns whether a module is a unit test. Those may import every entry point: nothing imports them, and they are not published. */
export const isTest = (file) => /\.test(-d)?\.tsx?$/.test(file);
const isFile = (part) => part.endsWith(".ts");
const isInSrc = (file) => file.startsWith("src/");
const isOutside = (file) => /^(tests|bench|scripts|examples)\//.test(file);

/**
 * Returns the rules that an import violates.
 *
 * @param {import("./modules.mjs").Import} entry
 * @returns {{ readonly rule: string, readonly fix: string }[]}
 */
export function violationsOf(entry) {
  const { from, to, specifier } = entry;
  const violations = [];
  const forbid = (isViolated, rule, fix) => isViolated && violations.push({ rule, fix });

  forbid(isTest(to) && isInSrc(to), "no import of a test", "Move the code that is needed to tests/support/.");
  if (!isInSrc(from)) return violations;
  forbid(
    isOutside(to) && !isTest(from),
    "only tests import tests/support",
    "Move this code into src/, or into a test.",
  );
  forbid(
    isOutside(to) && isTest(from) && !specifier.startsWith("#test/"),
    "tests import tests/support as #test/*",
    'Write "#test/<name>". Move the file to tests/support/ if it is elsewhere.',
  );
  forbid(
    /^dist(\/|$)/.test(to),
    "relative paths inside src",
    "Import the index.ts of the folder by its relative path, not this package by its name.",
  );
  const part = partOf(to);
  forbid(
    isInSrc(to) && part && !isFile(part) && !from.startsWith(`src/${part}/`) && to !== `src/${part}/index.ts`,
    `entry point of ${part}`,
    `Import src/${part}/index.ts, and export the name there if it is missing.`,
  );
  if (!isTest(from)) {
    checkArrow(entry, forbid);
    checkBrowser(entry, forbid);
  }
  return violations;
}

function checkArrow({ from, to, isType }, forbid) {
  const part = partOf(from);
  if (!part || !isInSrc(to)) return;
  const list = MAY_IMPORT[part];
  const shared = SHARED.filter((name) => isAbove(name, part));
  const target = partOf(to);
  forbid(
    ![part, ...shared, ...list.map(nameOf)].includes(target),
    `imports of ${part}`,
    `src/${part} may import ${[...shared, ...list].join(", ") || "nothing"}. Pass what it needs as a parameter, or change ${TABLE}, then run ${REWRITE}.`,
  );
  forbid(
    !isType && list.some((entry) => isTypesOnly(entry) && nameOf(entry) === target),
    `only types of ${target} in ${part}`,
    `Write \`import type\`, or remove "(types)" in ${TABLE}, then run ${REWRITE}.`,
  );
}

function checkBrowser({ from, to, isType }, forbid) {
  const part = partOf(from);
  const allowed = BROWSER_PACKAGES[part];
  if (!allowed) return;
  const fix = `src/${part} runs in browsers: no node: module, and of packages only ${allowed.join(", ") || "none"}. Use the web platform, or move this code to a folder of the server.`;
  forbid(to.startsWith("node:"), `node: modules in ${part}`, fix);
  if (!to.startsWith("node_modules/")) return;
  const name = to.slice("node_modules/".length);
  if (from === DEVELOPMENT_IMPORT.file) {
    forbid(
      name !== "preact" && name !== DEVELOPMENT_IMPORT.name,
      "packages in browser in development",
      `This file may import only preact and ${DEVELOPMENT_IMPORT.name}.`,
    );
    return;
  }
  const entry = allowed.find((each) => nameOf(each) === name);
  forbid(!entry, `packages in ${part}`, fix);
  forbid(entry && isTypesOnly(entry) && !isType, `only types of ${name} in ${part}`, "Write `import type`.");
}
