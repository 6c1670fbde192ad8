import { App } from "tsweb";
import * as echo from "./echo.server.ts";
import * as live from "./live.server.ts";
import * as table from "./table.server.tsx";

// All load comes from one address: calls are counted as usual, with a limit that the load never reaches. A lower one is
// set to check that calls are counted.
const calls = Number(process.env.BENCH_CALL_LIMIT ?? 1_000_000_000);

export default new App({ title: "Bench", modules: [echo, live, table], rate: { calls, seconds: 60 } });
