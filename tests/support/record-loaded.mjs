// Preloaded with `node --import`: writes what the process has loaded into the file LOADED_FILE, as JSON, when it exits.
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";

const scripts = [];
const session = new Session();
session.connect();
session.on("Debugger.scriptParsed", ({ params }) => {
  if (params.url.startsWith("file:")) scripts.push({ url: params.url, bytes: params.length });
});
session.post("Debugger.enable");
process.on("exit", () => {
  const builtins = process.moduleLoadList.flatMap((name) => /^NativeModule (.*)/.exec(name)?.[1] ?? []);
  writeFileSync(process.env.LOADED_FILE, JSON.stringify({ scripts, builtins }));
});
