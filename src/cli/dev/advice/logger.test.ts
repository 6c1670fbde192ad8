import { createLogger, type Plugin } from "vite";
import { afterEach, expect, it, vi } from "vitest";
import { ErrorLog } from "../../errors/index.ts";
import { logViteErrors } from "./error-messages.ts";

afterEach(() => vi.unstubAllEnvs());

it.each([
  ["1", "Could not resolve 'x'"],
  ["", "\u001b[31mCould not resolve\u001b[0m 'x'"],
])("prints the errors of Vite itself with the colours that NO_COLOR=%s allows", (noColor, expected) => {
  vi.stubEnv("NO_COLOR", noColor);
  const printed: string[] = [];
  const customLogger = { ...createLogger("silent"), error: (text: string) => void printed.push(text) };
  const { config }: Plugin = logViteErrors({
    errors: new ErrorLog("/app", () => undefined),
    reload: async () => undefined,
  });
  if (typeof config !== "function") throw new Error("The plugin has no config hook.");
  const changed: unknown = Reflect.apply(config, undefined, [
    { customLogger },
    { command: "serve", mode: "development" },
  ]);
  const { customLogger: logger } = changed as { customLogger: typeof customLogger }; // what the hook returns
  logger.error("\u001b[31mCould not resolve\u001b[0m 'x'");
  expect(printed).toEqual([expected]);
});
