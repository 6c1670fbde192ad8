import { isCallPath } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import type { Router } from "./router.ts";

/** The parts of a site that {@link createRemovedBaseWarning} uses. */
interface BaseSite {
  readonly base: string;
  readonly router: Router;
  readonly log: Logger;
}

/**
 * Returns a function that logs a warning if a host has removed the base from a path, as `mount()` of Hono, Elysia and H3
 * does. Such a request gets 404: if it were served, every page would have a second path, which a rule of a proxy or a
 * guard in front does not cover.
 *
 * The application cannot know what the host removed. It warns if the path exists below the base, and only once.
 *
 * @see docs/hosts.md
 */
export function createRemovedBaseWarning({ base, router, log }: BaseSite): (method: string, pathname: string) => void {
  let isLogged = false;
  return (method, pathname) => {
    if (isLogged || !(isCallPath(pathname, "") || router(method, pathname))) return;
    isLogged = true;
    log.warn(
      { base },
      `${method} ${pathname} got 404: the application is served below ${base}, where this path exists. If the host removes ` +
        `${base} from paths (mount() of Hono, Elysia and H3, koa-mount), pass on requests with their complete path. See docs/hosts.md`,
    );
  };
}
