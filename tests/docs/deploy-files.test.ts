/** The files of `deploy/`: docs/production.md shows them, and their own programs accept them. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { afterAll, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createCertificate } from "#test/certificate";
import { repository } from "#test/copy-example";
import { deployFile, nginxMainLines } from "#test/deploy-files";
import { PROGRAM_ENVIRONMENT } from "#test/program-process";
import { TemporaryFolder } from "#test/temporary-folder";
import { productionProblems } from "../../src/cli/check.ts";

interface EnvironmentVariable {
  readonly name: string;
  readonly value: string;
}

const folder = new TemporaryFolder("deploy");
afterAll(() => folder.remove());

/** Writes a file into the temporary folder. @returns its path */
function write(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

function run(program: string, args: readonly string[]) {
  const env = { ...PROGRAM_ENVIRONMENT, HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path };
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", env });
  if (error) throw error;
  return { status, output: stdout + stderr };
}

it.each(readdirSync(join(repository, "deploy")))("deploy/%s is what docs/production.md shows", (name) => {
  expect(readFileSync(join(repository, "docs/production.md"), "utf8")).toContain(`\n${deployFile(name)}\`\`\`\n`);
});

/** Returns a configuration of nginx with the recipe, which needs no port and has its certificate in the folder. */
function nginxConfiguration(site: string): string {
  const { certificateFile, keyFile } = createCertificate(folder.path);
  const changed = site
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificateFile};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${keyFile};`)
    .replace(/listen (\S+?)(;| ssl)/g, (_, address: string, rest: string) => {
      return `listen unix:${join(folder.path, address.replace(/\W/g, "_"))}.sock${rest}`;
    });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const paths = temporary.map((name) => `${name}_temp_path ${join(folder.path, name)};`).join("\n");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `${user}\npid ${join(folder.path, "pid")};\n${nginxMainLines()}\nhttp {\naccess_log off;\n${paths}\n${changed}}\n`;
}

it("nginx accepts deploy/nginx.conf", () => {
  const check = (site: string) => {
    const file = write("nginx.conf", nginxConfiguration(site));
    return run("nginx", ["-t", "-p", folder.path, "-e", join(folder.path, "error.log"), "-c", file]);
  };
  const { status, output } = check(deployFile("nginx.conf"));
  expect([status, output]).toEqual([0, expect.not.stringContaining("[warn]")]); // such as too few open files for the connections
  expect(check(deployFile("nginx.conf").replace("keepalive 256", "keepalives 256")).status).toBe(1);
});

it("Caddy accepts deploy/Caddyfile", () => {
  const check = (text: string) =>
    run("caddy", ["validate", "--adapter", "caddyfile", "--config", write("Caddyfile", text)]);
  expect(check(deployFile("Caddyfile"))).toMatchObject({ status: 0 });
  expect(check(deployFile("Caddyfile").replace("health_uri", "health_url")).status).toBe(1);
});

it("Dockerfile has no errors and no warnings", () => {
  expect(validate(deployFile("Dockerfile"))).toEqual([]);
  expect(validate(deployFile("Dockerfile").replace("USER", "USERS"))).toHaveLength(1);
});

/** The seconds for which a process with these environment variables may take to stop. */
const stopSeconds = ({ WEB_DRAIN_SECONDS = "2", WEB_STOP_SECONDS = "30" }: Readonly<Record<string, string>>) =>
  Number(WEB_DRAIN_SECONDS) + Number(WEB_STOP_SECONDS);

it("compose.yaml leaves processes the time to stop, and Caddy knows their names and ports", () => {
  const { services } = parse(deployFile("compose.yaml"), { merge: true });
  const apps = Object.keys(services).filter((name) => services[name].build === ".");
  const upstreams = apps.map((name) => `${name}:3000`).join(" ");
  expect([apps.length, services.caddy.environment.UPSTREAMS]).toEqual([2, upstreams]);
  const port = String(deployFile("Dockerfile").match(/^EXPOSE (\d+)$/m)?.[1]);
  expect(upstreams).toContain(`:${port} `);
  for (const name of apps) {
    const { environment, stop_grace_period, read_only } = services[name];
    expect(parseInt(stop_grace_period, 10)).toBeGreaterThan(stopSeconds(environment) + 5);
    expect([read_only, environment.WEB_BUS_URL]).toEqual([true, "redis://redis:6379"]);
    const values = { ...environment, WEB_AUTH_SECRET: randomBytes(32).toString("hex") };
    expect(productionProblems(values)).toEqual([]);
  }
});

it("kubernetes.yaml leaves pods the time to stop, and has the port and the user of the image", () => {
  const [deployment, service] = parseAllDocuments(deployFile("kubernetes.yaml")).map((document) => document.toJS());
  const { metadata, spec } = deployment.spec.template;
  const [container] = spec.containers;
  const environment = Object.fromEntries(container.env.map(({ name, value }: EnvironmentVariable) => [name, value]));
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds(environment) + 5);
  expect(productionProblems({ ...environment, WEB_AUTH_SECRET: randomBytes(32).toString("hex") })).toEqual([]);
  expect(deployFile("Dockerfile")).toContain(`EXPOSE ${container.ports[0].containerPort}\n`);
  expect([deployment.spec.selector.matchLabels, service.spec.selector]).toEqual([metadata.labels, metadata.labels]);
  expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
  // Kubernetes compares the user of the image, which has to be a number for that.
  expect([spec.securityContext.runAsNonRoot, /^USER [1-9]\d*$/m.test(deployFile("Dockerfile"))]).toEqual([true, true]);
  // A pod is taken out of service before it is closed: within the drain, a probe has to fail.
  const { periodSeconds, failureThreshold = 3 } = container.readinessProbe;
  expect(periodSeconds * failureThreshold).toBeLessThan(Number(environment.WEB_DRAIN_SECONDS));
});

it("systemd accepts deploy/shop@.service", () => {
  const check = (text: string) => {
    write("shop@.service", text.replace("/usr/bin/node", process.execPath));
    return run("systemd-analyze", ["verify", "--man=no", join(folder.path, "shop@3001.service")]).output;
  };
  // Its status does not depend on warnings, such as one about an unknown setting.
  const ofUnit = (output: string) => output.split("\n").filter((line) => line.includes(folder.path));
  expect(ofUnit(check(deployFile("shop@.service")))).toEqual([]);
  const broken = check(deployFile("shop@.service").replace("TimeoutStopSec", "TimeoutStopSecs"));
  expect(ofUnit(broken).join()).toMatch(/Unknown key (name )?'TimeoutStopSecs'/);
});
