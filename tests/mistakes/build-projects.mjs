/**
 * Runs `tsweb build` in each of the given folders, one after the other in this process, which loads Vite once. Prints the exit
 * code and the output of each as one line of JSON.
 */
// dist/cli/index.js only imports this module.
const program = new URL("../../dist/cli/bundles/cli-index.js", import.meta.url);
const { exit } = process;
const print = process.stdout.write.bind(process.stdout);

for (const [index, folder] of process.argv.slice(2).entries()) {
  const result = await build(folder, `${program}?${index}`); // each URL runs the command
  print(`${JSON.stringify(result)}\n`);
}
print("", () => exit(0));

/** Resolves when the command exits. */
function build(folder, command) {
  let output = "";
  const write = (chunk, ...rest) => {
    output += chunk;
    rest.findLast((argument) => typeof argument === "function")?.();
    return true;
  };
  process.stdout.write = write;
  process.stderr.write = write;
  process.argv = [process.argv[0], "tsweb", "build"];
  process.chdir(folder);
  return new Promise((resolve, reject) => {
    // A command that fails leaves its exit code, and exits when nothing is left to do.
    const finish = (code = process.exitCode) => {
      process.off("beforeExit", finish);
      process.exitCode = undefined;
      resolve({ code, output });
    };
    process.exitCode = undefined;
    process.once("beforeExit", finish);
    process.exit = finish;
    import(command).catch(reject);
  });
}
