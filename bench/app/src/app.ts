import { App } from "tsweb";
import * as echo from "./echo.server.ts";
import * as live from "./live.server.ts";
import * as table from "./table.server.tsx";

// All load comes from one address: calls are counted as usual, with a limit that is never reached.
export default new App({ title: "Bench", modules: [echo, live, table], rate: { calls: 1_000_000_000, seconds: 60 } });
