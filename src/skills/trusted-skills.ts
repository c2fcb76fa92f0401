// Which folders of skills a person trusted, by the hash of their content: one line of JSON each, only ever added to.
import { appendFileSync, readFileSync } from "node:fs";

export class TrustedSkills {
  readonly #file: string;

  /** @param file in the state directory; made when the first yes is kept */
  constructor(file: string) {
    this.#file = file;
  }

  has(hash: string): boolean {
    return this.#lines().some((line) => line.startsWith(`{"hash":"${hash}"`));
  }

  /** @throws what writing throws */
  add(hash: string, { name, path }: { name: string; path: string }): void {
    if (!this.has(hash)) appendFileSync(this.#file, `${JSON.stringify({ hash, name, path })}\n`, { mode: 0o600 });
  }

  #lines(): string[] {
    try {
      return readFileSync(this.#file, "utf8").split("\n");
    } catch {
      // What can't be read trusts nothing.
      return [];
    }
  }
}
