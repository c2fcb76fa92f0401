// The licence texts of everything that ends up in an executable: the packages that the bundler really took code from,
// the native library, and what those two don't carry a text for (build/licenses/).
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ownTexts = join(import.meta.dir, "licenses");
const licenseFile = /^(un)?licen[cs]e|^copying|^notice/i;

/**
 * @param rootDir the folder that the bundler's input paths are relative to
 * @param libraryDir folder of the package with the llama library
 * @throws Error when a package names no licence at all
 */
export function collectLicenses(metafile: Bun.BuildMetafile, rootDir: string, libraryDir: string): string {
  const packageDirs = new Set([libraryDir]);
  for (const output of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const packageDir = bytesInOutput > 0 ? packageDirOf(resolve(rootDir, input)) : undefined;
      if (packageDir !== undefined) packageDirs.add(packageDir);
    }
  }
  const own = readdirSync(ownTexts)
    .toSorted()
    .map((name) => readFileSync(join(ownTexts, name), "utf8"));
  const packages = [...packageDirs].map(licenseOf).toSorted();
  return [...new Set([...packages, ...own])].map((text) => text.trim()).join(`\n\n${"-".repeat(80)}\n\n`) + "\n";
}

function packageDirOf(path: string): string | undefined {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0];
}

function licenseOf(packageDir: string): string {
  const description = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as PackageDescription;
  const texts = readdirSync(packageDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && licenseFile.test(entry.name))
    .map((entry) => entry.name)
    .toSorted()
    .map((name) => readFileSync(join(packageDir, name), "utf8"));
  if (texts.length === 0 && description.license === undefined) throw new Error(`${packageDir} names no licence; leave the package out or add its text to ${ownTexts}`);
  const author = typeof description.author === "string" ? description.author : description.author?.name;
  const heading = `${description.name} ${description.version} (${description.license ?? "licence below"}${author === undefined ? "" : `, ${author}`})`;
  return [heading, ...texts].join("\n\n");
}

interface PackageDescription {
  name: string;
  version: string;
  license?: string;
  author?: string | { name?: string };
}
