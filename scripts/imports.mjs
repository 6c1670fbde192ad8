// Checks which folder of src/ imports which.
//
//   npm run imports                       checks
//   npm run imports -- --write            writes the graph into CONTRIBUTING.md
//   npm run imports -- --root <folder>    checks another copy of the repository
import { installPackages, requireNode } from "./setup.mjs";

requireNode();
installPackages();
await import("./imports/check.mjs");
