// Checks which folder of src/ imports which: `npm run imports`. The options are those of scripts/imports/check.mjs.
import { join } from "node:path";
import { installPackages, requireNode, root, run } from "./setup.mjs";

requireNode();
const folder = join(root, "scripts", "imports");
installPackages(folder);
run(process.execPath, [join(folder, "check.mjs"), ...process.argv.slice(2)]);
