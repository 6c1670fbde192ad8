import { fileURLToPath } from "node:url";

const bench = fileURLToPath(new URL("../..", import.meta.url));

// The rows are those of bench/app, outside of this folder.
export default { turbopack: { root: bench }, outputFileTracingRoot: bench, poweredByHeader: false };
