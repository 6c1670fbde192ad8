/**
 * The public API, name by name. A name that is added or removed is a decision: it is written here and in CHANGELOG.md.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { App } from "../../src/app.ts";
import { internalsOf } from "../../src/server/index.ts";
import {
  classMembers,
  declarationFiles,
  declaredValues,
  entryPoints,
  exportedTypes,
  exportedValues,
} from "./package-exports.ts";

describe("the package", () => {
  it("has exactly the listed entry points", () => {
    expect(entryPoints).toEqual([
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
      "tsweb/forms",
      "tsweb/styles",
      "tsweb/selects",
      "tsweb/islands",
      "tsweb/package.json",
    ]);
  });

  it("has no declarations of modules that were removed from src/", () => {
    const declarations = readdirSync(join(repository, "dist"), { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".d.ts") && !name.startsWith(".compile-cache"),
    );
    const hasSource = (name: string) =>
      [".ts", ".tsx", ".d.ts"].some((extension) =>
        existsSync(join(repository, "src", name.replace(".d.ts", extension))),
      );
    expect(declarations).toContain("app.d.ts");
    expect(declarations.filter((name) => !hasSource(name))).toEqual([]);
  });

  it("has no built file with a path of the machine that has built it", () => {
    const dist = join(repository, "dist");
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter(
      (name) => /\.m?js$/.test(name) && !name.startsWith(".compile-cache"),
    );
    expect(files).toContain(join("cli", "dev", "child.js"));
    expect(files.filter((name) => readFileSync(join(dist, name), "utf8").includes(repository))).toEqual([]);
  });
});

describe("tsweb", () => {
  it("exports exactly the listed names for pages and server functions", () => {
    expect(exportedValues("tsweb")).toEqual([
      "App",
      "Body",
      "ConfigError",
      "GapError",
      "Head",
      "Html",
      "Later",
      "NotFound",
      "RPCError",
      "SerializeError",
      "ValueError",
      "channel",
      "form",
      "limit",
      "listen",
      "once",
      "page",
      "presence",
      "project_path",
      "publish",
      "query",
      "realtime",
      "redirect",
      "request",
      "revalidate",
      "route",
      "send_file",
      "server",
      "session",
      "who",
    ]);
    expect(exportedTypes("tsweb")).toEqual([
      "AppOptions",
      "AppRate",
      "Authenticate",
      "BearerUser",
      "Before",
      "BeforeInput",
      "BeforeResult",
      "Bus",
      "Call",
      "CallOptions",
      "ChannelMessage",
      "ChannelOptions",
      "Channels",
      "Claims",
      "Config",
      "ConfigProblem",
      "ErrorCode",
      "ErrorDetails",
      "ErrorKind",
      "ErrorPage",
      "ErrorPageProps",
      "FailedRequest",
      "Feed",
      "FormHandle",
      "FormOptions",
      "FunctionRate",
      "Json",
      "Layout",
      "LayoutResult",
      "Limit",
      "LimitOptions",
      "LimitState",
      "ListenOptions",
      "LiveHandle",
      "LiveMessages",
      "Logger",
      "Markup",
      "OnError",
      "Page",
      "PageCacheOptions",
      "PageFunction",
      "PageOptions",
      "PageResult",
      "Person",
      "Presence",
      "PresenceOptions",
      "PublishedMessage",
      "Query",
      "QueryOptions",
      "Realtime",
      "Redirect",
      "RedirectOptions",
      "RequestInfo",
      "RevokedUser",
      "Role",
      "Route",
      "RouteFunction",
      "RouteOptions",
      "RoutePattern",
      "RouteResult",
      "SendFileOptions",
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
  // A name that is missing on one side would fail only on that side, when the first page is requested.
  it.each(["browser", "default"])("exports the functions for views under the condition %s", (condition) => {
    expect(exportedValues("tsweb/browser", condition)).toEqual([
      "RPCError",
      "form",
      "live",
      "no_wait",
      "on_mount",
      "on_progress",
      "on_unmount",
      "optimistic",
      "present",
      "state",
      "subscribe",
      "view",
    ]);
  });

  it("exports the types of views", () => {
    expect(exportedTypes("tsweb/browser")).toEqual([
      "Call",
      "ChannelMessage",
      "Channels",
      "ComponentChildren",
      "Draft",
      "ErrorCode",
      "Feed",
      "FormHandle",
      "FormOptions",
      "FormOutcome",
      "FunctionComponent",
      "GapReason",
      "JSX",
      "Live",
      "LiveHandle",
      "Markup",
      "People",
      "Person",
      "Presence",
      "RefObject",
      "Serialized",
      "Stream",
      "SubscribeOptions",
      "TargetedEvent",
      "View",
      "ViewFormHandle",
      "ViewFormOptions",
      "ViewOptions",
      "ViewProps",
    ]);
  });
});

describe("tsweb/auth", () => {
  it("exports passwords, one-time codes, magic links, passkeys and OpenID Connect profiles", () => {
    expect(exportedValues("tsweb/auth")).toEqual([
      "cose_to_raw_point",
      "hash_password",
      "hash_token",
      "issue_magic_token",
      "oidc_userinfo",
      "totp",
      "verify_magic_token",
      "verify_password",
      "verify_totp",
      "verify_webauthn_assertion",
    ]);
    expect(exportedTypes("tsweb/auth")).toEqual([
      "Assertion",
      "AssertionOptions",
      "MagicOptions",
      "TotpOptions",
      "Userinfo",
    ]);
  });
});

describe("tsweb/node", () => {
  it("exports the adapter for Node", () => {
    expect(exportedValues("tsweb/node")).toEqual(["listenOn", "node", "serve", "stoppable"]);
    expect(exportedTypes("tsweb/node")).toEqual(["Listening", "NodeHandler", "Stopped"]);
  });
});

describe("tsweb/redis and tsweb/nats", () => {
  it("export one bus each", () => {
    expect(exportedValues("tsweb/redis")).toEqual(["redis"]);
    expect(exportedTypes("tsweb/redis")).toEqual(["RedisOptions"]);
    expect(exportedValues("tsweb/nats")).toEqual(["nats"]);
    expect(exportedTypes("tsweb/nats")).toEqual(["NatsOptions"]);
  });
});

describe("tsweb/client", () => {
  it("exports the client", () => {
    expect(exportedValues("tsweb/client")).toEqual(["RPCError", "client"]);
    expect(exportedTypes("tsweb/client")).toEqual([
      "BearerSource",
      "Call",
      "Client",
      "ClientOptions",
      "ErrorCode",
      "Fetch",
      "Serialized",
      "Stream",
    ]);
  });
});

describe("tsweb/testing", () => {
  it("exports simulated users", () => {
    expect(exportedValues("tsweb/testing")).toEqual(["RPCError", "visitor"]);
    expect(exportedTypes("tsweb/testing")).toEqual([
      "BearerSource",
      "Call",
      "Client",
      "ErrorCode",
      "Feed",
      "GetOptions",
      "Serialized",
      "Stream",
      "Visit",
      "Visitor",
      "VisitorOptions",
    ]);
  });
});

describe("tsweb/vite", () => {
  it("exports the compile step", () => {
    expect(exportedValues("tsweb/vite")).toEqual(["CompileError", "compileServerModule", "registryOf", "tsweb"]);
    expect(exportedTypes("tsweb/vite")).toEqual([
      "BuildRegistry",
      "CompileOptions",
      "Compiled",
      "SourceLocation",
      "StubUse",
    ]);
  });
});

describe("the entry points that compiled code imports", () => {
  it("export the JSX runtime", () => {
    expect(exportedValues("tsweb/jsx-runtime", "browser")).toEqual(["Fragment", "jsx", "jsxs"]);
    expect(exportedValues("tsweb/jsx-runtime")).toEqual(["Fragment", "jsx", "jsxs", "template", "waited"]);
    expect(exportedTypes("tsweb/jsx-runtime")).toEqual(["JSX"]);
  });

  it("export Preact's JSX runtime for development, unchanged", () => {
    const names = ["Fragment", "jsx", "jsxAttr", "jsxDEV", "jsxEscape", "jsxTemplate", "jsxs"];
    expect(exportedValues("tsweb/jsx-dev-runtime")).toEqual(names);
  });

  it("export stubs, and the scripts of pages, forms, styles and selects without names", () => {
    expect(declaredValues("tsweb/stub")).toEqual(["idempotent", "link", "stream", "stub", "upload"]);
    expect(declaredValues("tsweb/islands")).toEqual(["startView"]);
    expect(declaredValues("tsweb/forms")).toEqual([]);
    expect(declaredValues("tsweb/styles")).toEqual([]);
    expect(declaredValues("tsweb/selects")).toEqual([]);
  });

  it("export the compile step of Node without names", () => {
    expect(exportedValues("tsweb/register")).toEqual([]);
  });
});

describe("the type of App", () => {
  it("has exactly the listed public members", () => {
    expect(classMembers("tsweb", "App")).toEqual([
      "base",
      "close",
      "config",
      "drain",
      "fetch",
      "functions",
      "limit",
      "pages",
      "publish",
      "revoke",
      "start",
    ]);
  });

  it("has none of the members that adapters, the CLI and tests use internally", () => {
    const app = new App({ modules: [], env: { WEB_AUTH_SECRET: "5a".repeat(32) } });
    const internals = Object.keys(internalsOf(app) ?? {});
    expect(internals).toContain("handle");
    expect(classMembers("tsweb", "App").filter((name) => internals.includes(name))).toEqual([]);
    const [declaration = ""] = declarationFiles("app.d.ts");
    expect(declaration).toContain("export declare class App");
    expect(declaration).not.toMatch(/@internal|Symbol|AppInternals|Inspection|Development/);
  });
});
