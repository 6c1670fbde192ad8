/**
 * The public surface, name by name. A name that comes or goes is a decision, and is written here
 * and in CHANGELOG.md.
 */
import { describe, expect, it } from "vitest";
import { doors, typesOf, valuesOf, writtenValuesOf } from "./doors.ts";

describe("the doors", () => {
  it("are these", () => {
    expect(doors).toEqual([
      "tsweb",
      "tsweb/browser",
      "tsweb/auth",
      "tsweb/node",
      "tsweb/redis",
      "tsweb/nats",
      "tsweb/client",
      "tsweb/testing",
      "tsweb/vite",
      "tsweb/register",
      "tsweb/jsx-runtime",
      "tsweb/jsx-dev-runtime",
      "tsweb/stub",
      "tsweb/islands",
      "tsweb/package.json",
    ]);
  });
});

describe("tsweb", () => {
  it("is what pages and server functions are made of", () => {
    expect(valuesOf("tsweb")).toEqual([
      "App",
      "ConfigError",
      "Head",
      "NotFound",
      "RPCError",
      "SerializeError",
      "ValueError",
      "channel",
      "page",
      "publish",
      "realtime",
      "redirect",
      "request",
      "route",
      "server",
      "session",
    ]);
    expect(typesOf("tsweb")).toEqual([
      "AppOptions",
      "Bus",
      "Claims",
      "ErrorCode",
      "ErrorPageProps",
      "Feed",
      "Json",
      "Layout",
      "Markup",
      "Page",
      "PageFunction",
      "PageOptions",
      "PageResult",
      "Redirect",
      "RequestInfo",
      "Role",
      "Route",
      "RouteFunction",
      "RoutePattern",
      "Serialized",
      "ServerFunction",
      "ServerOptions",
      "Session",
      "StandardSchema",
      "Stream",
      "User",
      "float",
      "int",
    ]);
  });
});

describe("tsweb/browser", () => {
  // A name that one side lacks would be an error on that side only, at the first visit.
  it.each(["browser", "default"])("is what views are made with, under the condition %s", (condition) => {
    expect(valuesOf("tsweb/browser", condition)).toEqual([
      "RPCError",
      "on_mount",
      "on_unmount",
      "state",
      "subscribe",
      "view",
    ]);
  });

  it("has its types", () => {
    expect(typesOf("tsweb/browser")).toEqual([
      "ComponentChildren",
      "ErrorCode",
      "Feed",
      "FunctionComponent",
      "GapReason",
      "JSX",
      "Markup",
      "RefObject",
      "Stream",
      "SubscribeOptions",
      "TargetedEvent",
      "View",
      "ViewProps",
    ]);
  });
});

describe("tsweb/auth", () => {
  it("has passwords, one-time codes, magic links, passkeys and profiles", () => {
    expect(valuesOf("tsweb/auth")).toEqual([
      "cose_to_raw_point",
      "hash_password",
      "issue_magic_token",
      "oidc_userinfo",
      "totp",
      "verify_magic_token",
      "verify_password",
      "verify_totp",
      "verify_webauthn_assertion",
    ]);
    expect(typesOf("tsweb/auth")).toEqual(["Assertion", "AssertionOptions", "MagicOptions", "TotpOptions", "Userinfo"]);
  });
});

describe("tsweb/node", () => {
  it("serves an application with Node", () => {
    expect(valuesOf("tsweb/node")).toEqual(["listenOn", "node", "serve"]);
    expect(typesOf("tsweb/node")).toEqual(["Listening", "NodeHandler"]);
  });
});

describe("the buses", () => {
  it("are Redis and NATS, each behind a door of its own", () => {
    expect(valuesOf("tsweb/redis")).toEqual(["redis"]);
    expect(typesOf("tsweb/redis")).toEqual(["RedisOptions"]);
    expect(valuesOf("tsweb/nats")).toEqual(["nats"]);
    expect(typesOf("tsweb/nats")).toEqual(["NatsOptions"]);
  });
});

describe("tsweb/client", () => {
  it("calls an application from elsewhere", () => {
    expect(valuesOf("tsweb/client")).toEqual(["RPCError", "client"]);
    expect(typesOf("tsweb/client")).toEqual(["Client", "ClientOptions", "ErrorCode", "Fetch", "Stream"]);
  });
});

describe("tsweb/testing", () => {
  it("makes visitors", () => {
    expect(valuesOf("tsweb/testing")).toEqual(["RPCError", "visitor"]);
    expect(typesOf("tsweb/testing")).toEqual(["Client", "GetOptions", "Stream", "Visit", "Visitor", "VisitorOptions"]);
  });
});

describe("tsweb/vite", () => {
  it("is the compile step", () => {
    expect(valuesOf("tsweb/vite")).toEqual(["CompileError", "compileServerModule", "registryOf", "tsweb"]);
    expect(typesOf("tsweb/vite")).toEqual(["CompileOptions", "Compiled", "Place", "Registry", "StubUse"]);
  });
});

describe("what compiled code imports", () => {
  it("is JSX", () => {
    expect(valuesOf("tsweb/jsx-runtime")).toEqual(["Fragment", "jsx", "jsxs"]);
    expect(typesOf("tsweb/jsx-runtime")).toEqual(["JSX"]);
  });

  it("is JSX in development: Preact's own module, whole", () => {
    const names = ["Fragment", "jsx", "jsxAttr", "jsxDEV", "jsxEscape", "jsxTemplate", "jsxs"];
    expect(valuesOf("tsweb/jsx-dev-runtime")).toEqual(names);
  });

  it("is stubs and the page script, which run in a page", () => {
    expect(writtenValuesOf("tsweb/stub")).toEqual(["stream", "stub"]);
    expect(writtenValuesOf("tsweb/islands")).toEqual([]);
  });

  it("is the compile step of Node, which is there to be imported and has no names", () => {
    expect(valuesOf("tsweb/register")).toEqual([]);
  });
});
