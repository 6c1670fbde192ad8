import { beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute } from "#test/compiled-app";
import { pageOf, routeOf } from "../pages/index.ts";
import { createRemovedBaseWarning } from "./host-info.ts";
import { createAppRouter } from "./router.ts";

const page = pageOf(compiledPage("/account", () => null));
const hook = routeOf(compiledRoute("POST /hook", () => new Response()));
if (!page || !hook) throw new Error("The declarations have no definition.");
const router = createAppRouter([page], [hook]);

const warn = vi.fn();
const log = { warn, error: vi.fn(), info: vi.fn() };
beforeEach(() => warn.mockReset());

describe("the warning of a removed base", () => {
  it.each([
    ["GET", "/account"],
    ["POST", "/hook"],
    ["DELETE", "/hook"],
    ["POST", "/__web/rpc/add"],
  ])("is logged once for %s %s, which exists below the base", (method, path) => {
    const warnOfRemovedBase = createRemovedBaseWarning({ base: "/shop", router, log });
    warnOfRemovedBase(method, path);
    warnOfRemovedBase(method, path);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.lastCall?.[1]).toContain(`${method} ${path} got 404: the application is served below /shop`);
    expect(warn.mock.lastCall?.[1]).toContain("docs/hosts.md");
  });

  it.each(["/", "/favicon.ico", "/shopper", "/account/x"])("is not logged for %s, which does not exist", (path) => {
    createRemovedBaseWarning({ base: "/shop", router, log })("GET", path);
    expect(warn).not.toHaveBeenCalled();
  });
});
