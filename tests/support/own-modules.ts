/**
 * Gives each test file modules of its own, and Preact's options without the hooks that those of other files have added: the files share
 * a process, in which Preact itself is loaded once.
 */
import { options } from "preact";
import { vi } from "vitest";
import "preact/hooks"; // adds its hooks when it is loaded, once in the process

const KEY = Symbol.for("tsweb.test.preactOptions");
const shared = globalThis as { [KEY]?: typeof options };

// Node loads fetch at its first use, and keeps the `performance` of that moment, which tests replace.
if (!shared[KEY]) await fetch("data:,");
// The checks of development report some mistakes half a second later, when the page of their test, with its events, is gone.
if (!("dispatchEvent" in globalThis)) Object.assign(globalThis, { dispatchEvent: () => false });
vi.resetModules();
shared[KEY] ??= { ...options };
const original = shared[KEY];
for (const name of Object.keys(options)) if (!(name in original)) Reflect.deleteProperty(options, name);
Object.assign(options, original);
