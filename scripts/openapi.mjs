// Installs the packages of scripts/openapi, which the tests of OpenAPI documents run: linters and a client generator.
import { join } from "node:path";
import { installPackages, requireNode, root } from "./setup.mjs";

requireNode();
installPackages(join(root, "scripts", "openapi"));
