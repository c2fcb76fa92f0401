// Waits for something that no event tells of, such as a file that another process writes.

/** Resolves as soon as the condition holds. @throws after 20 s, with what was waited for. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`waited in vain until ${what}`);
    await Bun.sleep(5);
  }
}
