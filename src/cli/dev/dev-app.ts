import type { ViteDevServer } from "vite";
import type { BuildRegistry } from "../../compile/index.ts";
import type { Config } from "../../config/index.ts";
import type { BuildToolAccess } from "../../http/index.ts";
import type { DevelopmentPanel } from "../../panel/index.ts";
import type { ErrorLog } from "../errors/index.ts";
import type { DevAppLoader } from "./app-loader.ts";
import type { EditVersions } from "./edit-versions.ts";
import type { PageChecks } from "./page-checks.ts";
import type { Restarts } from "./restarts.ts";
import type { ServedSourceMaps } from "./source-maps.ts";
import type { UnservedRequests } from "./unserved-requests.ts";

/** The parts of a development server that its handlers of requests share. */
export interface DevApp {
  readonly vite: ViteDevServer;
  readonly entry: string;
  readonly registry: BuildRegistry;
  readonly config: Config;
  readonly buildTool: BuildToolAccess;
  readonly loader: DevAppLoader;
  readonly errors: ErrorLog;
  readonly maps: ServedSourceMaps;
  readonly restarts: Restarts;
  readonly panel: DevelopmentPanel;
  readonly versions: EditVersions;
  readonly pageChecks: PageChecks;
  readonly unserved: UnservedRequests;
}
