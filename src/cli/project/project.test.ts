import { expect, it } from "vitest";
import { findEntry, requireUsablePath } from "./project.ts";

it.each([
  [
    "/home/ada/c#/shop",
    'The path /home/ada/c#/shop contains "#". Vite cannot load modules from such a folder. Rename it',
  ],
  ["/home/ada/what?", 'contains "?"'],
  [
    "/home/ada/node_modules",
    "contains a folder node_modules, whose files are treated as those of installed packages. Move",
  ],
  ["/home/ada/node_modules/shop", "contains a folder node_modules"],
  ["C:\\ada\\node_modules\\shop", "contains a folder node_modules"],
])("an application cannot be in %s", (folder, message) => {
  expect(() => requireUsablePath(folder)).toThrow(message);
});

it.each([
  "/home/ada/shop",
  "/home/ada/My Shop (50%) [x] 'a' \"b\" $1 é*",
  "/home/ada/my_node_modules/shop",
  "C:\\ada\\shop",
])("an application can be in %s", (folder) => {
  expect(() => requireUsablePath(folder)).not.toThrow();
});

it("the application module of such a folder is not searched", () => {
  expect(() => findEntry("/home/ada/c#/shop")).toThrow('contains "#"');
});
