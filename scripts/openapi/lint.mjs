// Lints OpenAPI documents with the recommended rules of Redocly and Spectral. Reads a JSON object of documents by their
// names from stdin, and prints the problems as JSON.

import { json } from "node:stream/consumers";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectralCore from "@stoplight/spectral-core";
import spectralRulesets from "@stoplight/spectral-rulesets";

const redocly = await createConfig({ extends: ["recommended"] });
const spectral = new spectralCore.Spectral();
spectral.setRuleset({ extends: [[spectralRulesets.oas, "recommended"]] });
const SEVERITIES = ["error", "warning", "information", "hint"];

const problems = [];
for (const [name, document] of Object.entries(await json(process.stdin))) {
  const source = JSON.stringify(document);
  for (const { severity, ruleId, message, location } of await lintFromString({ source, config: redocly })) {
    problems.push({
      name,
      severity: severity === "warn" ? "warning" : severity,
      rule: `redocly ${ruleId}`,
      message,
      path: location[0]?.pointer,
    });
  }
  for (const { severity, code, message, path } of await spectral.run(source)) {
    problems.push({
      name,
      severity: SEVERITIES[severity],
      rule: `spectral ${code}`,
      message,
      path: `#/${path.join("/")}`,
    });
  }
}
console.log(JSON.stringify(problems));
